import JSONTree
import Testing

@testable import Accounts

/// What is stored of accounts is data of the tree, whatever people and providers are called.
@Suite("records of accounts read back from the log")
struct RecordsReadBackTests {
    /// Texts as identifiers, addresses and providers have them, and some that are refused elsewhere.
    static let texts = [
        "ann", "a.b@example.com", "https://id.example/x#y", "$[]/.", "%", "%2E", "100%", "\u{0}",
        "\u{7F}", "é", "e\u{301}",
        "😀", "\u{301}x", "-1", "007", "\u{FEFF}", " ", String(repeating: "x", count: 128),
        String(repeating: ".", count: 256),
    ]

    private func readBack(_ node: Node) throws -> Node {
        var bytes: [UInt8] = []
        node.appendEncoding(to: &bytes)
        return try bytes.withBytes { try Node(decoding: $0) }
    }

    @Test("accounts with every kind of name, and all of them in one tree")
    func accounts() throws {
        var root = Node.absent
        for (index, text) in Self.texts.enumerated() {
            var account = Account(uid: text, createdAt: Timestamp(milliseconds: Int64(index) - 3))
            account.email = text
            account.phoneNumber = text
            account.displayName = text
            account.photoURL = text
            account.customAttributes = #"{"https://example.com/role":"\#(index)"}"#
            account.validSince = index % 2 == 0 ? .min : .max
            account.federated = [
                Account.FederatedIdentity(provider: text, rawID: text),
                Account.FederatedIdentity(provider: "google.com", rawID: text),
            ]
            root = AccountDirectory(root: root).changes(from: nil, to: account).applied(to: root)
            let read = AccountDirectory(root: try readBack(root))
            #expect(read.root == root, "\(text.debugDescription)")
            #expect(read.account(text)?.email == text, "\(text.debugDescription)")
            #expect(read.account(email: text)?.uid == text, "\(text.debugDescription)")
            #expect(
                read.account(provider: text, rawID: text)?.uid == text,
                "\(text.debugDescription)"
            )
        }
        #expect(AccountDirectory(root: root).accountCount == Self.texts.count)
    }
}
