import Chat
import Foundation
import HearthDatabase
import ServiceSupport
import TestSupport
import Testing

@Suite("cut connections")
struct DirectCutTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.shared("social") }

    /// Cuts come before a write is sent, between it and its acknowledgement, and behind that.
    @Test("cuts lose no message and send none twice", arguments: TestSeed.seeds(6))
    func cuts(seed: UInt64) async throws {
        let label: Comment = "seed \(seed)"
        var random = SeededGenerator(seed: seed)
        let bob = try await Chatter(server, "bob")
        let ann = try await Chatter(server, "ann", follows: bob)
        let database = ann.person.database
        async let started = ann.chats.create(from: "hi", with: bob.profile)
        for _ in 0..<random.index(40) { await Task.yield() }
        database.goOffline()
        database.goOnline()
        let chat = try await started
        let reported = Recorder<OutgoingMessage>()
        let outbox = Outbox(ann.chats) { reported.record($0) }
        let texts = (0..<12).map { "text \($0)" }
        for (number, text) in texts.enumerated() {
            try outbox.send(text, for: chat)
            if random.index(2) == 0 { continue }
            // Counted in what this client receives, not in time; of what is sent no more than two things are reported.
            let count = min(reported.values.count + random.index(2), 2 * (number + 1))
            try await reported.wait(count: count)
            for _ in 0..<random.index(200) { await Task.yield() }
            database.goOffline()
            database.goOnline()
        }
        await outbox.settled()
        #expect(outbox.messages.isEmpty, label)
        #expect(try await bob.contents(chat.key) == ["hi"] + texts, label)
        #expect(try await bob.copies() == ann.copies(), label)
        #expect(try await bob.copies()[chat.key]?.lastMessage.hasSuffix("text 11") == true, label)
        try await reported.wait(count: 2 * texts.count)
        await ann.person.queueIsEmpty()
        #expect(reported.values.count == 2 * texts.count, label)
    }
}
