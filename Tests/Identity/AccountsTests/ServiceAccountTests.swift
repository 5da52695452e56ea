import JSONTree
import Testing

@testable import Accounts

@Suite("service accounts")
struct ServiceAccountTests {
    private static let now = Timestamp(milliseconds: 1_700_000_000_250)

    private static func key(_ id: String) -> ServiceAccount.Key {
        ServiceAccount.Key(
            id: id,
            publicPEM: "-----BEGIN \(id)",
            createdAt: now,
            isOfOwnUniverse: id != "a"
        )
    }

    @Test(
        "are called by lower-case ASCII letters, digits and hyphens",
        arguments: [
            ("ci", true), ("a", true), ("backup-2", true), ("-", true),
            (String(repeating: "a", count: 30), true), (String(repeating: "a", count: 31), false),
            ("", false), ("CI", false), ("a.b", false), ("a/b", false), ("a b", false),
            ("\u{E4}", false), ("a\u{0}", false), ("a@b", false),
        ]
    )
    func names(name: String, isName: Bool) {
        #expect(ServiceAccount.isName(name) == isName)
    }

    /// Adds a key; whether it was taken.
    private static func add(_ id: String, to account: inout ServiceAccount) -> Bool {
        account.add(key(id))
    }

    /// Takes a key away; whether it was there.
    private static func remove(
        _ id: String,
        from account: inout ServiceAccount,
        at time: Timestamp = now
    ) -> Bool {
        account.removeKey(id, at: time)
    }

    @Test("are the same when they come back from their records")
    func records() {
        var account = ServiceAccount(name: "ci", project: "demo", createdAt: Self.now)
        #expect(account.email == "ci@demo.hearth.local")
        #expect(Self.add("b", to: &account))
        #expect(Self.add("a", to: &account))
        #expect(account.keys.map(\.id) == ["a", "b"])
        #expect(ServiceAccount(name: "ci", record: account.record) == account)
        account.isDisabled = true
        #expect(ServiceAccount(name: "ci", record: account.record) == account)
        #expect(ServiceAccount(name: "ci", record: .absent) == nil)
    }

    @Test("have ten keys at most, each once")
    func keyLimit() {
        var account = ServiceAccount(name: "ci", project: "demo", createdAt: Self.now)
        for number in 0..<ServiceAccount.keyLimit { #expect(Self.add("k\(number)", to: &account)) }
        #expect(!Self.add("one more", to: &account))
        #expect(Self.remove("k3", from: &account))
        #expect(!Self.remove("k3", from: &account))
        #expect(!Self.add("k4", to: &account))
        #expect(Self.add("one more", to: &account))
        #expect(account.keys.count == ServiceAccount.keyLimit)
    }

    @Test("take no access token of an earlier one, of a lost key or of a disabled one")
    func validity() {
        var account = ServiceAccount(name: "ci", project: "demo", createdAt: Self.now)
        let issued = account.issueTime(Self.now)
        #expect(issued == 1_700_000_001)
        #expect(Self.add("a", to: &account))
        #expect(Self.add("b", to: &account))
        #expect(account.counts(issuedAt: issued, keyID: "a"))
        #expect(account.counts(issuedAt: issued, keyID: nil))
        #expect(!account.counts(issuedAt: issued - 1, keyID: "a"))
        #expect(!account.counts(issuedAt: issued, keyID: "c"))
        let later = Timestamp(milliseconds: Self.now.milliseconds + 5_000)
        #expect(Self.remove("b", from: &account, at: later))
        #expect(!account.counts(issuedAt: issued, keyID: "a"))
        #expect(account.counts(issuedAt: account.issueTime(later), keyID: "a"))
        #expect(!account.counts(issuedAt: account.issueTime(later), keyID: "b"))
        account.isDisabled = true
        #expect(!account.counts(issuedAt: account.issueTime(later), keyID: "a"))
    }

    @Test("end what was issued ahead of the clock, however soon a key is removed")
    func removedAtOnce() {
        var account = ServiceAccount(name: "ci", project: "demo", createdAt: Self.now)
        #expect(Self.add("a", to: &account))
        #expect(Self.add("b", to: &account))
        let issued = account.issueTime(Self.now)
        #expect(Self.remove("a", from: &account))
        #expect(!account.counts(issuedAt: issued, keyID: "b"))
        #expect(account.counts(issuedAt: account.issueTime(Self.now), keyID: "b"))
    }

    @Test("are found by name and by address until they are removed")
    func directory() {
        var directory = AccountDirectory(root: .absent)
        let accounts = ["ci", "backup"].map {
            ServiceAccount(name: $0, project: "demo", createdAt: Self.now)
        }
        for account in accounts {
            let root = directory.changes(storing: account).applied(to: directory.root)
            directory = AccountDirectory(root: root)
        }
        #expect(directory.serviceAccounts.map(\.name) == ["backup", "ci"])
        #expect(directory.serviceAccount(named: "ci") == accounts[0])
        #expect(directory.serviceAccount(email: "ci@demo.hearth.local") == accounts[0])
        for stranger in ["ci@other.hearth.local", "ci", "CI@demo.hearth.local", "", "@", "../ci@x"]
        {
            #expect(directory.serviceAccount(email: stranger) == nil, "\(stranger)")
        }
        let root = directory.changes(removing: accounts[0]).applied(to: directory.root)
        directory = AccountDirectory(root: root)
        #expect(directory.serviceAccounts == [accounts[1]])
        #expect(directory.serviceAccount(email: "ci@demo.hearth.local") == nil)
    }
}
