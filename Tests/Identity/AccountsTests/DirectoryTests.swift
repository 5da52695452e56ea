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
}
