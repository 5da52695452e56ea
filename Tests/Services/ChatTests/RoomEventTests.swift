import Chat
import Foundation
import HearthDatabase
import Social
import ServiceSupport
import Testing

@Suite("events of a room as they happen, and the older ones")
struct RoomEventTests {
    private static func texts(_ changes: [EventChange]) -> [String] {
        changes.compactMap { change in
            switch change {
            case .added(let event): "+\(text(event))"
            case .removed(let event): "-\(text(event))"
            case .changed, .faulty: nil
            case .caughtUp: "."
            }
        }
    }

    private static func text(_ event: RoomEvent) -> String {
        if case .message(let message) = event.content, let text = message.text {
            text
        } else {
            "note"
        }
    }

    @Test(
        "the newest are reported, then each that comes; none that is pushed out is taken for gone"
    )
    func newest() async throws {
        let ann = try await RoomCompany.guest()
        let bea = try await RoomCompany.guest()
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        for number in 1...5 { try await ann.rooms.send(text: "\(number)", to: room) }
        let reported = Recorder<EventChange>()
        let observation = bea.rooms.observeEvents(in: room, newest: 3) { reported.record($0) }
        try await reported.wait { $0.contains(.caughtUp) }
        for number in 6...9 { try await ann.rooms.send(text: "\(number)", to: room) }
        let changes = try await reported.wait { Self.texts($0).last == "+9" }
        #expect(Self.texts(changes) == ["+3", "+4", "+5", ".", "+6", "+7", "+8", "+9"])
        observation.remove()

        // Only what is newer than the newest that is held.
        let held = changes.compactMap { if case .added(let event) = $0 { event } else { nil } }
        let later = Recorder<EventChange>()
        let again = bea.rooms.observeEvents(in: room, newest: nil, after: held[4].position) {
            later.record($0)
        }
        try await later.wait { Self.texts($0) == ["+8", "+9", "."] }
        try await ann.rooms.send(text: "10", to: room)
        try await later.wait { Self.texts($0) == ["+8", "+9", ".", "+10"] }
        again.remove()
        #expect(Self.texts(reported.values).last == "+9")
    }

    @Test("older pages go back to the first event, each event once and in order")
    func pages() async throws {
        let ann = try await RoomCompany.guest()
        let room = try await ann.rooms.create(name: "Tea")
        // Several at once: some have the same time, and the key decides.
        let numbers = Array(1...23)
        _ = try await numbers.mapInParallel { number in
            try await ann.rooms.send(text: "\(number)", to: room)
        }
        var held: [RoomEvent] = []
        var pages = 0
        while true {
            let page = try await ann.rooms.olderEvents(
                in: room,
                before: held.first?.position,
                count: 5,
            )
            if page.records.isEmpty { break }
            #expect(page.records == page.records.sorted { $0.position < $1.position })
            held = page.records + held
            pages += 1
        }
        #expect(pages == 5)
        #expect(held.first?.content == .createdChat)
        #expect(Set(held.map(Self.text)) == Set(numbers.map(String.init) + ["note"]))
        #expect(held.count == 24 && held == held.sorted { $0.position < $1.position })
    }

    @Test("keys that a wrong clock has made change no order: the server's time decides it")
    func wrongClocks() async throws {
        let (ann, bea) = (try await RoomCompany.guest(), try await RoomCompany.guest())
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        // Ann's keys are of the far future, Bea's of 1970, and each one's go backwards.
        var sent: [String] = []
        for number in 0...9 {
            let (writer, first) = number.isMultiple(of: 2) ? (ann, "zz") : (bea, "--")
            let key = "\(first)\(9 - number)"
            sent.append(try await writer.rooms.send(text: "\(number)", key: key, to: room))
        }
        let events = try await ann.rooms.olderEvents(in: room, before: nil).records
        #expect(events == events.sorted { $0.position < $1.position })
        #expect(Set(events.map(\.key)).isSuperset(of: sent) && events.count == 11)
        let times = sent.compactMap { key in events.first { $0.key == key }?.at }
        #expect(times == times.sorted() && times.count == 10)
    }

    @Test(
        "what the rules refuse is reported as there, as gone, and as an error once",
        arguments: [1, 50]
    )
    func rollback(window: Int) async throws {
        let ann = try await RoomCompany.guest()
        let bea = try await RoomCompany.guest()
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        try await ann.rooms.send(text: "hello", to: room)
        try await ann.rooms.setRole(.watcher, of: bea.uid, in: room)
        let reported = Recorder<EventChange>()
        let rooms = Recorder<Listing<RoomSummary>>()
        let events = bea.rooms.observeEvents(in: room, newest: window) { reported.record($0) }
        let list = bea.rooms.observeRooms { rooms.record($0) }
        let first = try await reported.wait { $0.contains(.caughtUp) }
        try await rooms.wait { $0.last?.records.first?.lastEventText == "hello" }
        // The window of one shows the latest event, and until it is refused Bea's is dated by her own clock.
        for case .added(let event) in first { try await bea.isPast(event) }
        let failure = await RoomCompany.failure {
            try await bea.rooms.send(text: "let me", to: room)
        }
        #expect(failure == .refused("send to this room"))
        let changes = try await reported.wait { Self.texts($0).contains("-let me") }
        let texts = Self.texts(changes)
        #expect(texts.filter { $0 == "+let me" }.count == 1)
        #expect(texts.filter { $0.hasPrefix("-") } == ["-let me"])
        try await rooms.wait { listings in
            listings.contains { $0.records.first?.lastEventText == "let me" }
                && listings.last?.records.first?.lastEventText == "hello"
        }
        #expect(try await ann.contents(room).count == 2)
        events.remove()
        list.remove()
    }

    @Test("the person who is put out is notified once that they see the events no more")
    func putOut() async throws {
        let ann = try await RoomCompany.guest()
        let bea = try await RoomCompany.guest()
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        let reported = Recorder<EventChange>()
        let ended = Recorder<ServiceError>()
        let observation = bea.rooms.observeEvents(
            in: room,
            with: { reported.record($0) },
            withCancel: { ended.record($0) },
        )
        try await reported.wait { $0.contains(.caughtUp) }
        try await ann.rooms.remove(bea.uid, from: room)
        try await ended.wait(count: 1)
        // A read that comes back afterwards: whatever was on its way has come by then.
        _ = try await bea.value("userRooms/\(bea.uid)")
        #expect(ended.values == [.refused("see the events of this room")])
        observation.remove()
    }

    @Test("typing is seen by the others, ends with the message, and with the connection")
    func typing() async throws {
        let ann = try await RoomCompany.guest()
        let bea = try await RoomCompany.guest()
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        let reported = Recorder<[String]>()
        let own = Recorder<[String]>()
        let observations = [
            ann.rooms.observeTyping(in: room) { reported.record($0) },
            bea.rooms.observeTyping(in: room) { own.record($0) },
        ]
        try await reported.wait(count: 1)
        try await bea.rooms.startTyping(in: room)
        try await reported.wait(until: { $0.last == [bea.uid] })
        try await bea.rooms.send(text: "hello", to: room)
        try await reported.wait(until: { $0 == [[], [bea.uid], []] })
        try await bea.rooms.startTyping(in: room)
        try await reported.wait(until: { $0.last == [bea.uid] })
        bea.rooms.stopTyping(in: room)
        try await reported.wait(until: { $0.last == [] && $0.count == 5 })

        // Cut off while typing, and back: then shown anew.
        try await bea.rooms.startTyping(in: room)
        try await reported.wait(until: { $0.count == 6 })
        bea.person.database.goOffline()
        try await reported.wait(until: { $0.last == [] && $0.count == 7 })
        bea.person.database.goOnline()
        try await reported.wait(until: { $0.last == [bea.uid] && $0.count == 8 })
        // What is not acknowledged would be sent once more: the answer to this comes behind that.
        _ = try await bea.rooms.room(room)
        // The new connection too takes it along.
        bea.person.database.goOffline()
        try await reported.wait(until: { $0.last == [] && $0.count == 9 })
        bea.rooms.stopTyping(in: room)
        bea.person.database.goOnline()
        try await bea.rooms.send(text: "back", to: room)
        #expect(reported.values.count == 9 && reported.values.last == [])
        #expect(own.values.allSatisfy { $0.isEmpty })
        for observation in observations { observation.remove() }
    }

    @Test("a person who is cut off is there for no one, and was seen at the server's time")
    func presence() async throws {
        let ann = try await RoomCompany.guest()
        let bea = try await RoomCompany.guest()
        let place = bea.person.place("presence/\(bea.uid)/s1")
        try await place.onDisconnectRemoveValue()
        try await bea.person.place("lastOnline/\(bea.uid)")
            .onDisconnectSetValue(ServerValue.timestamp())
        try await place.setValue(
            ["online": true, "at": ServerValue.timestamp()] as [String: Any]
        )
        let since = try #require(try await ann.value("presence/\(bea.uid)/s1/at") as? Double)
        let there = Recorder<Bool>()
        let last = Recorder<Double>()
        let observations = [
            ann.person.place("presence/\(bea.uid)").observe(.value) { there.record($0.exists()) },
            ann.person.place("lastOnline/\(bea.uid)").observe(.value) { snapshot in
                if let time = snapshot.value as? Double { last.record(time) }
            },
        ]
        try await there.wait { $0.last == true }
        bea.person.database.goOffline()
        try await there.wait { $0.last == false }
        #expect(try await last.wait(count: 1)[0] >= since)
        for handle in observations {
            ann.person.place("presence/\(bea.uid)").removeObserver(withHandle: handle)
            ann.person.place("lastOnline/\(bea.uid)").removeObserver(withHandle: handle)
        }
    }
}
