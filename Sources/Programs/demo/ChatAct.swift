import Chat
import Foundation
import HearthStorage
import Synchronization

/// A direct chat that both begin at one moment, and a room.
enum ChatAct {
    static func play(_ ann: Player, _ bea: Player, _ cem: Player) async throws {
        Stage.act("Chat")
        let profiles = try await signUp([ann, bea, cem])
        let (chat, picture) = try await talkDirectly(ann, bea, profiles)
        try await deletePicture(bea, picture, in: chat, profiles, seenBy: ann, hiddenFrom: cem)
        try await changePicture(ann, seenBy: bea)
        try await talkInRoom(ann, bea, cem, profiles)
    }

    /// Usernames, which rules let one person have each.
    private static func signUp(_ players: [Player]) async throws -> [UserProfile] {
        var profiles: [UserProfile] = []
        for player in players {
            let users = UserService(database: player.database, uid: player.uid)
            profiles.append(
                try await users.create(
                    username: player.name.lowercased(),
                    name: player.name,
                    email: player.email
                )
            )
            Stage.does(player.name, "signs up as \(player.name.lowercased())")
        }
        return profiles
    }

    private static func talkDirectly(
        _ ann: Player,
        _ bea: Player,
        _ profiles: [UserProfile]
    ) async throws -> (DirectChat, picture: Message) {
        let chats = ChatService(database: ann.database, me: profiles[0])
        let hers = ChatService(database: bea.database, me: profiles[1])
        try await Stage.refuses("Ann", "writes to Bea, whom she does not follow") {
            _ = try await chats.create(from: "Hello Bea", with: profiles[1])
        }
        for (one, other) in [(ann, bea), (bea, ann)] {
            try await FollowGraph(database: one.database, uid: one.uid).follow(other.uid)
        }
        Stage.does("Both", "follow each other, and begin the same chat at one moment")
        async let first = chats.create(from: "Hello Bea", with: profiles[1])
        async let second = hers.create(from: "Hello Ann", with: profiles[0])
        let (chat, same) = try await (first, second)
        guard chat.key == same.key else {
            throw Surprise(text: "there are two chats of two people")
        }
        let views = [View(), View()]
        var observations: [Observation] = []
        for (service, view) in zip([chats, hers], views) {
            let list = Mutex(MessageList())
            observations.append(
                service.observeMessages(forChatKey: chat.key) { event in
                    let lines = list.withLock { list in
                        list.apply(event)
                        return list.messages.map { "\($0.sender.username): \($0.content)" }
                    }
                    // Those of one millisecond stand by their keys, for which each client guesses the time.
                    view.show(lines.sorted())
                }
            )
        }
        Stage.does("Bea", "answers")
        try await hers.sendMessage("What a coincidence", for: same)
        Stage.does("Bea", "sends a picture")
        let lake = try AttachmentFile(
            Data(PartyAct.picture),
            title: "lake.png",
            type: "image/png"
        )
        let key = try await hers.send([lake], for: same)
        let expected = [
            "ann: Hello Bea", "bea: Hello Ann", "bea: What a coincidence", "bea: lake.png",
        ]
        for (player, view) in zip([ann, bea], views) {
            try Stage.sees(player.name, await view.wait(for: expected), expected: expected)
        }
        for observation in observations { observation.remove() }
        let said = try await chats.olderMessages(forChatKey: chat.key, before: nil).records
        guard let picture = said.first(where: { $0.key == key }) else {
            throw Surprise(text: "there is no picture")
        }
        return (same, picture)
    }

    /// The two of the chat see the file, no other user does, and it goes with its message.
    private static func deletePicture(
        _ sender: Player,
        _ message: Message,
        in chat: DirectChat,
        _ profiles: [UserProfile],
        seenBy other: Player,
        hiddenFrom stranger: Player,
    ) async throws {
        let files = message.attachments.map { "\($0.title), \($0.sizeText)" }
        try Stage.sees(other.name, files, expected: ["lake.png, \(PartyAct.picture.count) bytes"])
        guard let url = message.attachments.first?.url else { return }
        _ = try await other.storage.reference(for: url).getMetadata()
        try await Stage.refuses(stranger.name, "looks for the file") {
            _ = try await stranger.storage.reference(for: url).getMetadata()
        }
        Stage.does(sender.name, "deletes the message, and with it the file")
        let service = ChatService(database: sender.database, me: profiles[1])
        try await service.delete(message.key, in: chat)
        try await Stage.refuses(other.name, "looks for it") {
            _ = try await other.storage.reference(for: url).getMetadata()
        }
    }

    /// Others see the picture of a person, whose file goes when another takes its place.
    private static func changePicture(_ owner: Player, seenBy other: Player) async throws {
        let pictures = PictureService(database: owner.database, uid: owner.uid)
        let picture = try AttachmentFile(
            Data(PartyAct.picture),
            title: "me.png",
            type: "image/png"
        )
        guard let first = try await pictures.set(picture) else { return }
        Stage.does(owner.name, "shows a picture of herself")
        let users = UserService(database: other.database, uid: other.uid)
        let shown = try await users.show(forUID: owner.uid)?.picture
        let file = try other.storage.reference(for: first)
        try Stage.sees(
            other.name,
            [shown == first.absoluteString ? "\(try await file.getMetadata().size) bytes" : "none"],
            expected: ["\(PartyAct.picture.count) bytes"]
        )
        try await pictures.set(picture)
        try await Stage.refuses(other.name, "looks for it when another has taken its place") {
            _ = try await file.getMetadata()
        }
    }

    private static func talkInRoom(
        _ ann: Player,
        _ bea: Player,
        _ cem: Player,
        _ profiles: [UserProfile]
    ) async throws {
        let rooms = zip([ann, bea, cem], profiles).map {
            RoomService(database: $0.database, me: $1)
        }
        let names = Dictionary(uniqueKeysWithValues: profiles.map { ($0.uid, $0.username) })
        let room = try await rooms[0].create(name: "Kitchen", inviting: [bea.uid])
        Stage.does("Ann", "makes a room for herself and Bea")
        try await Stage.refuses("Cem", "looks into it") { _ = try await rooms[2].room(room) }
        try await rooms[1].invite(cem.uid, to: room)
        Stage.does("Bea", "invites Cem")
        try await rooms[2].send(text: "Who has the key?", to: room)
        try await rooms[0].rename(room, to: "Cellar")
        try await rooms[2].leave(room)
        let events = try await rooms[0].olderEvents(in: room, before: nil)
        let expected = [
            "ann made the room", "bea brought cem in", "cem: Who has the key?",
            "ann called it Cellar", "cem left",
        ]
        // Events of one millisecond stand by their keys, for which each client guesses the server's time.
        let read = events.records.map { (at: $0.at, text: text($0, names)) }
        let seen = read.sorted {
            if $0.at != $1.at { return $0.at < $1.at }
            let places = [$0, $1].map { expected.firstIndex(of: $0.text) ?? expected.count }
            return places[0] < places[1]
        }
        try Stage.sees("Ann", seen.map(\.text), expected: expected)
        let lists = View()
        let observation = rooms[1].observeRooms { listing in
            lists.show(listing.records.map { "\($0.name), \($0.unread) unread" })
        }
        // All that others did: made it, spoke, renamed it, left.
        let unread = ["Cellar, 4 unread"]
        try Stage.sees("Bea", await lists.wait(for: unread), expected: unread)
        observation.remove()
    }

    private static func text(_ event: RoomEvent, _ names: [String: String]) -> String {
        let who = names[event.by] ?? event.by
        return switch event.content {
        case .message(let message): "\(who): \(message.text ?? "")"
        case .deletedMessage: "\(who): (deleted)"
        case .createdChat: "\(who) made the room"
        case .addedUser(let uid): "\(who) brought \(names[uid] ?? uid) in"
        case .userLeft(let uid): "\(names[uid] ?? uid) left"
        case .renamedChat(let name): "\(who) called it \(name)"
        }
    }
}
