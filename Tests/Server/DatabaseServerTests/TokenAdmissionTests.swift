import Accounts
import DatabaseCore
import IdentityToolkit
import JSONTree
import SecurityRules
import Testing

@testable import DatabaseServer
@testable import Tokens
@testable import Transport

/// What a token whose signature is good is worth, by the account that it is about.
@Suite("Tokens and the accounts they are about")
struct TokenAdmissionTests {
    private static let issuer = "https://securetoken.google.com/hearth"

    /// Ann since second 100; Dan, disabled; a service account `bot` since second 100, with the key `k`.
    private static func accounts() throws -> AccountDirectory {
        var root = Node.absent
        func apply(_ changes: AccountChanges) { root = changes.applied(to: root) }
        let now = Timestamp(milliseconds: 50_000)
        var ann = Account(uid: "ann", createdAt: now)
        ann.validSince = 100
        var dan = Account(uid: "dan", createdAt: now)
        dan.isDisabled = true
        for account in [ann, dan] {
            apply(AccountDirectory(root: root).changes(from: nil, to: account))
        }
        var bot = ServiceAccount(name: "bot", project: "hearth", createdAt: now)
        let key = ServiceAccount.Key(
            id: "k",
            publicPEM: "-----BEGIN",
            createdAt: now,
            isOfOwnUniverse: true
        )
        let isAdded = bot.add(key)
        #expect(isAdded)
        apply(AccountDirectory(root: root).changes(storing: bot))
        return AccountDirectory(root: root)
    }

    /// A token, and whose it is when it counts: nil when it counts without an account, `refused` when it does not.
    struct Case: CustomTestStringConvertible {
        let words: String
        let token: VerifiedToken
        let holder: CredentialHolder?
        var isRefused = false

        var testDescription: String { words }
    }

    private static func token(
        _ source: VerifiedToken.Source,
        _ uid: String?,
        issuedAt: Int64?,
        signedInAt: Int64? = nil,
        issuer: String = issuer,
        bot: String? = nil,
        key: String? = "k"
    ) -> VerifiedToken {
        VerifiedToken(
            claims: Node.absent.with("iss", Node(string: issuer)),
            subject: uid,
            isAdmin: bot != nil,
            source: source,
            issuedAt: issuedAt,
            signedInAt: signedInAt,
            serviceAccount: bot,
            serviceAccountKeyID: key
        )
    }

    private static let email = "bot@hearth.hearth.local"

    static let cases: [Case] = [
        Case(
            words: "a user's, of the second from which tokens count",
            token: token(.own, "ann", issuedAt: 100),
            holder: CredentialHolder(.user("ann"), issuedAt: 100)
        ),
        Case(
            words: "a user's, of the second before",
            token: token(.own, "ann", issuedAt: 99),
            holder: nil,
            isRefused: true
        ),
        Case(
            words: "a user's, without a time",
            token: token(.own, "ann", issuedAt: nil),
            holder: nil,
            isRefused: true
        ),
        Case(
            words: "of a disabled user",
            token: token(.own, "dan", issuedAt: 900),
            holder: nil,
            isRefused: true
        ),
        Case(
            words: "of no account",
            token: token(.own, "eve", issuedAt: 900),
            holder: nil,
            isRefused: true
        ),
        Case(
            words: "without a subject",
            token: token(.own, nil, issuedAt: 900),
            holder: nil,
            isRefused: true
        ),
        Case(
            words: "of a uid that is no key",
            token: token(.own, "", issuedAt: 900),
            holder: nil,
            isRefused: true
        ),
        Case(
            words: "of another issuer, about an account disabled here",
            token: token(.outside, "dan", issuedAt: 1),
            holder: nil
        ),
        Case(
            words: "made with the secret of a database",
            token: token(.databaseSecret, "dan", issuedAt: 1),
            holder: nil
        ),
        Case(
            words: "unsigned, of this realm",
            token: token(.unsigned, "ann", issuedAt: 100, signedInAt: 100),
            holder: CredentialHolder(.user("ann"), issuedAt: 100)
        ),
        Case(
            words: "unsigned, of this realm, called back",
            token: token(.unsigned, "ann", issuedAt: 99, signedInAt: 99),
            holder: nil,
            isRefused: true
        ),
        Case(
            words: "unsigned, of this realm, of a disabled user",
            token: token(.unsigned, "dan", issuedAt: 900, signedInAt: 900),
            holder: nil,
            isRefused: true
        ),
        Case(
            words: "unsigned, made up by a test, which knows no time",
            token: token(.unsigned, "dan", issuedAt: 0, signedInAt: 0),
            holder: nil
        ),
        Case(
            words: "unsigned, of another realm",
            token: token(.unsigned, "dan", issuedAt: 900, signedInAt: 900, issuer: "https://else"),
            holder: nil
        ),
        Case(
            words: "an access token of a service account",
            token: token(.own, nil, issuedAt: 100, bot: email),
            holder: CredentialHolder(.serviceAccount(email), issuedAt: 100)
        ),
        Case(
            words: "an access token had with a key that is gone",
            token: token(.own, nil, issuedAt: 100, bot: email, key: "old"),
            holder: nil,
            isRefused: true
        ),
        Case(
            words: "an access token from before the service account",
            token: token(.own, nil, issuedAt: 49, bot: email),
            holder: nil,
            isRefused: true
        ),
        Case(
            words: "an access token of a service account that is gone",
            token: token(.own, nil, issuedAt: 100, bot: "cat@hearth.hearth.local"),
            holder: nil,
            isRefused: true
        ),
        Case(
            words:
                "a custom token or an assertion, which a service account signs for another place",
            token: token(.serviceAccount, "ann", issuedAt: 900),
            holder: nil,
            isRefused: true
        ),
        Case(
            words: "an access token that a service account signed itself, by whatever clock",
            token: token(.serviceAccount, email, issuedAt: 49, bot: email),
            holder: CredentialHolder(.serviceAccount(email), issuedAt: 50)
        ),
        Case(
            words: "one that is signed with a key that is gone",
            token: token(.serviceAccount, email, issuedAt: 900, bot: email, key: "old"),
            holder: nil,
            isRefused: true
        ),
        Case(
            words: "one of a service account that is gone",
            token: token(.serviceAccount, nil, issuedAt: 900, bot: "cat@hearth.hearth.local"),
            holder: nil,
            isRefused: true
        ),
    ]

    @Test("a token counts as its account says", arguments: cases)
    func admission(_ test: Case) throws {
        let accounts = try Self.accounts()
        let outcome = CredentialOutcome(.success(test.token), accounts, issuer: Self.issuer)
        switch outcome {
        case .refused(let refusal):
            #expect(test.isRefused)
            guard case .invalid = refusal else {
                Issue.record("\(refusal) tells a client to come back with the like")
                return
            }
        case .admin(let term), .user(_, let term):
            #expect(!test.isRefused)
            #expect(term.holder == test.holder)
            #expect(accounts.stillCounts(term))
            #expect(!AccountDirectory(root: .absent).stillCounts(term) || test.holder == nil)
        }
        if case .admin = outcome { #expect(test.token.isAdmin) }
    }

    // MARK: - On a server

    /// An account, and a token of it as development has them.
    private func account(_ uid: String, on served: ServedDatabase) -> String {
        served.read { watch in
            let server = watch.server
            let account = Account(uid: uid, createdAt: Timestamp(milliseconds: 50_000))
            let identity = server.identity
            identity.commit(identity.accountDirectory.changes(from: nil, to: account)) { _ in }
            let issuer = identity.accounts.policy.issuer
            let claims =
                #"{"iss":"\#(issuer)","aud":"hearth","sub":"\#(uid)","iat":100,"auth_time":100}"#
            return TokenSigner(.none).sign(claims: claims) ?? ""
        }
    }

    @LoopActor
    private static func disable(_ uid: String, _ server: Server) {
        let accounts = server.identity.accountDirectory
        guard let old = accounts.account(uid) else { preconditionFailure("there is \(uid)") }
        var new = old
        new.isDisabled = true
        server.identity.commit(accounts.changes(from: old, to: new)) { _ in
            server.identity.revoke(.user(uid))
        }
    }

    @Test("a token that is checked while its account is disabled does not slip in")
    func race() throws {
        let served = try ServedDatabase()
        let token = account("ann", on: served)
        let client = try served.client()
        let gate = Gate()
        served.read { watch in _ = watch.server.workers.credentials.post(.read { gate.wait() }) }
        try client.send(bytes: WireClient.request(1, "auth", #""cred":"\#(token)""#))
        try client.send(bytes: WireClient.request(2, "g", #""p":"/""#))
        // The check is in the worker's mailbox once the engine waits for it.
        while served.read({ $0.server.workers.credentials.figures.waiting }) < 2 {}
        served.read { watch in
            gate.open()
            // The signature has been found good, and the loop has not heard of it yet.
            while watch.server.workers.credentials.figures.waiting > 0 {}
            Self.disable("ann", watch.server)
        }
        let reply = try client.message()
        #expect(reply.contains(#""r":1,"b":{"s":"invalid_token""#), "\(reply)")
        #expect(served.read { $0.server.engine.heldCredentialCount } == 0)
    }

    @Test("a session that has begun just before its account is disabled ends")
    func begun() throws {
        let served = try ServedDatabase()
        let token = account("ann", on: served)
        let client = try served.client()
        let reply = try client.ask(1, "auth", #""cred":"\#(token)""#)
        #expect(reply.contains(#""r":1,"b":{"s":"ok""#), "\(reply)")
        #expect(served.read { $0.server.engine.heldCredentialCount } == 1)
        #expect(
            served.read { _ in IdentityService.ownRevocationGrace } < .seconds(1),
            "as promised"
        )
        served.read { Self.disable("ann", $0.server) }
        let push = try client.message()
        #expect(push.contains(#""a":"ac","b":{"s":"invalid_token""#), "\(push)")
        #expect(try client.closeCode() == 1000)
        #expect(served.read { $0.server.engine.heldCredentialCount } == 0)
        let other = try served.client()
        let again = try other.ask(1, "auth", #""cred":"\#(token)""#)
        #expect(again.contains(#""s":"invalid_token""#), "\(again)")
    }
}

extension Node {
    fileprivate func with(_ name: String, _ node: Node) -> Node {
        var copy = self
        copy.set(node, at: Path([Key(unchecked: Array(name.utf8))]))
        return copy
    }
}
