#if canImport(CommonCrypto)
    internal import CommonCrypto
#else
    internal import COpenSSL
#endif

/// The SHA-1 of texts, one after another, that are never whole in memory.
///
/// Owns its context, which no other code uses. On Apple's platforms, which have no OpenSSL, it was never built or run.
@safe
struct DigestStream: ~Copyable {
    #if canImport(CommonCrypto)
        private var context = CC_SHA1_CTX()

        init() { start() }

        private mutating func start() { unsafe _ = CC_SHA1_Init(&context) }
    #else
        private let context: OpaquePointer

        init() {
            guard let context = unsafe EVP_MD_CTX_new() else {
                preconditionFailure("there is memory for a digest")
            }
            unsafe self.context = unsafe context
            start()
        }

        deinit { unsafe EVP_MD_CTX_free(context) }

        private func start() {
            let isReady = unsafe EVP_DigestInit_ex(context, EVP_sha1(), nil) == 1
            precondition(isReady, "OpenSSL has SHA-1")
        }
    #endif

    /// Adds a part of the text; on Apple's platforms of less than 4 GiB.
    mutating func append(_ bytes: Bytes) {
        #if canImport(CommonCrypto)
            unsafe _ = CC_SHA1_Update(&context, bytes.pointer.address, CC_LONG(bytes.count))
        #else
            let isTaken = unsafe EVP_DigestUpdate(context, bytes.pointer.address, bytes.count) == 1
            precondition(isTaken, "a digest takes any text")
        #endif
    }

    /// Ends the text and begins the next; the 28 base64 characters of its digest.
    mutating func finish() -> String {
        var digest: [UInt8] = Array(repeating: 0, count: 20)
        #if canImport(CommonCrypto)
            unsafe _ = CC_SHA1_Final(&digest, &context)
        #else
            let isDone = unsafe digest.withUnsafeMutableBufferPointer {
                unsafe EVP_DigestFinal_ex(context, $0.baseAddress, nil) == 1
            }
            precondition(isDone, "a digest ends")
        #endif
        start()
        return Base64.encode(digest, .standard, isPadded: true)
    }
}
