/// What one received frame led to.
package enum Assembled: Equatable, Sendable {
    /// The frame was a segment count or a segment; more frames are due.
    case incomplete
    /// The frame was the client's keep-alive `0`; it needs no answer.
    case keepAlive
    /// The frame completed this message.
    case message([UInt8])
}

/// Joins the text frames of one connection into messages.
///
/// A message travels as one bare frame, or as a frame holding only its segment count in ASCII
/// decimal followed by that many segments:
///
///     {"t":"c",...}                       one message
///     3 | {"t":"d", | "d":{"r":1, | ...}  one message in three segments
///     0                                   keep-alive, between messages only
///
/// Frames must be valid UTF-8 (the transport checks that). A JavaScript client may cut a message between the halves of
/// a surrogate pair; both halves then arrive as U+FFFD, which is data like any other. After an error the assembler is
/// empty again, but the stream is out of step: close it. Only behind a message that was too big and had a request
/// number is it in step: all of that message has been read.
package struct FrameAssembler: Sendable {
    /// The most bytes one message may have.
    package let byteLimit: Int

    /// Bytes beyond `byteLimit` that a message in segments may have and still be read to its end, without being kept.
    package let drainedByteCount: Int

    /// The segments of the message under way, joined. Empty between messages.
    private var joined: [UInt8] = []

    /// Segments announced for the message under way; 0 between messages.
    private var announcedCount = 0

    /// Segments received of the message under way. Less than `announcedCount`, or both are 0.
    private var receivedCount = 0

    /// What is known of the message under way once it is too big; `joined` is empty then.
    private var drained: MessageEnds?

    /// Creates an assembler that is between messages. Without `drainedByteCount` a message that is too big is an error
    /// at once.
    package init(byteLimit: Int, drainedByteCount: Int = 0) {
        precondition(byteLimit > 0, "a message has at least one byte")
        self.byteLimit = byteLimit
        self.drainedByteCount = drainedByteCount
    }

    /// Bytes held for a message that is not complete yet.
    package var heldByteCount: Int { joined.count }

    /// Takes the next frame.
    ///
    /// Memory follows the bytes received, never the count announced.
    package mutating func receive(_ frame: [UInt8]) throws(FrameError) -> Assembled {
        guard announcedCount == 0 else { return try receiveSegment(frame) }
        guard let first = frame.first else { throw .emptyFrame }
        guard Self.startsNumber(first) else {
            guard frame.count <= byteLimit else {
                throw .messageTooBig(byteCount: frame.count, limit: byteLimit)
            }
            return .message(frame)
        }
        if frame == [Self.zero] { return .keepAlive }
        guard let count = Self.segmentCount(frame) else {
            throw .malformedCount(byteCount: frame.count)
        }
        announcedCount = count
        return .incomplete
    }

    private mutating func receiveSegment(_ frame: [UInt8]) throws(FrameError) -> Assembled {
        guard !frame.isEmpty else {
            let fault = FrameError.emptySegment(index: receivedCount, count: announcedCount)
            reset()
            throw fault
        }
        receivedCount += 1
        guard drained == nil, joined.count + frame.count <= byteLimit else {
            try drain(frame)
            return .incomplete
        }
        joined.append(contentsOf: frame)
        guard receivedCount == announcedCount else { return .incomplete }
        let message = joined
        reset()
        return .message(message)
    }

    /// Takes a segment of a message that is too big. At its end, or where too much has come, it is an error.
    private mutating func drain(_ frame: [UInt8]) throws(FrameError) {
        var ends = drained ?? MessageEnds()
        if drained == nil { ends.append(joined) }
        ends.append(frame)
        let isTooMuch = ends.byteCount > byteLimit + drainedByteCount
        guard isTooMuch || receivedCount == announcedCount else {
            joined = []
            drained = ends
            return
        }
        reset()
        throw .messageTooBig(
            byteCount: ends.byteCount,
            limit: byteLimit,
            request: isTooMuch ? nil : ends.requestNumber
        )
    }

    private mutating func reset() {
        joined = []
        drained = nil
        announcedCount = 0
        receivedCount = 0
    }

    private static let zero = UInt8(ascii: "0")
    private static let nine = UInt8(ascii: "9")

    /// A message is a JSON object, so a frame that starts like a number can only be a count.
    private static func startsNumber(_ byte: UInt8) -> Bool {
        (zero...nine).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
    }

    /// The count that a frame of 1 to 6 digits without a leading zero announces, or nil.
    private static func segmentCount(_ frame: [UInt8]) -> Int? {
        guard frame.count <= WireLimits.receivedCountDigits, frame.first != zero else { return nil }
        var count = 0
        for byte in frame {
            guard (zero...nine).contains(byte) else { return nil }
            count = count * 10 + Int(byte - zero)
        }
        return count
    }
}
