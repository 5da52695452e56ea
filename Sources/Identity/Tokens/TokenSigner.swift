import JSONTree

/// Makes tokens in JWS compact form.
package struct TokenSigner: Sendable {
    /// What tokens are signed with.
    package enum Secret: Sendable {
        case keyPair(KeyPair)
        case hmac([UInt8])
        case none
    }

    /// `typ` of all tokens but access tokens.
    package static let headerType = "JWT"

    private let secret: Secret
    private let keyID: String?

    /// A signer whose headers carry `keyID` as their `kid`: plain ASCII without quotes.
    package init(_ secret: Secret, keyID: String? = nil) {
        self.secret = secret
        self.keyID = keyID
    }

    /// The token with these claims, given as the JSON text of an object.
    ///
    /// - Returns: nil only when OpenSSL refuses to sign (no memory).
    package func sign(claims: String, type: String = headerType) -> String? {
        let name = keyID.map { ",\"kid\":\"\($0)\"" } ?? ""
        return sign(
            header: #"{"alg":"\#(algorithm.rawValue)","typ":"\#(type)"\#(name)}"#,
            claims: claims
        )
    }

    /// The same with any header of the caller, also one that no verifier may accept.
    package func sign(header: String, claims: String) -> String? {
        let text =
            Base64.encode(Array(header.utf8), .url) + "." + Base64.encode(Array(claims.utf8), .url)
        guard let signature = signature(of: Array(text.utf8)) else { return nil }
        return text + "." + Base64.encode(signature, .url)
    }

    private var algorithm: Algorithm {
        switch secret {
        case .keyPair(let pair): pair.algorithm
        case .hmac: .hs256
        case .none: .unsigned
        }
    }

    private func signature(of text: [UInt8]) -> [UInt8]? {
        switch secret {
        case .keyPair(let pair): pair.sign(text)
        case .hmac(let secret): HashMAC.code(of: text, secret: secret)
        case .none: []
        }
    }
}
