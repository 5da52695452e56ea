import CZlib

/// Makes one gzip stream (RFC 1952) of bytes that come in parts. One thread at a time; 256 KiB of memory.
package final class Deflater {
    /// Some 100 MB/s; text of trees becomes a fifth to a tenth. Higher levels gain a few percent and take
    /// two to four times as long.
    private static let level: Int32 = 1

    // Owned from `init` to `deinit`, at one address: zlib requires it.
    private let stream: UnsafeMutablePointer<z_stream>

    /// Makes a deflater of a stream of nothing yet.
    package init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let code = hearth_deflate_init(stream, Deflater.level)
        precondition(code == Z_OK, "zlib has memory to begin with")
    }

    deinit {
        deflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Compresses the next part, and ends the stream behind the last one.
    ///
    /// Returns the next bytes of the stream: often none, until enough have gathered.
    package func deflate(_ part: [UInt8], isLast: Bool) -> [UInt8] {
        var part = part
        return part.withUnsafeMutableBufferPointer { input in
            stream.pointee.next_in = input.baseAddress
            stream.pointee.avail_in = UInt32(input.count)
            var out: [UInt8] = []
            var isMore = true
            while isMore {
                let byteCount = max(input.count / 4, 1024)
                out += [UInt8](unsafeUninitializedCapacity: byteCount) { room, count in
                    stream.pointee.next_out = room.baseAddress
                    stream.pointee.avail_out = UInt32(room.count)
                    let code = CZlib.deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                    precondition(code != Z_STREAM_ERROR, "a stream is not used beyond its end")
                    count = room.count - Int(stream.pointee.avail_out)
                }
                isMore = stream.pointee.avail_out == 0
            }
            return out
        }
    }

    /// A whole stream of `bytes`.
    package static func compress(_ bytes: [UInt8]) -> [UInt8] {
        Deflater().deflate(bytes, isLast: true)
    }
}
