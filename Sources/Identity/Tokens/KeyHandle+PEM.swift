import COpenSSL

/// Keys as PEM text (RFC 7468).
extension KeyHandle {
    /// Which half of a key a text has.
    enum Half {
        /// `BEGIN PRIVATE KEY`, both halves.
        case privateKey
        /// `BEGIN PUBLIC KEY`.
        case publicKey
    }

    /// The first such key of a PEM text, and its use; nil when there is none that Hearth accepts.
    static func reading(pem: [UInt8], _ half: Half) -> (Algorithm, KeyHandle)? {
        guard !pem.isEmpty, pem.count <= TokenLimits.pemByteCount else { return nil }
        defer { ERR_clear_error() }
        guard let source = unsafe BIO_new(BIO_s_mem()) else { return nil }
        defer { unsafe BIO_free(source) }
        guard unsafe BIO_write(source, pem, Int32(pem.count)) == Int32(pem.count) else {
            return nil
        }
        // The passphrase is the empty text: without one OpenSSL would prompt at the terminal.
        var passphrase: CChar = 0
        let key =
            half == .privateKey
            ? unsafe PEM_read_bio_PrivateKey(source, nil, nil, &passphrase)
            : unsafe PEM_read_bio_PUBKEY(source, nil, nil, &passphrase)
        guard let key = unsafe key else { return nil }
        let handle = unsafe KeyHandle(owning: key)
        return handle.algorithm.map { ($0, handle) }
    }

    /// The text of the key; nil when OpenSSL refuses (no private half, no memory).
    func pem(_ half: Half) -> [UInt8]? {
        guard let sink = unsafe BIO_new(BIO_s_mem()) else { return nil }
        defer { unsafe BIO_free(sink) }
        guard unsafe write(half, to: sink) else { return nil }
        var text = [UInt8](repeating: 0, count: unsafe BIO_ctrl_pending(sink))
        let count = unsafe BIO_read(sink, &text, Int32(text.count))
        return Int(count) == text.count ? text : nil
    }
}
