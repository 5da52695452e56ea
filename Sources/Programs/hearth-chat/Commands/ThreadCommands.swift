import ArgumentParser
import Chat
import Foundation
import ServiceCommand
import Terminal

struct ChatsCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "chats",
        abstract: "List your chats and rooms, newest first.",
        discussion: """
            Each line has the thread, when something happened in it last, how much of it is unread, and what was said last.

            Examples:
              hearth-chat chats
              hearth-chat chats --profile bea
            """,
    )

    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        try await Self.list(client)
    }

    static func list(_ client: Client) async throws {
        for warning in await client.mendRooms() { Output.warn(warning) }
        let chats = try await client.myChats()
        let rooms = try await client.myRooms()
        let others = chats.compactMap { $0.member(beside: client.me.uid) }
        let people = try await client.people.profiles(of: others).records
        var list = ThreadList(me: client.me)
        for person in people { list.people[person.uid] = person }
        let threads = list.merge(chats: chats, rooms: rooms)
        guard !threads.isEmpty else {
            return Output.warn(
                "no chats yet: `hearth-chat follow bea`, `hearth-chat send bea hello`"
            )
        }
        let time = LocalTime()
        let names = threads.map { name($0, client.me, list.people) }
        let width = names.map { TextWidth.columns($0) }.max() ?? 0
        for (thread, name) in zip(threads, names) {
            var name = name
            var unread = UnreadCount.text(thread.unread)
            if Output.isTerminal {
                name += String(repeating: " ", count: width - TextWidth.columns(name))
                unread = String(repeating: " ", count: 3 - unread.count) + unread
            }
            try Output.print(fields: [name, time.shown(thread.time), unread, thread.lastText])
        }
    }

    /// The input that names a thread: `ann`, `#lunch`.
    private static func name(
        _ thread: ChatThread,
        _ me: UserProfile,
        _ people: [String: UserProfile]
    ) -> String {
        switch thread.source {
        case .direct(let chat):
            let other = chat.member(beside: me.uid).flatMap { people[$0]?.username }
            return Output.line(other ?? thread.title)
        case .room: return "#" + Output.line(thread.title)
        }
    }
}

struct ReadCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Print what was said in a chat or a room, which marks it as read.",
        discussion: """
            Examples:
              hearth-chat read bea
              hearth-chat read '#lunch' --count 200
              hearth-chat read bea --keys
              hearth-chat read bea --follow
            """,
    )

    @Argument(help: "Username, e-mail address or name of a room.")
    var thread: String

    @Option(help: "How many of the newest to print.")
    var count = 50

    @Flag(help: "Print what comes, too, until interrupted.")
    var follow = false

    @Flag(help: "Print whole times, with seconds and zone, for programs.")
    var iso = false

    @Flag(help: "Print the key of each message, too, for the commands that take one.")
    var keys = false

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard (1...10_000).contains(count) else {
            throw ValidationError("--count is 1 to 10000")
        }
    }

    func perform(as client: Client) async throws {
        let reader = PlainReader(client: client, hasWholeTimes: iso, hasKeys: keys)
        switch try await client.thread(thread) {
        case .direct(let chat): try await reader.readChat(chat, count, follows: follow)
        case .room(let room): try await reader.readRoom(room, count, follows: follow)
        case .person(let person):
            throw ServiceError.notFound("chat with \(person.username) yet")
        }
    }
}

struct SendCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Say something in a chat or a room; a chat is made when there is none.",
        discussion: """
            Without a text each line of standard input is a message. Files are uploaded first, then the message names \
            them; a large PNG has a smaller picture beside it.

            Examples:
              hearth-chat send bea "Hello, Bea"
              hearth-chat send bea --file lake.png "At the lake"
              hearth-chat send '#lunch' soup today
              fortune -s | tr '\\n' ' ' | hearth-chat send bea
            """,
    )

    @Argument(help: "Username, e-mail address or name of a room.")
    var thread: String

    @Argument(help: "What to say.")
    var text: [String] = []

    @Option(
        name: .customLong("file"),
        help: ArgumentHelp("A file to send; may be repeated, up to 10.", valueName: "path"),
        completion: .file()
    )
    var files: [String] = []

    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        var thread = try await client.thread(thread)
        guard files.isEmpty else {
            let progress = UploadProgress()
            defer { progress.end() }
            return try await client.send(
                files.map { try AttachmentFile(path: $0) },
                text: text.isEmpty ? nil : text.joined(separator: " "),
                in: thread,
                progress: { progress.show($0, of: $1) }
            )
        }
        guard text.isEmpty else {
            return try await client.say(text.joined(separator: " "), in: &thread)
        }
        while let line = readLine() {
            guard line.contains(where: { !$0.isWhitespace }) else { continue }
            try await client.say(line, in: &thread)
        }
    }
}

/// Chats are started with people whom one follows; the screen has a command of its own for that.
struct NotFollowed: Error, CustomStringConvertible {
    let username: String

    var description: String {
        "you start chats with people whom you follow: `hearth-chat follow \(username)` first"
    }
}

extension Client {
    /// Sends a message; a person without a chat becomes the chat that it starts.
    func say(_ text: String, in thread: inout ThreadChoice) async throws {
        switch thread {
        case .direct(let chat): try await chats.sendMessage(text, for: chat)
        case .room(let room):
            try await naming("send to #\(room.name)") {
                try await rooms.send(text: text, to: room.key)
            }
        case .person(let person): thread = .direct(try await start(text, with: person))
        }
    }

    /// Starts a chat; fails if the user does not follow the other.
    func start(_ text: String, with person: UserProfile) async throws -> DirectChat {
        do {
            return try await chats.create(from: text, with: person)
        } catch ServiceError.refused(let what) {
            guard try await !graph.isFollowed(person.uid) else { throw ServiceError.refused(what) }
            throw NotFollowed(username: person.username)
        }
    }
}

struct DeleteCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete your copy of a direct chat; the other keeps theirs.",
        discussion: """
            Example:
              hearth-chat delete bea
            """,
    )

    @OptionGroup var other: PersonArgument
    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let person = try await client.person(other.person)
        let chats = try await client.myChats()
        guard let chat = chats.first(where: { $0.member(beside: client.me.uid) == person.uid })
        else { throw ServiceError.notFound("chat with \(person.username)") }
        try await client.chats.delete(chat)
        try Output.print("deleted the chat with \(Output.line(person.username))")
    }
}

struct MuteCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "mute",
        abstract: "Get no notifications of a chat or a room.",
        discussion: """
            Example:
              hearth-chat mute '#lunch'
            """,
    )

    @Argument(help: "Username, e-mail address or name of a room.")
    var thread: String

    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        try await client.rooms.mute(try await client.key(of: thread))
        try Output.print("muted \(Output.line(thread))")
    }
}

struct UnmuteCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "unmute",
        abstract: "Get notified of a chat or a room again.",
        discussion: """
            Example:
              hearth-chat unmute '#lunch'
            """,
    )

    @Argument(help: "Username, e-mail address or name of a room.")
    var thread: String

    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        try await client.rooms.unmute(try await client.key(of: thread))
        try Output.print("muted no longer: \(Output.line(thread))")
    }
}

extension Client {
    /// The key of a thread that is there.
    func key(of text: String) async throws -> String {
        switch try await thread(text) {
        case .direct(let chat): chat.key
        case .room(let room): room.key
        case .person(let person): throw ServiceError.notFound("chat with \(person.username) yet")
        }
    }
}
