/// Joins the pieces of one long-polling client into messages, in whichever order they arrive.
///
/// Early pieces wait, up to `WireLimits.earlyPieces`. Repeated pieces are skipped, since a browser may repeat a
/// request. Decodes bytes as they arrive, without a check for UTF-8. Do not use it after an error.
package struct PieceAssembler: Sendable {
    /// A message whose last piece has come.
    package enum Joined: Equatable, Sendable {
        /// All of it.
        case message([UInt8])
        /// A message over the limit, which was read to its end and not kept, with the number of its request.
        case tooBig(byteCount: Int, request: Int64)
    }

    /// The most bytes one message may have.
    package let byteLimit: Int

    /// Bytes beyond `byteLimit` that a message may have and still be read to its end, without being kept.
    package let drainedByteCount: Int

    /// The piece that is due.
    private var nextNumber = 0
    /// Pieces that wait for it, by their numbers.
    private var early: [Int: PollPiece] = [:]
    private var earlyByteCount = 0

    /// What the message under way has so far. Empty between messages.
    private var message: [UInt8] = []
    /// What is known of the message under way once it is too big; `message` is empty then.
    private var drained: MessageEnds?
    /// Pieces of it, and how many of them are due still; both 0 between messages.
    private var count = 0
    private var dueCount = 0
    /// Bits that are not yet a byte, and how many: fewer than 8.
    private var bits: UInt32 = 0
    private var bitCount = 0
    /// Whether padding has come: only padding may follow in the message.
    private var isPadded = false

    /// Creates an assembler that waits for piece 0. Without `drainedByteCount` a message that is too big is an error at
    /// once.
    package init(byteLimit: Int, drainedByteCount: Int = 0) {
        precondition(byteLimit > 0, "a message has at least one byte")
        self.byteLimit = byteLimit
        self.drainedByteCount = drainedByteCount
    }

    /// Bytes held for messages that are not complete yet.
    package var heldByteCount: Int { message.count + earlyByteCount }

    /// Takes a piece and appends the messages that it completes.
    ///
    /// Memory follows the received bytes, never the counts in the pieces.
    package mutating func receive(
        _ piece: PollPiece,
        into messages: inout [Joined]
    ) throws(PollError) {
        guard piece.number > nextNumber else {
            if piece.number < nextNumber { return }
            try join(piece, &messages)
            while let next = early.removeValue(forKey: nextNumber) {
                earlyByteCount -= next.text.count
                try join(next, &messages)
            }
            return
        }
        guard early[piece.number] == nil else { return }
        earlyByteCount += piece.text.count
        guard early.count < WireLimits.earlyPieces, earlyByteCount <= WireLimits.earlyPieceByteCount
        else { throw .tooFarAhead(number: nextNumber) }
        early[piece.number] = piece
    }

    /// Adds the piece that is due.
    private mutating func join(_ piece: PollPiece, _ messages: inout [Joined]) throws(PollError) {
        if dueCount == 0 {
            count = piece.count
            dueCount = count
        }
        guard piece.count == count else { throw .countDiffers(number: piece.number) }
        try decode(piece)
        if drained != nil || message.count > byteLimit { try drain() }
        nextNumber += 1
        dueCount -= 1
        guard dueCount == 0 else { return }
        // A single digit behind the last byte is not even one byte.
        guard bitCount < 6 else { throw .notBase64(number: piece.number) }
        messages.append(try joined())
        message = []
        drained = nil
        bits = 0
        bitCount = 0
        isPadded = false
    }

    /// Gives up what came of a message that is too big. Where too much has come, it is an error.
    private mutating func drain() throws(PollError) {
        var ends = drained ?? MessageEnds()
        ends.append(message)
        message = []
        guard ends.byteCount <= byteLimit + drainedByteCount else {
            throw .messageTooBig(byteCount: ends.byteCount, limit: byteLimit)
        }
        drained = ends
    }

    /// The message that has come whole; an error for one that is too big and shows no number of a request.
    private func joined() throws(PollError) -> Joined {
        guard let drained else { return .message(message) }
        guard let number = drained.requestNumber else {
            throw .messageTooBig(byteCount: drained.byteCount, limit: byteLimit)
        }
        return .tooBig(byteCount: drained.byteCount, request: number)
    }

    private mutating func decode(_ piece: PollPiece) throws(PollError) {
        message.reserveCapacity(message.count + piece.text.count * 3 / 4 + 1)
        for character in piece.text {
            if character == UInt8(ascii: ".") {
                isPadded = true
                continue
            }
            guard !isPadded, let digit = Self.digit(character) else {
                throw .notBase64(number: piece.number)
            }
            bits = bits << 6 | digit
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                message.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
            }
        }
    }

    private static func digit(_ character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
