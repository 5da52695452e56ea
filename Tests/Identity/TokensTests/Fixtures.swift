import JSONTree
import Testing

@testable import Tokens

/// The keys and the clock of the token tests.
enum Fixtures {
    /// Made once for all tests: an RSA key takes a while.
    static let rsa = KeyPair.generateRSA()
    static let otherRSA = KeyPair.generateRSA()
    static let p256 = KeyPair.generateP256()
    static let otherP256 = KeyPair.generateP256()
    static let secret = Array("a secret of thirty-two bytes, ok".utf8)

    static let issuer = "https://securetoken.google.com/party"
    static let audience = "party"

    /// 2026-01-01T00:00:00Z, in seconds and as a time.
    static let nowSeconds: Int64 = 1_767_225_600
    static let now = Timestamp(milliseconds: nowSeconds * 1000)

    /// A JWKS of `rsa` as `r1` and `p256` as `e1`.
    static func jwks() throws -> [UInt8] {
        let first = try jwk(of: rsa, "r1")
        let second = try jwk(of: p256, "e1")
        return Array(#"{"keys":[\#(first),\#(second)]}"#.utf8)
    }

    static func jwk(of pair: KeyPair?, _ keyID: String) throws -> String {
        let pair = try #require(pair)
        return try #require(pair.publicKey.jwk(keyID: keyID))
    }

    /// A verifier of production mode, with issuer and audience, unless asked otherwise.
    static func verifier(
        acceptsUnsigned: Bool = false,
        issuer: String? = issuer,
        audience: String? = audience,
        secret: [UInt8]? = nil,
    ) throws -> TokenVerifier {
        TokenVerifier(
            keys: try KeySet(jwks: jwks()),
            policy: TokenPolicy(
                acceptsUnsigned: acceptsUnsigned,
                issuer: issuer,
                audience: audience,
                hmacSecret: secret,
            ),
        )
    }

    /// The claims of a good ID token; a change of nil leaves the claim out.
    static func claims(_ changes: [String: String?] = [:]) -> String {
        var members: [String: String?] = [
            "iss": "\"\(issuer)\"", "aud": "\"\(audience)\"", "sub": "\"ann\"",
            "user_id": "\"ann\"", "iat": "\(nowSeconds - 60)", "exp": "\(nowSeconds + 3540)",
            "auth_time": "\(nowSeconds - 60)",
            "firebase": #"{"identities":{"email":["a@b.c"]},"sign_in_provider":"password"}"#,
        ]
        members.merge(changes) { $1 }
        let texts = members.sorted { $0.key < $1.key }.compactMap { name, value in
            value.map { "\"\(name)\":\($0)" }
        }
        return "{\(texts.joined(separator: ","))}"
    }

    static func signer(_ algorithm: Algorithm, keyID: String? = nil) throws -> TokenSigner {
        switch algorithm {
        case .rs256: TokenSigner(.keyPair(try #require(rsa)), keyID: keyID ?? "r1")
        case .es256: TokenSigner(.keyPair(try #require(p256)), keyID: keyID ?? "e1")
        case .hs256: TokenSigner(.hmac(secret), keyID: keyID)
        case .unsigned: TokenSigner(.none, keyID: keyID)
        }
    }

    static func token(
        _ algorithm: Algorithm,
        _ changes: [String: String?] = [:],
    ) throws -> String {
        try #require(try signer(algorithm).sign(claims: claims(changes)))
    }
}

extension Result {
    /// The failure, if it is one.
    var failure: Failure? {
        guard case .failure(let error) = self else { return nil }
        return error
    }
}
