import ArgumentParser
import Chat
import ChatScreen
import ServiceCommand

struct ReplyCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "reply",
        abstract: "Answer a message: the latest one of another person, or with --message any.",
        discussion: """
            Examples:
              hearth-chat reply bea "Yes, at noon"
              hearth-chat read '#lunch' --keys
              hearth-chat reply '#lunch' --message -Oq3... soup for me
            """,
    )

    @OptionGroup var aim: MessageArgument

    @Argument(help: "What to say.")
    var text: [String]

    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let (thread, key) = try await aim.find(client, isOwn: false)
        let words = text.joined(separator: " ")
        switch thread {
        case .direct(let chat):
            try await client.chats.sendMessage(words, for: chat, replyingTo: key)
        case .room(let room):
            try await naming("send to #\(room.name)") {
                try await client.rooms.send(text: words, replyingTo: key, to: room.key)
            }
        case .person(let person): throw MessageArgument.noChat(with: person)
        }
    }
}

struct EditCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change the words of a message of yours: the latest one, or with --message any.",
        discussion: """
            All readers see that it was changed.

            Example:
              hearth-chat edit bea "Hello, Bea!"
            """,
    )

    @OptionGroup var aim: MessageArgument

    @Argument(help: "The new words.")
    var text: [String]

    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let (thread, key) = try await aim.find(client, isOwn: true)
        try await client.revise(key, in: thread.id, to: text.joined(separator: " "))
    }
}

struct UnsendCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "unsend",
        abstract: "Delete a message of yours: the latest one, or with --message any.",
        discussion: """
            Who said it, and when, stays. Owners and admins of a room delete what others said there by its key.

            Examples:
              hearth-chat unsend bea
              hearth-chat unsend '#lunch' --message -Oq3...
            """,
    )

    @OptionGroup var aim: MessageArgument
    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let (thread, key) = try await aim.find(client, isOwn: true)
        try await client.revise(key, in: thread.id, to: nil)
    }
}

struct FlagCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "flag",
        abstract:
            "Flag a message as wrong: the latest one of another person, or with --message any.",
        discussion: """
            Owners and admins of a room see its flags; the server's administrators see those of direct chats.

            Example:
              hearth-chat flag mallory
            """,
    )

    @OptionGroup var aim: MessageArgument
    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let (thread, key) = try await aim.find(client, isOwn: false)
        try await client.flag(key, in: thread.id, true)
    }
}

struct UnflagCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "unflag",
        abstract: "Take a flag of yours back.",
        discussion: """
            Example:
              hearth-chat unflag mallory
            """,
    )

    @OptionGroup var aim: MessageArgument
    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let (thread, key) = try await aim.find(client, isOwn: false)
        try await client.flag(key, in: thread.id, false)
    }
}

/// The message of a command.
struct MessageArgument: ParsableArguments {
    @Argument(help: "Username, e-mail address or name of a room.")
    var thread: String

    @Option(
        name: .customLong("message"),
        parsing: .unconditional,
        help: ArgumentHelp("The key of the message, as `read --keys` prints it.", valueName: "key")
    )
    var key: String?

    /// The thread and the key of the message: the one that is named, else the latest of this user, or of another.
    func find(_ client: Client, isOwn: Bool) async throws -> (ThreadChoice, key: String) {
        let thread = try await client.thread(thread)
        if let key { return (thread, key) }
        guard let key = try await client.latestMessage(in: thread, isOwn: isOwn) else {
            let whose = isOwn ? "message of yours" : "message of another person"
            throw ServiceError.notFound(
                "\(whose) among the latest \(ChatLimits.pageSize): name one with --message"
            )
        }
        return (thread, key)
    }

    static func noChat(with person: UserProfile) -> ServiceError {
        .notFound("chat with \(person.username) yet")
    }
}

// MARK: Actions on a message, here and on the screen

extension ThreadChoice {
    fileprivate var id: ThreadID {
        switch self {
        case .direct(let chat): .direct(chat.key)
        case .room(let room): .room(room.key)
        case .person(let person): .person(person.uid)
        }
    }
}

extension Client {
    /// Gives a message other words; without any it is deleted.
    func revise(_ key: String, in id: ThreadID, to text: String?) async throws {
        switch (id, text) {
        case (.person, _): throw ServiceError.notFound("chat yet")
        case (.direct(let chat), let text?):
            try await chats.edit(key, to: text, in: try await self.chat(chat))
        case (.direct(let chat), nil):
            try await chats.delete(key, in: try await self.chat(chat))
        case (.room(let room), let text?): try await rooms.edit(key, to: text, in: room)
        case (.room(let room), nil): try await rooms.delete(key, in: room)
        }
    }

    /// Flags a message, or takes the flag back.
    func flag(_ key: String, in id: ThreadID, _ isFlagged: Bool) async throws {
        switch id {
        case .person: throw ServiceError.notFound("chat yet")
        case .direct(let thread), .room(let thread):
            if isFlagged {
                try await rooms.flag(key, in: thread)
            } else {
                try await rooms.unflag(key, in: thread)
            }
        }
    }

    /// The latest message of this user, or of another, that has words; nil when there is none on the newest page.
    fileprivate func latestMessage(in thread: ThreadChoice, isOwn: Bool) async throws -> String? {
        switch thread {
        case .person(let person): throw MessageArgument.noChat(with: person)
        case .direct(let chat):
            let page = try await chats.olderMessages(forChatKey: chat.key, before: nil).records
            return page.last { !$0.isDeleted && ($0.sender.uid == me.uid) == isOwn }?.key
        case .room(let room):
            let page = try await rooms.olderEvents(in: room.key, before: nil).records
            let found = page.last { event in
                guard case .message(let message) = event.content else { return false }
                return message.text != nil && (event.by == me.uid) == isOwn
            }
            return found?.key
        }
    }
}
