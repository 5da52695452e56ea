import COpenSSL
import JSONTree

/// An asymmetric key that checks signatures: RSA for `RS256` or P-256 for `ES256`.
package struct PublicKey: Sendable {
    /// The only algorithm this key checks, for any header of a token.
    package let algorithm: Algorithm

    private let handle: KeyHandle

    init(_ algorithm: Algorithm, _ handle: KeyHandle) {
        self.algorithm = algorithm
        self.handle = handle
    }

    /// An RSA key from its big-endian numbers.
    ///
    /// - Returns: nil when the modulus is outside `TokenLimits.modulusBitCount`, or the exponent is even,
    ///   below 3 or wider than 32 bits.
    init?(modulus: [UInt8], exponent: [UInt8]) {
        let modulus = Array(modulus.drop { $0 == 0 })
        let exponent = Array(exponent.drop { $0 == 0 })
        guard let top = modulus.first,
            TokenLimits.modulusBitCount.contains(modulus.count * 8 - top.leadingZeroBitCount),
            exponent.count <= 4, let last = exponent.last, last & 1 == 1, exponent != [1],
            let handle = KeyHandle.rsa(modulus: modulus, exponent: exponent)
        else { return nil }
        self.init(.rs256, handle)
    }

    /// A P-256 key from the big-endian coordinates of its point, 32 bytes each.
    ///
    /// - Returns: nil when the sizes differ from 32 or the point is not on the curve.
    init?(x: [UInt8], y: [UInt8]) {
        guard x.count == 32, y.count == 32, let handle = KeyHandle.p256(point: [4] + x + y)
        else { return nil }
        self.init(.es256, handle)
    }

    /// Whether `signature`, as JWS carries it, is this key's for `message`.
    package func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard algorithm == .es256 else { return handle.verifies(signature, of: message) }
        guard let encoded = ECSignature.der(fromRaw: signature) else { return false }
        return handle.verifies(encoded, of: message)
    }

    /// The first public key in a PEM text (`BEGIN PUBLIC KEY`).
    ///
    /// - Returns: nil when there is none, or it is neither RSA of an allowed size nor P-256.
    package init?(pem: [UInt8]) {
        guard let (algorithm, handle) = KeyHandle.reading(pem: pem, .publicKey) else { return nil }
        self.init(algorithm, handle)
    }

    /// PEM text (`BEGIN PUBLIC KEY`); nil only when OpenSSL refuses (no memory).
    package var pem: [UInt8]? { handle.pem(.publicKey) }

    /// One JSON object of a JWKS `keys` list (RFC 7517).
    ///
    /// `keyID` is the `kid` that tokens of this key carry: plain ASCII without quotes.
    package func jwk(keyID: String) -> String? {
        guard let members = numberMembers else { return nil }
        let kind =
            algorithm == .rs256 ? #""kty":"RSA""# : #""kty":"EC","crv":"P-256""#
        let numbers = members.map { #""\#($0.name)":"\#($0.text)""# }.joined(separator: ",")
        return """
            {\(kind),"use":"sig","alg":"\(algorithm.rawValue)","kid":"\(keyID)",\(numbers)}
            """
    }

    /// What names the key and no other: SHA-256 of its required members in their order, base64url (RFC 7638).
    package var thumbprint: String? {
        guard let members = numberMembers else { return nil }
        var texts = members.map { (name: $0.name, text: $0.text) }
        texts.append((name: "kty", text: algorithm == .rs256 ? "RSA" : "EC"))
        if algorithm == .es256 { texts.append((name: "crv", text: "P-256")) }
        let object = texts.sorted { $0.name < $1.name }
            .map { #""\#($0.name)":"\#($0.text)""# }.joined(separator: ",")
        return Base64.encode(SHA256Digest.of(Array("{\(object)}".utf8)), .url)
    }

    /// The numbers of the key by their JWK names.
    private var numberMembers: [(name: String, text: String)]? {
        let names =
            algorithm == .rs256
            ? [("n", OSSL_PKEY_PARAM_RSA_N), ("e", OSSL_PKEY_PARAM_RSA_E)]
            : [("x", OSSL_PKEY_PARAM_EC_PUB_X), ("y", OSSL_PKEY_PARAM_EC_PUB_Y)]
        var members: [(name: String, text: String)] = []
        for (name, parameter) in names {
            let byteCount = algorithm == .rs256 ? nil : 32
            guard let number = handle.number(parameter, byteCount: byteCount) else { return nil }
            members.append((name, Base64.encode(number, .url)))
        }
        return members
    }
}
