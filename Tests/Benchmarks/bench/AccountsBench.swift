import Accounts
import JSONTree
import Passwords
import Tokens

/// What a sign-in costs, and a million accounts: bytes that one takes, and looking one up.
func benchAccounts(_ figures: Figures) {
    benchPasswords(figures)
    benchTokenCheck(figures)
    AccountsBench(accountCount: 1_000_000).run(figures)
}

/// A hash at the cost that servers have by default.
private func benchPasswords(_ figures: Figures) {
    let password = Array("correct horse battery staple".utf8)
    let count = 10
    figures.measure("hash a password at the default cost", count: count) {
        for _ in 0..<count {
            let made = PasswordHasher.perform(.hash(password: password, .standard))
            if made == .busy { print("bench: there is no memory for a hash") }
        }
    }
}

/// An ID token with the claims of Firebase, signed with RS256, whose key is at hand.
private func benchTokenCheck(_ figures: Figures) {
    guard let pair = KeyPair.generateRSA() else { return print("bench: there is no key") }
    let issuer = "https://securetoken.google.com/hearth"
    let claims =
        #"{"iss":"\#(issuer)","aud":"hearth","auth_time":1712000000,"user_id":"\#(uid)","sub":"\#(uid)","#
        + #""iat":1712000000,"exp":1712003600,"email":"ann@example.com","email_verified":true,"#
        + #""firebase":{"identities":{"email":["ann@example.com"]},"sign_in_provider":"password"}}"#
    guard let token = TokenSigner(.keyPair(pair), keyID: "k1").sign(claims: claims) else {
        return print("bench: the token cannot be signed")
    }
    let verifier = TokenVerifier(
        keys: KeySet(keys: ["k1": pair.publicKey]),
        policy: TokenPolicy(issuer: issuer, audience: "hearth")
    )
    let count = 10_000
    var good = 0
    figures.measure("check an ID token, its key at hand", count: count) {
        for _ in 0..<count {
            let now = Timestamp(milliseconds: 1_712_000_001_000)
            if case .success = verifier.verify(token, now: now) { good += 1 }
        }
    }
    if good != count { print("bench: \(count - good) tokens were refused") }
}

private let uid = "abcdefghijklmnopqrstuvwxyz01"

/// Accounts as people make them: address, name, a password, times of sign-ins; uids are random, as they are in use.
private struct AccountsBench {
    let accountCount: Int
    private var state: UInt64 = 88_172_645_463_325_252

    init(accountCount: Int) {
        self.accountCount = accountCount
    }

    func run(_ figures: Figures) {
        var bench = self
        var root = Node.absent
        let none = AccountDirectory(root: .absent)
        let before = Figures.residentByteCount()
        figures.measure("make an account, indexes included", count: accountCount) {
            for number in 0..<accountCount {
                root = none.changes(from: nil, to: bench.account(number)).applied(to: root)
            }
        }
        let grown = Figures.residentByteCount() - before
        figures.report(
            "resident bytes of an account, \(accountCount) of them",
            Double(grown) / Double(accountCount),
            "bytes"
        )
        lookUp(root, figures)
    }

    private func lookUp(_ root: Node, _ figures: Figures) {
        var bench = self
        let directory = AccountDirectory(root: root)
        let count = 100_000
        let emails = (0..<count).map { _ in Self.email(bench.below(accountCount)) }
        var found: [String] = []
        figures.measure("look an account up by its address, of \(accountCount)", count: count) {
            for email in emails {
                if let account = directory.account(email: email) { found.append(account.uid) }
            }
        }
        if found.count != count { print("bench: \(count - found.count) accounts were not found") }
        figures.measure("look an account up by its uid, of \(accountCount)", count: count) {
            for uid in found where directory.account(uid) == nil {
                print("bench: the account \(uid) was not found")
            }
        }
    }

    private static func email(_ number: Int) -> String { "user\(number)@example.com" }

    private mutating func account(_ number: Int) -> Account {
        let now: Int64 = 1_712_000_000_000 + Int64(number) * 37
        var account = Account(uid: text(28), createdAt: Timestamp(milliseconds: now))
        account.email = Self.email(number)
        account.isEmailVerified = true
        account.displayName = "User Number \(number)"
        account.password = StoredPassword("$argon2id$v=19$m=65536,t=3,p=1$\(text(22))$\(text(43))")
        account.passwordUpdatedAt = account.createdAt
        account.lastLoginAt = Timestamp(milliseconds: now + 86_400_000)
        account.lastRefreshAt = Timestamp(milliseconds: now + 90_000_000)
        return account
    }

    private mutating func below(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(limit))
    }

    private mutating func text(_ count: Int) -> String {
        let characters = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8
        )
        return String(
            decoding: (0..<count).map { _ in characters[below(characters.count)] },
            as: UTF8.self
        )
    }
}
