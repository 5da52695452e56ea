import Chat
import Foundation
import HearthDatabase
import Social
import ServiceSupport
import Testing

@Suite("many who act in a room at one moment")
struct RoomRaceTests {
    private static let crowd = 16

    @Test("16 who send at once count exactly, for everybody")
    func unread() async throws {
        let people = try await RoomCompany.guests(Self.crowd)
        let silent = try await RoomCompany.guest()
        let room = try await people[0].rooms.create(
            name: "Tea",
            inviting: people.map(\.uid) + [silent.uid],
        )
        let rounds = 5
        _ = try await people.mapInParallel { person in
            for round in 1...rounds { try await person.rooms.send(text: "\(round)", to: room) }
        }
        // Those who were brought in have not seen the making of the room either.
        let sent = Self.crowd * rounds
        #expect(try await silent.unread(room) == sent + 1)
        for (index, person) in people.enumerated() {
            #expect(try await person.unread(room) == sent - rounds + (index == 0 ? 0 : 1))
        }
        let events = try await silent.rooms.olderEvents(in: room, before: nil, count: 1000)
        #expect(events.records.count == sent + 1)
        let last = try #require(events.records.last)
        let shown = try await silent.rooms.room(room).lastEvent
        #expect(events.records.contains(shown) && shown.at == last.at)
        // Everybody's list shows the same last event.
        for person in people {
            let at = try await person.value("userRooms/\(person.uid)/\(room)/lastEventAt")
            #expect(at as? Double == last.position.milliseconds)
        }
    }

    @Test("16 who leave at once have all left, and no one's list has the room any more")
    func leaving() async throws {
        let people = try await RoomCompany.guests(Self.crowd)
        let host = try await RoomCompany.guest()
        let room = try await host.rooms.create(name: "Tea", inviting: people.map(\.uid))
        _ = try await people.mapInParallel { try await $0.rooms.leave(room) }
        #expect(try await host.rooms.room(room).members == [host.uid: .owner])
        for person in people {
            #expect(try await person.value("userRooms/\(person.uid)") is NSNull)
        }
        #expect(try await host.unread(room) == Self.crowd)
        try await host.rooms.send(text: "anybody?", to: room)
        try await host.rooms.leave(room)
    }

    @Test("what is sent while a person leaves and comes back, again and again, all gets through")
    func comingBack() async throws {
        let people = try await RoomCompany.guests(4)
        let room = try await people[0].rooms.create(
            name: "Tea",
            type: .public,
            inviting: people.map(\.uid),
        )
        let rounds = 40
        try await withThrowingTaskGroup(of: Void.self) { group in
            for person in people.prefix(2) {
                group.addTask {
                    for round in 1...rounds {
                        try await person.rooms.send(text: "\(round)", to: room)
                    }
                }
            }
            for person in people.suffix(2) {
                group.addTask {
                    for _ in 1...rounds / 2 {
                        try await person.rooms.leave(room)
                        try await person.rooms.join(room)
                    }
                }
            }
            try await group.waitForAll()
        }
        let contents = try await people[0].contents(room)
        #expect(contents.count == 2 * rounds + 2 * rounds + 1)
    }

    @Test("16 who join, and send as soon as they are in, all get through")
    func joining() async throws {
        let people = try await RoomCompany.guests(Self.crowd)
        let host = try await RoomCompany.guest()
        let room = try await host.rooms.create(name: "Open", type: .public)
        _ = try await people.mapInParallel { person in
            try await person.rooms.join(room)
            try await person.rooms.send(text: "hello", to: room)
            if person.uid < people[0].uid { try await person.rooms.leave(room) }
        }
        let leavers = people.filter { $0.uid < people[0].uid }
        let known = try await host.rooms.room(room)
        #expect(known.people.count == 1 + Self.crowd - leavers.count)
        // The host was there all the time, so no one has left the host out.
        #expect(try await host.unread(room) == 2 * Self.crowd + leavers.count)
    }

    @Test("of two owners who put each other's people out, name it and change roles, all succeed")
    func owners() async throws {
        let (ann, bea) = (try await RoomCompany.guest(), try await RoomCompany.guest())
        let (cid, dan) = (try await RoomCompany.guest(), try await RoomCompany.guest())
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea, cid, dan].map(\.uid))
        try await ann.rooms.setRole(.owner, of: bea.uid, in: room)
        let owners = [(ann, cid, "Ann's"), (bea, dan, "Bea's")]
        _ = try await owners.mapInParallel { owner, guest, name in
            try await owner.rooms.rename(room, to: name)
            try await owner.rooms.remove(guest.uid, from: room)
        }
        let known = try await ann.rooms.room(room)
        #expect(known.members == [ann.uid: .owner, bea.uid: .owner])
        for owner in [ann, bea] {
            let name = try await owner.value("userRooms/\(owner.uid)/\(room)/name")
            #expect(name as? String == known.name)
        }
        let events = try await ann.rooms.olderEvents(in: room, before: nil).records
        let contents = events.map(\.content)
        for content in [RoomEvent.Content.userLeft(cid.uid), .userLeft(dan.uid)] {
            #expect(contents.count { $0 == content } == 1)
        }
        // Both names may have been given in one millisecond; then it is the keys that decide what is shown last.
        let names = events.filter { if case .renamedChat = $0.content { true } else { false } }
        let last = names.filter { $0.at == names.last?.at }.map(\.content)
        #expect(names.count == 2 && last.contains(.renamedChat(known.name)))
    }

    @Test("of two owners who put out the same person, one succeeds, and it is reported once")
    func sameTarget() async throws {
        let (ann, bea) = (try await RoomCompany.guest(), try await RoomCompany.guest())
        let cid = try await RoomCompany.guest()
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid, cid.uid])
        try await ann.rooms.setRole(.owner, of: bea.uid, in: room)
        let failures = try await [ann, bea].mapInParallel { owner in
            await RoomCompany.failure { try await owner.rooms.remove(cid.uid, from: room) }
        }
        #expect(failures.filter { $0 == nil }.count == 1)
        #expect(failures.contains(.notFound("member of this room with this account")))
        #expect(try await ann.contents(room).filter { $0 == .userLeft(cid.uid) }.count == 1)
    }

    @Test("two owners who each take the other's role away leave the room with one owner")
    func mutiny() async throws {
        let (ann, bea) = (try await RoomCompany.guest(), try await RoomCompany.guest())
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        try await ann.rooms.setRole(.owner, of: bea.uid, in: room)
        let failures = try await [(ann, bea), (bea, ann)].mapInParallel { owner, other in
            await RoomCompany.failure {
                try await owner.rooms.setRole(.member, of: other.uid, in: room)
            }
        }
        #expect(failures.filter { $0 == nil }.count == 1)
        let roles = try await ann.rooms.room(room).members.values
        #expect(Set(roles) == [.owner, .member])
    }

    @Test(
        "an owner who makes less of themselves, when another owner has done so, gets no error"
    )
    func ownRole() async throws {
        let (ann, bea) = (try await RoomCompany.guest(), try await RoomCompany.guest())
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        try await ann.rooms.setRole(.owner, of: bea.uid, in: room)
        let roles = Recorder<RoomRole?>()
        let observation = ann.rooms.observeRoom(room) { result in
            if case .success(let room) = result { roles.record(room.role(of: ann.uid)) }
        }
        try await roles.wait(count: 1)
        ann.person.database.goOffline()
        async let lowered: Void = ann.rooms.setRole(.member, of: ann.uid, in: room)
        try await roles.wait { $0.last == .member }
        // As after a cut: the server has it already when the update comes once more.
        try await bea.rooms.setRole(.member, of: ann.uid, in: room)
        ann.person.database.goOnline()
        try await lowered
        #expect(try await bea.rooms.room(room).members == [ann.uid: .member, bea.uid: .owner])
        // The person who is no owner is refused, though the role is the one they have.
        let again = await RoomCompany.failure {
            try await ann.rooms.setRole(.member, of: ann.uid, in: room)
        }
        #expect(again == .refused("change their role in this room"))
        observation.remove()
    }

    @Test("a ban that two take back, and one that two set, are done for both")
    func bans() async throws {
        let (ann, bea) = (try await RoomCompany.guest(), try await RoomCompany.guest())
        let (cid, dan) = (try await RoomCompany.guest(), try await RoomCompany.guest())
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        try await ann.rooms.setRole(.admin, of: bea.uid, in: room)
        try await ann.rooms.ban(cid.uid, from: room)
        let seen = Recorder<Room>()
        let observation = bea.rooms.observeRoom(room) { result in
            if case .success(let room) = result { seen.record(room) }
        }
        try await seen.wait(count: 1)
        // Known here without a connection, as who is to be banned must be.
        let names = Recorder<Bool>()
        let name = bea.person.place("users/\(dan.uid)/username")
        let handle = name.observe(.value) { names.record($0.exists()) }
        try await names.wait { $0 == [true] }
        bea.person.database.goOffline()
        async let unbanned: Void = bea.rooms.unban(cid.uid, in: room)
        async let banned: Void = bea.rooms.ban(dan.uid, from: room)
        try await seen.wait {
            $0.last?.role(of: cid.uid) == nil && $0.last?.role(of: dan.uid) == .banned
        }
        // As after a cut: done already, and Bea, who did it, is an admin no more.
        try await ann.rooms.unban(cid.uid, in: room)
        try await ann.rooms.ban(dan.uid, from: room)
        try await ann.rooms.setRole(.member, of: bea.uid, in: room)
        bea.person.database.goOnline()
        try await unbanned
        try await banned
        #expect(
            try await ann.rooms.room(room).members
                == [ann.uid: .owner, bea.uid: .member, dan.uid: .banned]
        )
        name.removeObserver(withHandle: handle)
        observation.remove()
    }

    @Test("what was sent without a connection, to people of whom one has left since, arrives once")
    func stale() async throws {
        let (ann, bea) = (try await RoomCompany.guest(), try await RoomCompany.guest())
        let cid = try await RoomCompany.guest()
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid, cid.uid])
        let changes = Recorder<EventChange>()
        let observations = [
            ann.rooms.observeRoom(room) { _ in },
            ann.rooms.observeEvents(in: room) { changes.record($0) },
        ]
        try await changes.wait { $0.contains(.caughtUp) }
        _ = try await ann.rooms.room(room)
        ann.person.database.goOffline()
        async let sent = ann.rooms.send(text: "hi", to: room)
        try await changes.wait { $0.last?.event?.by == ann.uid && $0.count == 3 }
        // The update that waits has Bea in it.
        try await bea.rooms.leave(room)
        ann.person.database.goOnline()
        let key = try await sent
        #expect(try await ann.rooms.room(room).lastEvent.key == key)
        #expect(
            try await cid.saw(
                [
                    .createdChat, .userLeft(bea.uid), .message(try RoomEvent.Message(text: "hi")),
                ],
                in: room
            )
        )
        #expect(try await cid.unread(room) == 3)
        #expect(try await bea.value("userRooms/\(bea.uid)") is NSNull)
        for observation in observations { observation.remove() }
    }

    @Test(
        "who leaves without a connection, and was put out meanwhile, is gone and notified of no error"
    )
    func putOutMeanwhile() async throws {
        let (ann, bea) = (try await RoomCompany.guest(), try await RoomCompany.guest())
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        let reported = Recorder<Int>()
        let observation = bea.rooms.observeRoom(room) { result in
            if case .success(let room) = result { reported.record(room.people.count) }
        }
        try await reported.wait(until: { $0 == [2] })
        bea.person.database.goOffline()
        async let left: Void = bea.rooms.leave(room)
        try await reported.wait(until: { $0 == [2, 1] })
        try await ann.rooms.ban(bea.uid, from: room)
        bea.person.database.goOnline()
        try await left
        #expect(try await ann.rooms.room(room).role(of: bea.uid) == .banned)
        #expect(try await ann.saw([.createdChat, .userLeft(bea.uid)], in: room))
        observation.remove()
    }

    @Test(
        "a ban holds, whether they are in, come in at that moment, or never were",
        arguments: 1...4
    )
    func ban(round: Int) async throws {
        let (ann, bea) = (try await RoomCompany.guest(), try await RoomCompany.guest())
        let room = try await ann.rooms.create(name: "Open", type: .public)
        async let joined = RoomCompany.failure { try await bea.rooms.join(room) }
        try await ann.rooms.ban(bea.uid, from: room)
        let failure = await joined
        #expect(failure == nil || failure?.isRefusal == true)
        #expect(try await ann.rooms.room(room).members == [ann.uid: .owner, bea.uid: .banned])
        #expect(try await bea.value("userRooms/\(bea.uid)") is NSNull)
        // The person who came in was seen to leave.
        let contents = try await ann.contents(room)
        #expect(contents.contains(.addedUser(bea.uid)) == contents.contains(.userLeft(bea.uid)))
    }

    @Test("an event that a program has named before it sends it has that key, and is reported once")
    func named() async throws {
        let ann = try await RoomCompany.guest()
        let room = try await ann.rooms.create(name: "Tea")
        let key = try ann.rooms.newEventKey(in: room)
        #expect(try await ann.rooms.send(text: "hi", key: key, to: room) == key)
        #expect(try await ann.rooms.room(room).lastEvent.key == key)
        #expect(throws: ServiceError.self) { try ann.rooms.newEventKey(in: "a/b") }
    }

    @Test("an update that the server has already, sent again after a cut, is done and counts once")
    func again() async throws {
        let (ann, bea) = (try await RoomCompany.guest(), try await RoomCompany.guest())
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        let update = RoomUpdate(
            of: room,
            telling: .message(try RoomEvent.Message(text: "hi")),
            key: "-again",
            by: ann.uid,
            summary: "hi",
            to: [ann.uid, bea.uid],
        )
        #expect(try await ann.rooms.write(update, to: "send"))
        #expect(try await ann.rooms.write(update, to: "send"))
        #expect(try await bea.unread(room) == 2)
        #expect(try await ann.contents(room).count == 2)
    }

    @Test("a list that an event was not written into is mended, and exactly")
    func mending() async throws {
        let (ann, bea) = (try await RoomCompany.guest("Ann"), try await RoomCompany.guest())
        let room = try await ann.rooms.create(name: "Tea", inviting: [bea.uid])
        // As a sender does who looked at the members before Bea came.
        for text in ["one", "two"] {
            let update = RoomUpdate(
                of: room,
                telling: .message(try RoomEvent.Message(text: text)),
                key: "-\(text)",
                by: ann.uid,
                summary: text,
                to: [ann.uid],
            )
            #expect(try await ann.rooms.write(update, to: "send"))
        }
        #expect(try await bea.unread(room) == 1)
        _ = try await [1, 2].mapInParallel { _ in try await bea.rooms.mend() }
        #expect(try await bea.unread(room) == 3)
        let entry = try await bea.value("userRooms/\(bea.uid)/\(room)/lastEventText")
        #expect(entry as? String == "two")
        try await ann.rooms.send(text: "three", to: room)
        try await bea.rooms.mend()
        #expect(try await bea.unread(room) == 4)
    }
}

extension EventChange {
    /// The event that it is about.
    fileprivate var event: RoomEvent? {
        switch self {
        case .added(let event), .changed(let event), .removed(let event): event
        case .faulty, .caughtUp: nil
        }
    }
}
