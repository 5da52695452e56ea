import Chat
import ChatScreen
import ServiceCommand

/// Commands typed at the bottom of the screen.
extension LiveChat {
    nonisolated func startChat(_ text: String) async throws {
        let person = try await client.person(text)
        guard person.uid != client.me.uid else {
            throw ServiceError.invalid(field: "username", why: "that is you")
        }
        mailbox.put(.person(person))
        if let chat = try await client.chats.checkForExistingChat(with: person) {
            let list = ThreadList(me: client.me, people: [person.uid: person])
            return mailbox.put(.screen(.start(Self.threadRow(list.thread(chat)))))
        }
        mailbox.put(.screen(.start(Self.personRow(person))))
    }

    nonisolated func makeRoom(_ name: String) async throws {
        let key = try await client.rooms.create(name: name)
        open(key, name)
    }

    nonisolated func joinRoom(_ name: String) async throws {
        let room = try await client.publicRoom(name)
        try await naming("join #\(room.name)") { try await client.rooms.join(room.key) }
        open(room.key, room.name)
    }

    private nonisolated func open(_ room: String, _ name: String) {
        let summary = RoomSummary(
            key: room,
            name: name,
            lastEventText: "",
            lastEventMilliseconds: 0,
            unread: 0
        )
        let list = ThreadList(me: client.me)
        mailbox.put(.screen(.start(Self.threadRow(list.thread(summary)))))
    }

    private nonisolated func say(_ text: String) { mailbox.put(.screen(.notice(text))) }

    nonisolated func run(_ command: Command, in id: ThreadID) async throws {
        switch command {
        // The screen does these itself.
        case .help, .quit, .bell, .edit, .unsend, .reply, .flag, .unflag: break
        case .follow(let text):
            let person = try await text.isEmpty ? other(in: id) : client.person(text)
            try await naming("follow \(person.username)") {
                try await client.graph.follow(person.uid)
            }
            say("you follow \(person.username)")
        case .unfollow(let text):
            let person = try await client.person(text)
            try await client.graph.unfollow(person.uid)
            say("you follow \(person.username) no longer")
        case .block(let text):
            let person = try await client.person(text)
            try await client.blocks.block(person.uid)
            say("you block \(person.username)")
        case .unblock(let text):
            let person = try await client.person(text)
            try await client.blocks.unblock(person.uid)
            say("you block \(person.username) no longer")
        case .mute, .unmute: try await mute(command == .mute, id)
        case .delete: try await delete(id)
        case .file(let path): try await sendFile(path, in: id)
        case .invite, .remove, .ban, .unban, .role, .rename, .members, .membersRename, .leave:
            guard case .room(let room) = id else {
                throw ProgramFault("this is not a room")
            }
            try await runInRoom(command, room)
        }
    }

    private nonisolated func sendFile(_ path: String, in id: ThreadID) async throws {
        let file = try AttachmentFile(path: path)
        let thread: ThreadChoice
        switch id {
        case .person(let uid):
            throw ServiceError.notFound(
                "chat with \(try await client.people.show(forUID: uid)?.username ?? "them") yet: "
                    + "say something first"
            )
        case .direct(let key): thread = .direct(try await client.chat(key))
        case .room(let key):
            let room = try await client.rooms.room(key)
            thread = .room(
                RoomSummary(
                    key: key,
                    name: room.name,
                    lastEventText: "",
                    lastEventMilliseconds: 0,
                    unread: 0
                )
            )
        }
        say("\(file.title) …")
        try await client.send([file], text: nil, in: thread) { completed, total in
            self.say("\(file.title) \(total == 0 ? 100 : completed * 100 / total) %")
        }
        say("\(file.title) is sent")
    }

    /// The other of a direct chat, whether it has begun or not.
    private nonisolated func other(in id: ThreadID) async throws -> UserProfile {
        let uid: String? =
            switch id {
            case .person(let uid): uid
            case .direct(let key):
                try await client.chats.show(forChatKey: key)?.member(beside: client.me.uid)
            case .room: nil
            }
        guard let uid, let person = try await client.people.profiles(of: [uid]).records.first else {
            throw ProgramFault("whom? /follow USERNAME")
        }
        return person
    }

    private nonisolated func mute(_ isMuted: Bool, _ id: ThreadID) async throws {
        switch id {
        case .person: throw ServiceError.notFound("chat yet")
        case .direct(let key), .room(let key):
            if isMuted {
                try await client.rooms.mute(key)
            } else {
                try await client.rooms.unmute(key)
            }
            say(isMuted ? "muted" : "muted no longer")
        }
    }

    private nonisolated func delete(_ id: ThreadID) async throws {
        guard case .direct(let key) = id, let chat = try await client.chats.show(forChatKey: key)
        else { throw ProgramFault("only a direct chat is deleted; /leave leaves a room") }
        try await client.chats.delete(chat)
        mailbox.put(.screen(.lost(id, why: "deleted; the other keeps theirs")))
    }

    /// The commands of owners, admins and members in a room.
    private nonisolated func runInRoom(_ command: Command, _ room: String) async throws {
        let rooms = client.rooms
        switch command {
        case .invite(let text):
            let person = try await client.person(text)
            try await client.invite(person, to: room, named: "this room")
        case .remove(let text):
            let person = try await client.person(text)
            try await naming("put \(person.username) out") {
                try await rooms.remove(person.uid, from: room)
            }
        case .ban(let text):
            let person = try await client.person(text)
            try await naming("ban \(person.username)") {
                try await rooms.ban(person.uid, from: room)
            }
            say("\(person.username) is banned")
        case .unban(let text):
            let person = try await client.person(text)
            try await naming("take back the ban of \(person.username)") {
                try await rooms.unban(person.uid, in: room)
            }
            say("\(person.username) may come back")
        case .role(let text, let word):
            guard let role = RoomRole(rawValue: word), role.isIn else {
                throw ProgramFault("a role is owner, admin, member or watcher")
            }
            let person = try await client.person(text)
            try await naming("make \(person.username) \(word)") {
                try await rooms.setRole(role, of: person.uid, in: room)
            }
            say("\(person.username) is \(word)")
        case .rename(let name): try await rooms.rename(room, to: name)
        case .membersRename(let isAllowed):
            try await rooms.letMembersRename(isAllowed, in: room)
            say(isAllowed ? "members may rename this room" : "members may not rename this room")
        case .members:
            let members = try await client.members(of: try await rooms.room(room))
            say(
                members.map { $1 == .member ? $0 : "\($0) (\($1.rawValue))" }
                    .joined(separator: ", ")
            )
        case .leave:
            try await rooms.leave(room)
            mailbox.put(.screen(.lost(.room(room), why: "you left")))
            // It may be closed already, since a user who has left sees no further events.
            say("you left")
        case .help, .quit, .follow, .unfollow, .block, .unblock, .mute, .unmute, .delete, .bell,
            .edit, .unsend, .reply, .flag, .unflag, .file:
            break
        }
    }

    nonisolated func flag(_ key: String, in id: ThreadID, _ isFlagged: Bool) async throws {
        try await client.flag(key, in: id, isFlagged)
        say(isFlagged ? "flagged" : "flagged no longer")
    }
}
