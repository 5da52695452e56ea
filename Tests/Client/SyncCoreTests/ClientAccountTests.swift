import JSONTree
import TestSupport
import Testing
import WireProtocol

@testable import SyncCore

@Suite("Accounts and restarts of a client")
struct ClientAccountTests {
    private func pending(_ account: String?) throws -> StoredState {
        let write = StoredWrite.set(try WriteTarget("/a"), Draft(Node(integer: 7)))
        return StoredState(writes: [(WriteID(40), write)], account: account)
    }

    @Test("restored writes are shown, sent, and later writes have greater numbers")
    func restart() throws {
        let world = try ClientWorld(isStored: true, restoring: pending(nil))
        #expect(world.server.root.text == #"{"a":7}"#)
        #expect(world.stored.removedWrites == [40])
        try world.set("/b", "1")
        #expect(world.stored.savedWrites == [41])
    }

    @Test("a restored write that is refused is warned of")
    func refused() throws {
        let world = try ClientWorld(isReachable: false, restoring: pending(nil))
        world.server.readOnly = [.root]
        try world.observe("/a")
        #expect(world.news() == ["1 value 7"])
        try world.connect()
        #expect(world.news() == ["1 value null"])
        #expect(world.warnings.count == 1)
    }

    /// Whose the restored writes are, who is signed in then, and whether they are sent.
    @Test(
        "restored writes are sent for the account that made them alone",
        arguments: [
            (nil, nil, true), (nil, "ada", true), ("ada", "ada", true), ("ada", "bob", false),
            ("ada", nil, true),
        ]
    )
    func owners(owner: String?, account: String?, isSent: Bool) throws {
        let world = try ClientWorld(
            isReachable: false,
            isStored: true,
            restoring: pending(owner)
        )
        try world.take(.credentialChanged(token: account, account: account))
        try world.connect()
        #expect(world.server.root.text == (isSent ? #"{"a":7}"# : "null"))
        #expect(world.stored.removedWrites == [40])
    }

    @Test("another account cancels what is pending; a new token of the same does not")
    func otherAccount() throws {
        let world = try ClientWorld(#"{"a":1}"#, isStored: true)
        try world.take(.credentialChanged(token: "t1", account: "ada"))
        try world.observe("/a")
        world.answersAtOnce = false
        let write = try world.set("/a", "2")
        let transaction = try world.transact("/b") { _ in "1" }
        try world.take(.credentialChanged(token: "t2", account: "ada"))
        #expect([write, transaction].map(world.outcome) == ["open", "open"])
        try world.take(.credentialChanged(token: "t3", account: "bob"))
        #expect([write, transaction].map(world.outcome) == ["cancelled", "cancelled"])
        #expect(world.news().contains("1 value 1"))
        try world.answer()
        #expect(world.outcomes.values.allSatisfy { $0.count == 1 })
        let isForgotten = world.stored.contains { change in
            if case .removeAll = change { true } else { false }
        }
        #expect(isForgotten)
        let last = world.stored.compactMap { change -> String?? in
            guard case .account(let account) = change else { return nil }
            return account
        }.last
        #expect(last == "bob")
    }

    @Test("what was written while no one was signed in stays pending when a person signs in")
    func signingIn() throws {
        let world = try ClientWorld(isReachable: false)
        let call = try world.set("/a", "2")
        try world.take(.credentialChanged(token: "t", account: "ada"))
        #expect(world.outcome(call) == "open")
        try world.connect()
        #expect(world.outcome(call) == "done")
    }
}
