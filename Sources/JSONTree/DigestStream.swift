internal import COpenSSL

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
        var text = Scratch()
        digest.withBytes { text.appendBase64($0) }
        return text.bytes(0, text.used).string
    }
}
