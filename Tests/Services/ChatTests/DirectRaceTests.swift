import Chat
import Foundation
import HearthDatabase
import ServiceSupport
import Testing
import TestSupport

@Suite("two who start the same chat")
struct DirectRaceTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.shared("social") }

    /// Eight people who all follow each other: 28 pairs, each of which starts one chat.
    @Test(
        "end in one chat with both messages, regardless of who is first",
        arguments: TestSeed.seeds(2)
    )
    func race(seed: UInt64) async throws {
        var people: [Chatter] = []
        for number in 0..<8 { people.append(try await Chatter(server, "racer\(number)")) }
        for person in people {
            for other in people where other.uid != person.uid { try await person.follow(other) }
        }
        var random = SeededGenerator(seed: seed)
        for (index, ann) in people.enumerated() {
            for bob in people[(index + 1)...] {
                try await round(ann, bob, seed: seed, &random)
            }
        }
        for person in people { #expect(try await person.copies().count == 7, "seed \(seed)") }
    }

    private func round(
        _ ann: Chatter,
        _ bob: Chatter,
        seed: UInt64,
        _ random: inout SeededGenerator,
    ) async throws {
        let label: Comment = "seed \(seed), \(ann.profile.username), \(bob.profile.username)"
        // Who knows the other under an old name writes another title; some send on at once.
        let stale = UserProfile(uid: bob.uid, username: "old-name")
        let isStale = random.index(4) == 0
        let headStart = [random.index(30), random.index(30)]
        let counts = [1 + random.index(3), 1 + random.index(3)]
        async let first = start(
            ann,
            isStale ? stale : bob.profile,
            headStart: headStart[0],
            messages: counts[0],
        )
        async let second = start(bob, ann.profile, headStart: headStart[1], messages: counts[1])
        let keys = [try await first, try await second]
        #expect(keys[0] == keys[1], label)
        let ours = try await ann.copies().values.filter { $0.members.contains(bob.uid) }
        let theirs = try await bob.copies().values.filter { $0.members.contains(ann.uid) }
        #expect(ours.map(\.key) == [keys[0]] && theirs.map(\.key) == [keys[0]], label)
        let messages = try await ann.chats.olderMessages(forChatKey: keys[0], before: nil).records
        for (person, count) in zip([ann, bob], counts) {
            let said = messages.filter { $0.sender.uid == person.uid }.map(\.content)
            #expect(said == (0..<count).map { "\($0)" }, label)
        }
        // Both copies show the message that the server had last.
        let last = try #require(messages.last)
        for copy in ours + theirs {
            #expect(copy.lastMessageAt == last.sentAt, label)
            #expect(messages.contains { $0.key == copy.lastMessageKey }, label)
        }
    }

    private func start(
        _ person: Chatter,
        _ other: UserProfile,
        headStart: Int,
        messages: Int,
    ) async throws -> String {
        for _ in 0..<headStart { await Task.yield() }
        let chat = try await person.chats.create(from: "0", with: other)
        for number in 1..<max(messages, 1) {
            try await person.chats.sendMessage("\(number)", for: chat)
        }
        return chat.key
    }
}
