import CZlib

/// Why a gzip stream is refused.
package enum GzipError: Error, Equatable, Sendable {
    /// The bytes are not gzip, or the checksum or length is wrong.
    case damaged
    /// The stream ended before its end.
    case truncated
    /// Something follows the stream.
    case trailingBytes
    /// More came out than the limit, in bytes.
    case tooLarge(limit: Int)
}

/// Inflates one gzip stream (RFC 1952) that arrives in parts.
///
/// Counts its output: a stream that inflates to more than its limit ends as soon as it passes it. Keeps zlib's 40 KiB
/// and the part being inflated. One thread at a time.
package final class Inflater {
    /// Bytes handed out at a time.
    package static let pieceByteCount = 64 * 1024

    // Owned from `init` to `deinit`, at one address: zlib requires it.
    private let stream: UnsafeMutablePointer<z_stream>
    private var input: [UInt8] = []
    private var inputStart = 0
    private let byteLimit: Int
    private var byteCount = 0
    private var isOver = false

    /// Makes an inflater of a stream that holds at most `byteLimit` bytes.
    package init(byteLimit: Int) {
        self.byteLimit = byteLimit
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let code = hearth_inflate_init(stream)
        precondition(code == Z_OK, "zlib has memory to begin with")
    }

    deinit {
        inflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Takes the next part; all of the one before must have been inflated.
    package func append(_ part: [UInt8]) {
        precondition(inputStart == input.count, "a part follows when the one before is used up")
        input = part
        inputStart = 0
    }

    /// The next bytes, at most `pieceByteCount`; nil when another part is needed.
    ///
    /// - Throws: `GzipError`; the inflater is of no use then.
    package func next() throws(GzipError) -> [UInt8]? {
        if isOver {
            if inputStart < input.count { throw .trailingBytes }
            return nil
        }
        var code = Z_OK
        let piece = [UInt8](unsafeUninitializedCapacity: Inflater.pieceByteCount) { room, count in
            code = inflate(into: room)
            count = room.count - Int(stream.pointee.avail_out)
        }
        switch code {
        case Z_STREAM_END: isOver = true
        case Z_OK, Z_BUF_ERROR: break
        default: throw .damaged
        }
        byteCount += piece.count
        if byteCount > byteLimit { throw .tooLarge(limit: byteLimit) }
        if isOver, inputStart < input.count { throw .trailingBytes }
        return piece.isEmpty ? nil : piece
    }

    /// Checks that the stream is complete.
    ///
    /// - Throws: `GzipError.truncated`.
    package func finish() throws(GzipError) {
        if !isOver { throw .truncated }
    }

    private func inflate(into room: UnsafeMutableBufferPointer<UInt8>) -> Int32 {
        input.withUnsafeMutableBufferPointer { input in
            stream.pointee.next_in = input.baseAddress.map { $0 + inputStart }
            stream.pointee.avail_in = UInt32(input.count - inputStart)
            stream.pointee.next_out = room.baseAddress
            stream.pointee.avail_out = UInt32(room.count)
            let code = CZlib.inflate(stream, Z_NO_FLUSH)
            inputStart = input.count - Int(stream.pointee.avail_in)
            return code
        }
    }
}
