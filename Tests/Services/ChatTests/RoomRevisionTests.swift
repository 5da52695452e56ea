import Chat
import HearthDatabase
import ServiceSupport
import Testing

@Suite("what becomes of what was said in a room")
struct RoomRevisionTests {
    /// An owner, an admin, a member and a watcher in a room where each of the first three has said something.
    private struct Company {
        let owner, admin, member, watcher: RoomGuest
        let room: String
        /// What the first three said, in this order.
        let said: [String]

        init() async throws {
            let guests = try await RoomCompany.guests(4)
            (owner, admin, member, watcher) = (guests[0], guests[1], guests[2], guests[3])
            room = try await owner.rooms.create(name: "Tea", inviting: guests[1...].map(\.uid))
            try await owner.rooms.setRole(.admin, of: admin.uid, in: room)
            try await owner.rooms.setRole(.watcher, of: watcher.uid, in: room)
            var said: [String] = []
            for (guest, text) in zip(guests, ["one", "two", "three"]) {
                said.append(try await guest.rooms.send(text: text, to: room))
            }
            self.said = said
        }

        func event(_ key: String) async throws -> RoomEvent? {
            try await watcher.rooms.olderEvents(in: room, before: nil).records
                .first { $0.key == key }
        }

        func listed(_ guest: RoomGuest) async throws -> String? {
            try await guest.value("userRooms/\(guest.uid)/\(room)/lastEventText") as? String
        }
    }

    @Test(
        "a text is changed by the person who wrote it, in the room and the lists too, and is marked"
    )
    func edits() async throws {
        let company = try await Company()
        let (room, said, member) = (company.room, company.said, company.member)
        let before = try await company.owner.unread(room)
        try await member.rooms.edit(said[2], to: "three!", in: room)
        guard case .message(let message) = try #require(try await company.event(said[2])).content
        else { return #expect(Bool(false), "it is no message any more") }
        #expect(message.text == "three!" && message.editedAt != nil)
        #expect(try await company.watcher.rooms.room(room).lastEvent == company.event(said[2]))
        for guest in [company.owner, member, company.watcher] {
            #expect(try await company.listed(guest) == "three!")
        }
        #expect(try await company.owner.unread(room) == before)
        try await company.owner.rooms.edit(said[0], to: "1", in: room)
        #expect(try await company.listed(company.owner) == "three!")
        for guest in [company.owner, company.admin, company.watcher] {
            let failure = await RoomCompany.failure {
                try await guest.rooms.edit(said[2], to: "4", in: room)
            }
            #expect(failure == .refused("change this message"))
        }
        let note = try #require(
            try await member.rooms.olderEvents(in: room, before: nil).records.first
        )
        let failure = await RoomCompany.failure {
            try await company.owner.rooms.edit(note.key, to: "x", in: room)
        }
        #expect(failure == .notFound("text that could be changed"))
    }

    @Test("a message is deleted by its writer, an owner, or an admin above the writer")
    func deletions() async throws {
        let company = try await Company()
        let (room, said) = (company.room, company.said)
        func failure(_ guest: RoomGuest, _ key: String) async -> ServiceError? {
            await RoomCompany.failure { try await guest.rooms.delete(key, in: room) }
        }
        let refused = ServiceError.refused("delete this message")
        #expect(await failure(company.member, said[1]) == refused)
        #expect(await failure(company.watcher, said[2]) == refused)
        #expect(await failure(company.admin, said[0]) == refused)
        let before = try #require(try await company.event(said[2]))
        #expect(await failure(company.admin, said[2]) == nil)
        let deleted = try #require(try await company.event(said[2]))
        #expect(deleted.content == .deletedMessage(by: company.admin.uid))
        #expect(deleted.position == before.position && deleted.by == company.member.uid)
        #expect(try await company.watcher.rooms.room(room).lastEvent == deleted)
        let username = company.admin.rooms.me.username
        #expect(try await company.listed(company.watcher) == "\(username) deleted a message")
        // Who comes second finds it done.
        #expect(await failure(company.owner, said[2]) == nil)
        #expect(try await company.event(said[2]) == deleted)
        #expect(await failure(company.owner, said[1]) == nil)
        #expect(await failure(company.owner, said[0]) == nil)
        #expect(try await company.event(said[0])?.content == .deletedMessage(by: company.owner.uid))
        let left = try await company.owner.value("roomEvents/\(room)/\(said[1])") as? [String: Any]
        #expect(left?.keys.sorted() == ["at", "by", "deletedAt", "deletedBy", "kind"])
        // The room goes on: it is read up to there, and answered.
        try await company.watcher.rooms.markRead(room, upTo: said[2])
        try await company.member.rooms.send(text: "why?", replyingTo: said[2], to: room)
        #expect(try await company.listed(company.owner) == "why?")
    }

    @Test("an event answers a message of its room")
    func replies() async throws {
        let company = try await Company()
        let (room, said) = (company.room, company.said)
        let key = try await company.member.rooms.send(text: "yes", replyingTo: said[0], to: room)
        guard case .message(let message) = try #require(try await company.event(key)).content
        else { return #expect(Bool(false), "it is no message") }
        #expect(message.replyTo == said[0])
        #expect(try await company.owner.rooms.room(room).lastEvent == company.event(key))
        let failure = await RoomCompany.failure {
            try await company.member.rooms.send(text: "no", replyingTo: "-none", to: room)
        }
        #expect(failure == .refused("send to this room"))
    }

    @Test("members rename a room that says so, and no other")
    func renames() async throws {
        let ann = try await RoomCompany.guest()
        let bea = try await RoomCompany.guest()
        let room = try await ann.rooms.create(
            name: "Tea",
            type: .public,
            inviting: [bea.uid],
            membersRename: true
        )
        let known = try await bea.rooms.room(room)
        #expect(known.membersRename && known.mayRename(bea.uid) && !known.mayRename("stranger"))
        try await bea.rooms.rename(room, to: "Cake")
        let found = try await ann.rooms.publicRooms(named: "Cake").records
        #expect(found.contains { $0.key == room })
        await #expect(throws: ServiceError.refused("say who renames this room")) {
            try await bea.rooms.letMembersRename(false, in: room)
        }
        try await ann.rooms.letMembersRename(false, in: room)
        #expect(try await !bea.rooms.room(room).mayRename(bea.uid))
        await #expect(throws: ServiceError.refused("rename this room")) {
            try await bea.rooms.rename(room, to: "Beer")
        }
        try await ann.rooms.letMembersRename(true, in: room)
        try await bea.rooms.rename(room, to: "Pie")
        #expect(try await ann.rooms.room(room).name == "Pie")
    }
}
