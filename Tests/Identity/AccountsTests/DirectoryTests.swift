import JSONTree
import Testing

@testable import Accounts

@Suite("the directory of accounts")
struct DirectoryTests {
    @Test("finds an account by each of its names, and by none that it had before")
    func indexes() throws {
        var directory = AccountDirectory(root: .absent)
        var ann = Account(uid: "ann", createdAt: Timestamp(milliseconds: 5_000))
        ann.email = "ann@example.com"
        ann.phoneNumber = "+4930123"
        directory = AccountDirectory(
            root: directory.changes(from: nil, to: ann).applied(to: directory.root)
        )
        #expect(directory.account("ann") == ann)
        #expect(directory.account(email: "ann@example.com") == ann)
        #expect(directory.account(phone: "+4930123") == ann)
        var renamed = ann
        renamed.email = "ann@example.org"
        directory = AccountDirectory(
            root: directory.changes(from: ann, to: renamed).applied(to: directory.root)
        )
        #expect(directory.account(email: "ann@example.com") == nil)
        #expect(directory.account(email: "ann@example.org") == renamed)
        let none = directory.changes(from: renamed, to: nil).applied(to: directory.root)
        #expect(none.isAbsent)
    }

    /// Of ann, bob and 1234, with names and numbers.
    private static func directory() -> AccountDirectory {
        var root = Node.absent
        for (uid, email, phone, name) in [
            ("ann", "ann@example.com", "+4930123", "Ann Zander"),
            ("bob", "bob.c@example.com", "+4940123", "Robert Öz"),
            ("1234", "z@example.com", "+4930999", ""),
        ] {
            var account = Account(uid: uid, createdAt: Timestamp(milliseconds: 5_000))
            account.email = email
            account.phoneNumber = phone
            account.displayName = name.isEmpty ? nil : name
            let directory = AccountDirectory(root: root)
            root = directory.changes(from: nil, to: account).applied(to: root)
        }
        return AccountDirectory(root: root)
    }

    @Test(
        "a search finds by the beginning of the address, the number, the uid, and of words of the name",
        arguments: [
            ("ann@", ["ann"]), ("ANN", ["ann"]), ("bob.", ["bob"]), ("+4930", ["ann", "1234"]),
            ("+49", ["ann", "1234", "bob"]), ("z", ["1234", "ann"]), ("rob", ["bob"]),
            ("öz", ["bob"]), ("12", ["1234"]), ("1234", ["1234"]), ("ert", []), ("nobody", []),
        ]
    )
    func search(_ text: String, _ uids: [String]) {
        let found = Self.directory().accounts(matching: text, limit: 10)
        #expect(found.accounts.map(\.uid) == uids)
        #expect(!found.isCut)
    }

    @Test("a search has limits, and says when it met one")
    func searchLimits() {
        let directory = Self.directory()
        let two = directory.accounts(matching: "+49", limit: 2)
        #expect(two.accounts.map(\.uid) == ["ann", "1234"] && two.isCut)
        #expect(!directory.accounts(matching: "+49", limit: 3).isCut)
        // Bob is the last one: his name is not looked at, his address is found all the same.
        let name = directory.accounts(matching: "rob", limit: 10, searched: 2)
        #expect(name.accounts.isEmpty && name.isCut)
        let uid = directory.accounts(matching: "bob", limit: 10, searched: 2)
        #expect(uid.accounts.map(\.uid) == ["bob"])
    }
}
