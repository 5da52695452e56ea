import COpenSSL
import JSONTree

/// Bytes to be stored, which are never whole in memory and can be read again: a request that fails is sent anew.
package struct ObjectSource {
    /// Fills a part of `buffer` from its start with the bytes at `offset`, and returns how many; 0 at the end.
    package typealias Reader = (
        _ offset: Int64, _ buffer: UnsafeMutableRawBufferPointer
    ) throws -> Int

    package let byteCount: Int64
    private let start: Int64
    private let read: Reader

    /// Makes a source of `byteCount` bytes, which must not change while it is used.
    package init(byteCount: Int64, read: @escaping Reader) {
        self.init(start: 0, byteCount: byteCount, read: read)
    }

    private init(start: Int64, byteCount: Int64, read: @escaping Reader) {
        self.start = start
        self.byteCount = byteCount
        self.read = read
    }

    /// Bytes that are in memory.
    package static func bytes(_ bytes: [UInt8]) -> ObjectSource {
        ObjectSource(byteCount: Int64(bytes.count)) { offset, buffer in
            let part = bytes[Int(offset)...].prefix(buffer.count)
            buffer.copyBytes(from: part)
            return part.count
        }
    }

    /// A part of it.
    func part(_ range: Range<Int64>) -> ObjectSource {
        precondition(range.upperBound <= byteCount, "a part is within its source")
        return ObjectSource(
            start: start + range.lowerBound,
            byteCount: range.upperBound - range.lowerBound,
            read: read
        )
    }

    /// Reads it once, from its start.
    ///
    /// The function it gives fills a part of a buffer and returns how many bytes; it throws `StoreFault`.
    func stream() -> (UnsafeMutableRawBufferPointer) throws -> Int {
        var offset: Int64 = 0
        return { buffer throws(StoreFault) in
            let left = byteCount - offset
            guard left > 0 else { return 0 }
            let rest = UnsafeMutableRawBufferPointer(
                rebasing: buffer.prefix(Int(min(left, Int64(buffer.count))))
            )
            let count = try fill(rest, at: offset)
            offset += Int64(count)
            return count
        }
    }

    /// The SHA-256 of all of it, as 64 hexadecimal digits.
    func digest() throws(StoreFault) -> String {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1
        else { preconditionFailure("OpenSSL has SHA-256") }
        defer { EVP_MD_CTX_free(context) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(min(byteCount, Int64(ObjectStoreLimits.pieceByteCount))),
            alignment: 16
        )
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while offset < byteCount {
            let left = Int(min(byteCount - offset, Int64(buffer.count)))
            let count = try fill(
                UnsafeMutableRawBufferPointer(rebasing: buffer[..<left]),
                at: offset
            )
            let isTaken = EVP_DigestUpdate(context, buffer.baseAddress, count) == 1
            precondition(isTaken, "a digest takes any bytes")
            offset += Int64(count)
        }
        var digest = [UInt8](repeating: 0, count: 32)
        precondition(EVP_DigestFinal_ex(context, &digest, nil) == 1, "a digest ends")
        return Hexadecimal.encode(digest)
    }

    /// One byte or more.
    private func fill(
        _ buffer: UnsafeMutableRawBufferPointer,
        at offset: Int64
    ) throws(StoreFault) -> Int {
        let count: Int
        do { count = try read(start + offset, buffer) } catch {
            throw StoreFault(.source("\(error)"))
        }
        guard count > 0 else { throw StoreFault(.sourceEnded) }
        return count
    }
}
