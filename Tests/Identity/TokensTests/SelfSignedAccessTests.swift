import JSONTree
import Testing

@testable import Tokens

private let address = "ci@party.hearth.local"

/// A verifier of the tokens of one service account, whose key is `k1`.
private enum Accounts {
    static func verifier() throws -> TokenVerifier {
        let keys = KeySet(keys: ["k1": try #require(Fixtures.rsa).publicKey])
        let accounts = TrustedIssuer(.serviceAccounts, keys: keys, issuer: nil, audience: nil)
        return TokenVerifier(issuers: [accounts], policy: TokenPolicy())
    }

    static func outcome(
        _ changes: [String: String?] = [:],
        header: String = #"{"alg":"RS256","typ":"JWT","kid":"k1"}"#,
        by pair: KeyPair? = Fixtures.rsa
    ) throws -> Result<VerifiedToken, TokenError> {
        var members: [String: String?] = [
            "iss": "\"\(address)\"", "sub": "\"\(address)\"",
            "scope": "\"a https://www.googleapis.com/auth/firebase\"",
            "iat": "\(Fixtures.nowSeconds)", "exp": "\(Fixtures.nowSeconds + 3600)",
        ]
        for (name, value) in changes { members[name] = .some(value) }
        let text = members.sorted { $0.key < $1.key }
            .compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
            .joined(separator: ",")
        let signer = TokenSigner(.keyPair(try #require(pair)))
        let token = try #require(signer.sign(header: header, claims: "{\(text)}"))
        return try verifier().verify(token, now: Fixtures.now)
    }
}

@Suite("an access token that a service account signs itself")
struct SelfSignedAccessTests {
    @Test(
        "is an administrator's, with a scope or with the audience of this server's administration",
        arguments: [
            [:], ["scope": "\"https://www.googleapis.com/auth/firebase.database\""],
            ["scope": "\"https://www.googleapis.com/auth/cloud-platform b\""],
            ["scope": nil, "aud": "\"hearth-admin\""], ["aud": "[\"hearth-admin\"]"],
            ["iat": "\(Fixtures.nowSeconds + 10)"],
        ] as [[String: String?]]
    )
    func good(changes: [String: String?]) throws {
        let token = try Accounts.outcome(changes).get()
        #expect(token.isAdmin)
        #expect(token.source == .serviceAccount)
        #expect(token.serviceAccount == address)
        #expect(token.serviceAccountKeyID == "k1")
        #expect(token.expiry == Timestamp(milliseconds: (Fixtures.nowSeconds + 3600) * 1000))
    }

    @Test(
        "is refused for its claims",
        arguments: [
            ("scope", nil, TokenError.wrongAudience), ("scope", "\"\"", .wrongAudience),
            ("scope", "\"https://www.googleapis.com/auth/firebasex\"", .wrongAudience),
            ("scope", "5", .badClaim("scope")),
            ("aud", "\"https://oauth2.googleapis.com/token\"", .wrongAudience),
            ("aud", "\"\(TokenPolicy.customTokenAudience)\"", .wrongAudience),
            ("aud", "[\"hearth-admin\",\"https://evil.example\"]", .wrongAudience),
            ("aud", "5", .badClaim("aud")),
            ("iss", nil, .badClaim("sub")), ("sub", nil, .badClaim("sub")),
            ("sub", "\"eve@party.hearth.local\"", .badClaim("sub")),
            ("exp", nil, .badClaim("exp")),
            ("exp", "\(Fixtures.nowSeconds + 3601)", .badClaim("exp")),
            ("exp", "\(Fixtures.nowSeconds)", .expired(at: Fixtures.now)),
            ("iat", nil, .badClaim("iat")),
            ("iat", "\(Fixtures.nowSeconds - 1)", .badClaim("exp")),
            (
                "iat", "\(Fixtures.nowSeconds + 11)",
                .notYetValid(from: Timestamp(milliseconds: (Fixtures.nowSeconds + 11) * 1000))
            ),
        ] as [(String, String?, TokenError)]
    )
    func bad(name: String, value: String?, error: TokenError) throws {
        #expect(try Accounts.outcome([name: value]).failure == error)
    }

    @Test("is refused without a known key, and with the signature of another")
    func keys() throws {
        let other = #"{"alg":"RS256","kid":"k2"}"#
        #expect(try Accounts.outcome(header: other).failure == .unknownKey("k2"))
        let none = #"{"alg":"RS256"}"#
        #expect(try Accounts.outcome(header: none).failure == .unknownKey(nil))
        #expect(try Accounts.outcome(by: Fixtures.otherRSA).failure == .badSignature)
    }
}
