#if canImport(CommonCrypto)
    internal import CommonCrypto
#else
    internal import COpenSSL
#endif

#if canImport(CommonCrypto)
    /// The SHA-1 of one text after another, none of which is ever whole in memory.
    ///
    /// This half, for Apple's platforms, which have no OpenSSL, was never built or run.
    @safe
    struct DigestStream: ~Copyable {
        private var context = CC_SHA1_CTX()

        /// Makes a stream that is ready for a text.
        init() { start() }

        /// Begins a text, whatever came before.
        private mutating func start() { unsafe _ = CC_SHA1_Init(&context) }

        /// Adds a part of the text, of less than 4 GiB.
        mutating func append(_ bytes: Bytes) {
            unsafe _ = CC_SHA1_Update(&context, bytes.place.pointer, CC_LONG(bytes.count))
        }

        /// Ends the text and begins the next; the 28 base64 characters of its digest.
        mutating func finish() -> String {
            var digest: [UInt8] = Array(repeating: 0, count: 20)
            unsafe _ = CC_SHA1_Final(&digest, &context)
            start()
            return digest.base64Text
        }
    }
#else
    /// The SHA-1 of one text after another, none of which is ever whole in memory.
    ///
    /// Owns its OpenSSL context, which no one else sees.
    @safe
    struct DigestStream: ~Copyable {
        private let context: OpaquePointer

        /// Makes a stream that is ready for a text.
        init() {
            guard let context = unsafe EVP_MD_CTX_new() else {
                preconditionFailure("there is memory for a digest")
            }
            unsafe self.context = unsafe context
            start()
        }

        deinit { unsafe EVP_MD_CTX_free(context) }

        /// Begins a text, whatever came before.
        private func start() {
            let isReady = unsafe EVP_DigestInit_ex(context, EVP_sha1(), nil) == 1
            precondition(isReady, "OpenSSL has SHA-1")
        }

        /// Adds a part of the text.
        mutating func append(_ bytes: Bytes) {
            let isTaken = unsafe EVP_DigestUpdate(context, bytes.place.pointer, bytes.count) == 1
            precondition(isTaken, "a digest takes any text")
        }

        /// Ends the text and begins the next; the 28 base64 characters of its digest.
        mutating func finish() -> String {
            var digest: [UInt8] = Array(repeating: 0, count: 20)
            let isDone = unsafe digest.withUnsafeMutableBufferPointer {
                unsafe EVP_DigestFinal_ex(context, $0.baseAddress, nil) == 1
            }
            precondition(isDone, "a digest ends")
            start()
            return digest.base64Text
        }
    }
#endif

extension [UInt8] {
    /// The bytes in base64.
    fileprivate var base64Text: String {
        var text = Scratch()
        withBytes { text.appendBase64($0) }
        return text.bytes(0, text.used).string
    }
}
