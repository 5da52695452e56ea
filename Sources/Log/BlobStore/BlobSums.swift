import COpenSSL
package import FileRecords
import WriteAheadLog

/// The sums of all bytes of a file.
package struct BlobSums: Sendable, Equatable {
    package let hash: BlobHash
    /// 16 bytes.
    package let md5: [UInt8]
    package let crc32c: UInt32
    package let byteCount: Int64

    /// What a record keeps of them.
    package var content: FileContent {
        FileContent(blob: hash.hex, byteCount: byteCount, md5: md5, crc32c: crc32c)
    }
}

/// SHA-256, MD5, CRC-32C and count of bytes that come in parts.
final class RunningSums {
    private let sha256: DigestContext
    private let md5: DigestContext
    private var crc32c: UInt32 = 0
    private(set) var byteCount: Int64 = 0

    init() {
        sha256 = DigestContext(EVP_sha256())
        md5 = DigestContext(EVP_md5())
    }

    private init(copying other: RunningSums) {
        sha256 = other.sha256.copy()
        md5 = other.md5.copy()
        crc32c = other.crc32c
        byteCount = other.byteCount
    }

    /// The sums up to here, which go on by themselves.
    func copy() -> RunningSums { RunningSums(copying: self) }

    func append(_ bytes: UnsafeRawBufferPointer) {
        sha256.append(bytes)
        md5.append(bytes)
        crc32c = CRC32C.update(crc32c, bytes)
        byteCount += Int64(bytes.count)
    }

    /// The sums of all bytes so far; more may follow.
    var sums: BlobSums {
        BlobSums(
            hash: BlobHash(sha256.digest(byteCount: 32)),
            md5: md5.digest(byteCount: 16),
            crc32c: crc32c,
            byteCount: byteCount
        )
    }
}

/// A digest of OpenSSL that is being made. Owns its context.
final class DigestContext {
    private let context: OpaquePointer

    init(_ type: OpaquePointer?) {
        context = Self.make()
        let isReady = EVP_DigestInit_ex(context, type, nil) == 1
        precondition(isReady, "OpenSSL has the digest")
    }

    private init(copying other: DigestContext) {
        context = Self.make()
        let isCopied = EVP_MD_CTX_copy_ex(context, other.context) == 1
        precondition(isCopied, "there is memory for a digest")
    }

    deinit { EVP_MD_CTX_free(context) }

    private static func make() -> OpaquePointer {
        guard let context = EVP_MD_CTX_new() else {
            preconditionFailure("there is memory for a digest")
        }
        return context
    }

    func copy() -> DigestContext { DigestContext(copying: self) }

    func append(_ bytes: UnsafeRawBufferPointer) {
        let isTaken = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
        precondition(isTaken, "a digest takes any bytes")
    }

    /// The digest of all bytes so far; more may follow.
    func digest(byteCount: Int) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        let isDone = withExtendedLifetime(copy()) {
            EVP_DigestFinal_ex($0.context, &digest, nil) == 1
        }
        precondition(isDone, "a digest ends")
        return digest
    }
}
