/// Decodes a chunked body (RFC 9112, section 7.1) however it is cut into pieces.
///
///     size-in-hex CR LF  data CR LF  ...  0 CR LF  [trailer CR LF]...  CR LF
///
/// Extensions (`5;name=value`) are refused: no client needs them, and readers disagree on where they end. Trailers are
/// dropped.
package struct ChunkedBodyDecoder {
    private enum State {
        case size(digitCount: Int)
        case sizeLineFeed
        case data
        case dataReturn
        case dataLineFeed
        case trailer(isLineEmpty: Bool)
        case trailerLineFeed(isLineEmpty: Bool)
        case done
    }

    /// Bytes of all trailers of a body; more is refused.
    static let trailerByteLimit = 8 * 1024

    private var state = State.size(digitCount: 0)
    /// Size of the current chunk, and how much of it is still missing.
    private var chunkByteCount = 0
    private var trailerByteCount = 0
    /// Decoded bytes so far.
    private var bodyByteCount = 0

    /// Whether the body has ended.
    package var isDone: Bool {
        if case .done = state { true } else { false }
    }

    /// Begins before the first chunk.
    package init() {}

    /// Decodes from `bytes`, appending data to `body`, until the body or the input ends.
    ///
    /// - Returns: the number of bytes consumed.
    /// - Throws: `RequestFault.badChunk`, or `.bodyTooLarge` as soon as a size passes `limit`.
    package mutating func decode(
        _ bytes: UnsafeBufferPointer<UInt8>,
        into body: inout [UInt8],
        limit: Int
    ) throws(RequestFault) -> Int {
        var index = 0
        while index < bytes.count, !isDone {
            if case .data = state {
                let count = min(chunkByteCount, bytes.count - index)
                body.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[index..<index + count]))
                index += count
                chunkByteCount -= count
                if chunkByteCount == 0 { state = .dataReturn }
                continue
            }
            try step(bytes[index], limit: limit)
            index += 1
        }
        return index
    }

    private mutating func step(_ byte: UInt8, limit: Int) throws(RequestFault) {
        switch state {
        case .size(let digitCount):
            try readSize(byte, digitCount: digitCount, limit: limit)
        case .sizeLineFeed:
            guard byte == 0x0a else { throw .badChunk }
            state = chunkByteCount == 0 ? .trailer(isLineEmpty: true) : .data
        case .dataReturn:
            guard byte == 0x0d else { throw .badChunk }
            state = .dataLineFeed
        case .dataLineFeed:
            guard byte == 0x0a else { throw .badChunk }
            state = .size(digitCount: 0)
        case .trailer(let isLineEmpty):
            try countTrailer(byte)
            state =
                byte == 0x0d
                ? .trailerLineFeed(isLineEmpty: isLineEmpty) : .trailer(isLineEmpty: false)
        case .trailerLineFeed(let isLineEmpty):
            guard byte == 0x0a else { throw .badChunk }
            state = isLineEmpty ? .done : .trailer(isLineEmpty: true)
        case .data, .done:
            preconditionFailure("data and the end are not read byte by byte")
        }
    }

    private mutating func readSize(
        _ byte: UInt8,
        digitCount: Int,
        limit: Int
    ) throws(RequestFault) {
        if let digit = hexValue(byte) {
            // 15 hex digits always fit an Int.
            guard digitCount < 15 else { throw .badChunk }
            chunkByteCount = (digitCount == 0 ? 0 : chunkByteCount) << 4 | Int(digit)
            state = .size(digitCount: digitCount + 1)
            return
        }
        guard digitCount > 0, byte == 0x0d else { throw .badChunk }
        guard bodyByteCount + chunkByteCount <= limit else { throw .bodyTooLarge(limit: limit) }
        state = .sizeLineFeed
        bodyByteCount += chunkByteCount
    }

    private mutating func countTrailer(_ byte: UInt8) throws(RequestFault) {
        trailerByteCount += 1
        guard trailerByteCount <= Self.trailerByteLimit, byte != 0x0a, byte != 0 else {
            throw .badChunk
        }
    }
}
