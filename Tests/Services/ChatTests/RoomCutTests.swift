import Chat
import Foundation
import HearthDatabase
import Social
import ServiceSupport
import TestSupport
import Testing

/// One after the other, operations whose clients are cut off before, within and behind each of their steps.
@Suite("cut connections in rooms")
struct RoomCutTests {
    private enum Deed: CaseIterable {
        case send, rename, invite, join, leave, remove, ban, unban, setRole, markRead
    }

    @Test(
        "cuts lose nothing, do nothing twice, and tell no error of what was done",
        arguments: TestSeed.seeds(8)
    )
    func cuts(seed: UInt64) async throws {
        let label: Comment = "seed \(seed)"
        var random = SeededGenerator(seed: seed)
        let company = try await CutCompany(isImpatient: seed.isMultiple(of: 2))
        try await company.begin(type: seed % 4 < 2 ? .public : .private, &random)
        for _ in 0..<16 {
            let deed = Deed.allCases[random.index(Deed.allCases.count)]
            try await Self.perform(deed, company, &random)
        }
        try await company.handOver(&random)
        try await company.mend(&random)
        try await company.check(label)
    }

    @Test("a second cut, before the service has looked for what was done, makes it no failure")
    func secondCut() async throws {
        let server = try RoomCompany.server()
        let cuts = Recorder<Bool>()
        let proxy = try RefusalProxy(to: server.url) { cuts.record(true) }
        let person = try Person(proxy.url)
        // Reads do not wait for a connection.
        person.database.setReadTimeout(milliseconds: 100)
        try await person.signUp(email: "\(server.unique("second-cut"))@example.com")
        let ann = try await CutCompany.guest(person)
        let room = try await ann.rooms.create(name: "Tea")
        let update = RoomUpdate(
            of: room,
            telling: .message(try RoomEvent.Message(text: "hi")),
            key: "-again",
            by: ann.uid,
            summary: "hi",
            to: [ann.uid],
        )
        #expect(try await ann.rooms.write(update, to: "send"))
        let connections = Recorder<Bool>()
        let connected = person.place(".info/connected")
        let handle = connected.observe(.value) { connections.record($0.value as? Bool ?? false) }
        try await connections.wait { $0 == [true] }
        // What the SDK does after a cut: the server has it, and refuses it.
        proxy.cutBehindRefusal()
        async let again = ann.rooms.write(update, to: "send")
        try await cuts.wait(count: 1)
        try await connections.wait { $0 == [true, false] }
        proxy.open()
        #expect(try await again)
        try await connections.wait { $0.last == true }
        #expect(try await ann.contents(room).count == 2)
        connected.removeObserver(withHandle: handle)
    }

    /// Does it by the person who may; nothing if no one may just now.
    private static func perform(
        _ deed: Deed,
        _ company: CutCompany,
        _ random: inout SeededGenerator,
    ) async throws {
        let room = company.room
        let head = company.heads[random.index(2)]
        let guest = company.guests[random.index(2)]
        let role = company.members[guest.uid]
        let isIn = role?.isIn ?? false
        switch deed {
        case .send:
            let speakers = company.people.filter { company.members[$0.uid]?.maySpeak ?? false }
            let speaker = speakers[random.index(speakers.count)]
            let text = "text \(company.events.count)"
            let content = RoomEvent.Content.message(try RoomEvent.Message(text: text))
            try await company.does(speaker, content, &random) {
                try await speaker.rooms.send(text: text, to: room)
            }
        case .rename:
            let name = "name \(company.events.count)"
            try await company.does(head, .renamedChat(name), &random) {
                try await head.rooms.rename(room, to: name)
            }
        case .invite where role == nil:
            try await company.does(head, .addedUser(guest.uid), &random) {
                try await head.rooms.invite(guest.uid, to: room)
            }
        case .join where role == nil && company.type == .public:
            try await company.does(guest, .addedUser(guest.uid), &random) {
                try await guest.rooms.join(room)
            }
        case .leave where isIn:
            try await company.does(guest, .userLeft(guest.uid), &random) {
                try await guest.rooms.leave(room)
            }
        case .remove where isIn:
            try await company.does(head, .userLeft(guest.uid), &random) {
                try await head.rooms.remove(guest.uid, from: room)
            }
        case .ban where role != .banned:
            try await company.does(head, isIn ? .userLeft(guest.uid) : nil, &random) {
                try await head.rooms.ban(guest.uid, from: room)
            }
            company.members[guest.uid] = .banned
        case .unban where role == .banned:
            try await company.does(head, nil, &random) {
                try await head.rooms.unban(guest.uid, in: room)
            }
            company.members[guest.uid] = nil
        case .setRole where isIn:
            let other: RoomRole = role == .member ? .watcher : .member
            try await company.does(head, nil, &random) {
                try await head.rooms.setRole(other, of: guest.uid, in: room)
            }
            company.members[guest.uid] = other
        case .markRead: try await company.marks(isIn ? guest : head, &random)
        case .invite, .join, .leave, .remove, .ban, .unban, .setRole: break
        }
    }
}

/// Two who look after a room, two who come and go, one who is there all the time, and what must have become of it all.
private final class CutCompany {
    let heads: [RoomGuest]
    let guests: [RoomGuest]
    /// Is never cut off.
    let witness: RoomGuest
    var people: [RoomGuest] { heads + guests + [witness] }
    private(set) var room = ""
    private(set) var type = RoomType.private
    var members: [String: RoomRole] = [:]
    /// What happened, and who did it.
    private(set) var events: [(content: RoomEvent.Content, by: String)] = []
    private var name = "Tea"
    private var unread: [String: Int] = [:]
    private var upTo: [String: EventPosition] = [:]

    /// The impatient do not wait for a connection when they read.
    init(isImpatient: Bool) async throws {
        heads = [
            try await Self.guest(isImpatient: isImpatient),
            try await Self.guest(isImpatient: isImpatient),
        ]
        guests = try await RoomCompany.guests(2)
        witness = try await RoomCompany.guest()
    }

    private static func guest(isImpatient: Bool) async throws -> RoomGuest {
        guard isImpatient else { return try await RoomCompany.guest() }
        let person = try await RoomCompany.server().guest()
        person.database.setReadTimeout(milliseconds: 100)
        return try await self.guest(person)
    }

    /// The rooms of a person who is signed in and has no name yet.
    static func guest(_ person: Person) async throws -> RoomGuest {
        let name = "c\(person.uid.prefix(20))"
        try await person.database.reference().updateChildValues([
            "users/\(person.uid)": ["username": name],
            "usernames/\(name.lowercased())": person.uid,
            "profiles/\(person.uid)": ["username": name, "name": name],
        ])
        let me = UserProfile(uid: person.uid, username: name)
        var rooms = RoomService(database: person.database, me: me)
        rooms.waits = RoomWaits { _ in await Task.yield() }
        return RoomGuest(person: person, rooms: rooms)
    }

    /// The room, made by the first, with the second as an admin.
    func begin(type: RoomType, _ random: inout SeededGenerator) async throws {
        let (ann, bea) = (heads[0], heads[1])
        self.type = type
        let others = [bea.uid, guests[0].uid, witness.uid]
        for uid in others {
            members[uid] = .member
            unread[uid] = 1
        }
        members[ann.uid] = .owner
        unread[ann.uid] = 0
        let made = Recorder<String>()
        try await whileCut(ann, &random) {
            made.record(try await ann.rooms.create(name: "Tea", type: type, inviting: others))
        }
        #expect(made.values.count == 1)
        room = made.values[0]
        events = [(.createdChat, ann.uid)]
        try await raise(bea, to: .admin, by: ann, &random)
    }

    /// The owner makes another one, less of themselves, and goes.
    func handOver(_ random: inout SeededGenerator) async throws {
        let (ann, bea) = (heads[0], heads[1])
        try await raise(bea, to: .owner, by: ann, &random)
        try await raise(ann, to: .member, by: ann, &random)
        try await does(ann, .userLeft(ann.uid), &random) { [room] in
            try await ann.rooms.leave(room)
        }
    }

    private func raise(
        _ other: RoomGuest,
        to role: RoomRole,
        by head: RoomGuest,
        _ random: inout SeededGenerator,
    ) async throws {
        try await does(head, nil, &random) { [room] in
            try await head.rooms.setRole(role, of: other.uid, in: room)
        }
        members[other.uid] = role
    }

    /// A person does something that tells this event, or none.
    func does(
        _ who: RoomGuest,
        _ content: RoomEvent.Content?,
        _ random: inout SeededGenerator,
        _ operation: @escaping @Sendable () async throws -> Void,
    ) async throws {
        try await whileCut(who, &random, operation)
        guard let content else { return }
        events.append((content, who.uid))
        switch content {
        case .addedUser(let uid):
            members[uid] = .member
            unread[uid] = 0
        case .userLeft(let uid): members[uid] = nil
        case .renamedChat(let name): self.name = name
        case .message, .deletedMessage, .createdChat: break
        }
        for (uid, role) in members where role.isIn && uid != who.uid {
            unread[uid, default: 0] += 1
        }
    }

    /// A person marks the room as read up to any event.
    func marks(_ who: RoomGuest, _ random: inout SeededGenerator) async throws {
        let there = try await witness.rooms.olderEvents(in: room, before: nil, count: 1000).records
        let event = there[random.index(there.count)]
        let isLatest = try await witness.rooms.room(room).lastEvent.key == event.key
        try await whileCut(who, &random) { [room] in
            try await who.rooms.markRead(room, upTo: event.key)
        }
        let held = isLatest ? event.position : upTo[who.uid] ?? event.position
        let position = max(held, event.position)
        upTo[who.uid] = position
        let came = there.lastIndex { $0.content == .addedUser(who.uid) } ?? 0
        let rest = there[came...].count { $0.position > position && $0.by != who.uid }
        unread[who.uid] = isLatest ? 0 : rest
    }

    /// Cuts a person off, now and then for longer than they wait for what they read.
    private func whileCut(
        _ who: RoomGuest,
        _ random: inout SeededGenerator,
        _ operation: @escaping @Sendable () async throws -> Void,
    ) async throws {
        let database = who.person.database
        while true {
            let task = Task { await RoomCompany.failure(operation) }
            for _ in 0..<random.index(4) {
                for _ in 0..<random.index(1 << random.index(14)) { await Task.yield() }
                database.goOffline()
                for _ in 0..<random.index(1 << random.index(14)) { await Task.yield() }
                database.goOnline()
            }
            let failure = await task.value
            // What fails has changed nothing; `check` counts it.
            if failure == .database(.offline) { continue }
            #expect(failure == nil)
            return
        }
    }

    /// Mends everybody's list, which nothing was left out of.
    func mend(_ random: inout SeededGenerator) async throws {
        for guest in people {
            try await whileCut(guest, &random) {
                let faults = try await guest.rooms.mend()
                #expect(faults.isEmpty)
            }
            for try await state in guest.person.place(".info/connected").snapshots() {
                if state.value as? Bool == true { break }
            }
        }
    }

    /// The room, its events and everybody's list, against what was done.
    func check(_ label: Comment) async throws {
        let known = try await witness.rooms.room(room)
        #expect(known.members == members && known.name == name, label)
        let there = try await witness.rooms.olderEvents(in: room, before: nil, count: 1000)
        #expect(there.faults.isEmpty, label)
        // In any order: of one millisecond it is the keys that decide, and those are of several clients.
        func words(_ content: RoomEvent.Content, _ by: String) -> String { "\(by) \(content)" }
        #expect(
            there.records.map { words($0.content, $0.by) }.sorted()
                == events.map { words($0.content, $0.by) }.sorted(),
            label,
        )
        for guest in people {
            let entry = try await guest.value("userRooms/\(guest.uid)/\(room)")
            guard members[guest.uid]?.isIn ?? false else {
                #expect(entry is NSNull, label)
                continue
            }
            let list = try #require(entry as? [String: Any])
            #expect(list["name"] as? String == name, label)
            #expect(list["lastEventAt"] as? Double == known.lastEvent.position.milliseconds, label)
            #expect(list["unread"] as? Int == unread[guest.uid], label)
            let read = try await guest.value("readStatus/\(room)/\(guest.uid)/upTo") as? String
            #expect(read == upTo[guest.uid]?.key, label)
        }
        let listed = try await witness.person.place("publicRooms").queryOrderedByValue()
            .queryStarting(atValue: name, childKey: room).queryLimited(toFirst: 1).getData()
        #expect(listed.hasChild(room) == (type == .public), label)
    }
}
