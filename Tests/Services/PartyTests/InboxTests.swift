import Foundation
import HearthDatabase
import Party
import ServiceSupport
import Testing

@Suite("inboxes")
struct InboxTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.parties() }

    @Test("two guests answer at once while the owner is away, and the owner starts twice")
    func twoAnswers() async throws {
        let (ann, bob, cyd) = try await server.circle()
        let key = try await ann.parties.create(description: "Tea", date: midsummer).key
        let (toBob, toCyd) = (try await bob.question(), try await cyd.question())
        async let yes: Void = bob.parties.answer(toBob, isComing: true)
        async let no: Void = cyd.parties.answer(toCyd, isComing: false)
        _ = try await (yes, no)
        // On two devices at the same moment, and on each once more.
        let devices = [try await ann.device(server.url), try await ann.device(server.url)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in devices { group.addTask { try await device.start() } }
            try await group.waitForAll()
        }
        for device in devices {
            try await device.start()
            try await expect(
                device,
                at: "parties/\(key)/guests",
                [bob.uid: true, cyd.uid: false]
            )
            try await expect(device, at: "messages/\(ann.uid)", nil)
        }
    }

    @Test("answers are applied in the order in which the server got them, whatever their keys")
    func order() async throws {
        let (ann, bob, cyd) = try await server.circle()
        let key = try await ann.parties.create(description: "Tea", date: midsummer).key
        for (guest, first, second) in [(bob, "accept", "refuse"), (cyd, "refuse", "accept")] {
            // A clock that is a day ahead makes the first key, one that is a day behind the second.
            var times: [Date?] = []
            for (name, content) in [("-zzz", first), ("-000", second)] {
                var message = guest.message(to: ann.uid, "party_invite", content, party: key)
                message["sentAt"] = ServerValue.timestamp()
                let name = "\(name)\(guest.uid)"
                // Within a millisecond it is the keys that decide: said again, until it is later.
                var time: Date?
                repeat {
                    #expect(try await guest.mayWrite(["messages/\(ann.uid)/\(name)": message]))
                    let messages = try await ann.inbox.messages().records
                    time = try #require(messages.first { $0.key == name }?.sentAt)
                } while times.last == time
                times.append(time)
            }
        }
        try await ann.start()
        try await expect(ann, at: "parties/\(key)/guests", [bob.uid: false, cyd.uid: true])
    }

    @Test(
        "who follows an inbox is notified of each message once, and answers are applied as they come"
    )
    func live() async throws {
        let (ann, bob, cyd) = try await server.circle()
        let reported = Recorder<InboxEvent>()
        let following = Task { try await ann.inbox.follow { reported.record($0) } }
        let key = try await ann.parties.create(description: "Tea", date: midsummer).key
        try await bob.parties.answer(bob.question(), isComing: true)
        try await reported.wait(count: 1)
        try await cyd.parties.answer(cyd.question(), isComing: false)
        try await reported.wait(count: 2)
        let eve = try await server.partygoer("Eve")
        try await eve.friends.request(ann.uid)
        let events = try await reported.wait(count: 3)
        following.cancel()
        let summary = events.map { event in
            switch event {
            case .asked(let message): "asked by \(message.from)"
            case .applied(let message): "\(message.content) of \(message.from)"
            case .refused(let message, let error): "refused \(message.from) \(error)"
            case .faulty(let fault): "\(fault)"
            }
        }
        #expect(
            summary == ["accept of \(bob.uid)", "refuse of \(cyd.uid)", "asked by \(eve.uid)"]
        )
        try await expect(ann, at: "parties/\(key)/guests", [bob.uid: true, cyd.uid: false])
        #expect(try await ann.question().from == eve.uid)
    }

    @Test("answers that come while there is no connection are applied when there is one")
    func reconnected() async throws {
        let (ann, bob, _) = try await server.circle()
        let reported = Recorder<InboxEvent>()
        let following = Task { try await ann.inbox.follow { reported.record($0) } }
        let key = try await ann.parties.create(description: "Tea", date: midsummer).key
        ann.database.goOffline()
        try await bob.parties.answer(bob.question(), isComing: true)
        ann.database.goOnline()
        try await reported.wait(count: 1)
        following.cancel()
        try await following.value
        try await expect(ann, at: "parties/\(key)/guests/\(bob.uid)", true)
    }

    @Test("what finds no connection is done again when there is one, and no other failure is")
    func connected() async throws {
        let ann = try await server.partygoer("Ann")
        let tries = Recorder<Int>()
        ann.database.goOffline()
        let uid = Task {
            try await ann.inbox.connected {
                tries.record(tries.values.count)
                if tries.values.count == 1 { throw ServiceError.database(.offline) }
                return try await ann.accounts.me().uid
            }
        }
        try await tries.wait(count: 1)
        ann.database.goOnline()
        #expect(try await uid.value == ann.uid)
        #expect(tries.values.count > 1)
        await #expect(throws: ServiceError.notFound("tea")) {
            try await ann.inbox.connected { throw ServiceError.notFound("tea") }
        }
    }

    @Test("an observer is notified of the whole inbox, and of nothing once it is removed")
    func observing() async throws {
        let (ann, bob) = (try await server.partygoer("Ann"), try await server.partygoer("Bob"))
        let reported = Recorder<Int>()
        let observation = ann.inbox.observe { reported.record($0.records.count) }
        try await reported.wait(untilLast: { $0 == 0 })
        try await bob.friends.request(ann.uid)
        try await reported.wait(untilLast: { $0 == 1 })
        observation.remove()
        try await ann.inbox.dismiss(ann.question())
        #expect(try await ann.inbox.messages().records.isEmpty)
        #expect(reported.values.last == 1)
    }

    @Test("a message that makes no sense is skipped and reported once, and the others are applied")
    func halfValid() async throws {
        // The sample rules let nothing in that makes no sense.
        let server = try ServiceServer.shared("open")
        let (ann, bob, cyd) = try await server.circle()
        let key = try await ann.parties.create(description: "Tea", date: midsummer).key
        var nonsense = bob.message(to: ann.uid, "party_invite", "invite", party: key)
        nonsense["guest"] = "a/b"
        #expect(try await bob.mayWrite(["messages/\(ann.uid)/n": nonsense]))
        try await cyd.parties.answer(cyd.question(), isComing: true)
        let fault = RecordFault(path: "messages/\(ann.uid)/n", reason: "guest: it is no user")
        let listing = try await ann.inbox.messages()
        #expect(listing.faults.map(\.description) == [fault.description])
        let reported = Recorder<InboxEvent>()
        let following = Task { try await ann.inbox.follow { reported.record($0) } }
        try await reported.wait(count: 2)
        try await bob.friends.request(cyd.uid)
        try await bob.parties.answer(bob.question(), isComing: false)
        try await reported.wait(count: 3)
        following.cancel()
        #expect(reported.values.filter { $0 == .faulty(listing.faults[0]) }.count == 1)
        try await expect(ann, at: "parties/\(key)/guests", [bob.uid: false, cyd.uid: true])
    }

    @Test("an answer whose consequences are refused is reported once while its inbox is followed")
    func refusedAnswer() async throws {
        // Without an entry of one's own there is nowhere to note a friend.
        let (gus, email) = try await server.newcomer("Gus")
        let bob = try await server.partygoer("Bob")
        let request = gus.message(to: bob.uid, "friend_request", "invite")
        #expect(try await gus.mayWrite(["messages/\(bob.uid)/r": request]))
        try await bob.friends.accept(bob.question())
        let reported = Recorder<InboxEvent>()
        let following = Task { try await gus.inbox.follow { reported.record($0) } }
        try await reported.wait(count: 1)
        for (count, name) in [(2, "Cyd"), (3, "Dan"), (4, "Eve")] {
            let other = try await server.partygoer(name)
            try await other.friends.request(gus.uid)
            try await reported.wait(count: count)
            withExtendedLifetime(other) {}
        }
        let events = reported.values
        following.cancel()
        let answer = try #require(try await gus.inbox.messages().records.first { !$0.isQuestion })
        let purpose = "apply an answer of \(bob.uid)"
        #expect(events.filter { $0 == .refused(answer, .refused(purpose)) }.count == 1)
        let asked = events.count { event in
            if case .asked = event { true } else { false }
        }
        #expect(asked == 3 && events.count == 4)
        // Once there is an entry it is applied.
        try await gus.accounts.signUp(email: email, name: "Gus")
        #expect(try await gus.inbox.apply() == [.applied(answer)])
        #expect(try await gus.accounts.me().friends == [bob.uid])
    }

    @Test("an old yes puts no one back on the list that the owner took off")
    func takenOff() async throws {
        let (ann, bob, _) = try await server.circle()
        let key = try await ann.parties.create(description: "Tea", date: midsummer).key
        try await bob.parties.answer(bob.question(), isComing: true)
        #expect(try await ann.mayWrite(["parties/\(key)/guests/\(bob.uid)": NSNull()]))
        try await ann.start()
        try await expect(ann, at: "parties/\(key)/guests/\(bob.uid)", nil)
        try await expect(ann, at: "messages/\(ann.uid)", nil)
        #expect(try await bob.inbox.mend() == [key])
        try await expect(bob, at: "users/\(bob.uid)/attendingParties", nil)
    }
}
