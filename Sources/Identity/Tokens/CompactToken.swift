import JSONTree

/// The three parts of a token in JWS compact form (RFC 7515 section 7.1), decoded but not yet trusted.
///
///     base64url(header JSON) "." base64url(claims JSON) "." base64url(signature)
struct CompactToken {
    /// What the header says the signature is made with.
    let algorithm: Algorithm
    /// The header's `typ`, if that is a text.
    let type: String?
    /// The header's `kid`.
    let keyID: String?
    /// The claims as sent.
    let claims: Node
    /// The bytes that are signed: the first two parts with their dot.
    let signedText: [UInt8]
    /// The decoded third part.
    let signature: [UInt8]

    /// Header members that would let a token choose its own key or meaning.
    private static let forbiddenMembers = ["crit", "jku", "x5u", "jwk", "x5c", "b64", "zip", "enc"]

    /// Takes `text` apart.
    ///
    /// - Throws: `TokenError` for anything that is not exactly one well-formed token.
    init(_ text: String) throws(TokenError) {
        let bytes = Array(text.utf8)
        guard bytes.count <= TokenLimits.tokenByteCount else {
            throw .tooLong(byteCount: bytes.count)
        }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .partCount(parts.count) }
        guard let signature = Base64.decodeURL(parts[2]) else { throw .notBase64URL(.signature) }

        let header = try Self.object(parts[0], .header)
        for member in Self.forbiddenMembers where !header.member(member).isAbsent {
            throw .forbiddenHeader(member)
        }
        guard let name = header.member("alg").string else { throw .badHeader("alg") }
        guard let algorithm = Algorithm(rawValue: name) else { throw .unsupportedAlgorithm }

        self.algorithm = algorithm
        self.type = header.member("typ").string
        self.keyID = try Self.keyID(header.member("kid"))
        self.claims = try Self.object(parts[1], .claims)
        self.signedText = Array(bytes[..<parts[1].endIndex])
        self.signature = signature
    }

    private static func object(
        _ text: ArraySlice<UInt8>,
        _ part: TokenPart,
    ) throws(TokenError) -> Node {
        guard let bytes = Base64.decodeURL(text) else { throw .notBase64URL(part) }
        guard bytes.first == UInt8(ascii: "{") else { throw .notAnObject(part) }
        do {
            return try Node.readingAnyJSON(bytes)
        } catch {
            throw .notJSON(part, offset: error.offset)
        }
    }

    private static func keyID(_ node: Node) throws(TokenError) -> String? {
        guard !node.isAbsent else { return nil }
        guard let text = node.string, TokenLimits.keyIDLength.contains(text.unicodeScalars.count)
        else { throw .badHeader("kid") }
        return text
    }
}
