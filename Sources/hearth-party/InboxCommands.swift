import ArgumentParser
import Party
import ServiceCommand

struct ShowInbox: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inbox",
        abstract: "List what waits for your answer.",
        discussion: """
            Examples:
              hearth-party inbox
              hearth-party inbox --follow
            """,
    )

    @Flag(name: .shortAndLong, help: "Go on, tell what comes and apply answers, until stopped.")
    var follow = false

    @OptionGroup
    var connection: ConnectionOptions

    func run() async throws {
        try await PartySession.run(connection) { party in
            if follow { return try await party.followInbox() }
            let listing = try await party.inbox.messages()
            for fault in listing.faults { Output.warn("skipped: \(fault.description)") }
            let questions = listing.records.filter(\.isQuestion)
            if questions.isEmpty { try Output.print("nothing waits for your answer") }
            for (index, question) in questions.enumerated() {
                let text = try await party.text(asked: question)
                try Output.print(fields: ["\(index + 1)", question.key.shown, text])
            }
        }
    }
}

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Keep applying answers as they come, until stopped.",
        discussion: """
            Examples:
              hearth-party run
              hearth-party run > party.log &
            """,
    )

    @OptionGroup
    var connection: ConnectionOptions

    func run() async throws {
        try await PartySession.run(connection) { try await $0.followInbox() }
    }
}

extension PartySession {
    /// Tells of each message, a line each, and applies answers; ends with the connection's right to read them.
    func followInbox() async throws {
        let (events, told) = AsyncStream.makeStream(of: InboxEvent.self)
        let inbox = inbox
        async let following: Void = {
            defer { told.finish() }
            try await inbox.follow { told.yield($0) }
        }()
        for await event in events {
            // Names and parties are read for it: that waits for the connection, as the inbox does.
            let text = try await inbox.connected { try await self.text(of: event) }
            if case .asked(let message) = event {
                try Output.print(fields: [message.key.shown, text])
            } else {
                try Output.print(Output.line(text))
            }
        }
        try await following
    }
}

struct Accept: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say yes: to a friend, an invitation, a photo, a suggestion.",
        discussion: """
            Examples:
              hearth-party accept
              hearth-party accept 2
              hearth-party accept OaBcDeFgHiJkLmNoPqR
            """,
    )

    @Argument(
        help: ArgumentHelp(
            "Key or number of the message (default: the only one).",
            valueName: "message"
        )
    )
    var message: String?

    @OptionGroup
    var connection: ConnectionOptions

    func run() async throws {
        try await PartySession.run(connection) { party in
            let question = try await party.question(message)
            let text = Output.line(try await party.text(asked: question))
            switch question.subject {
            case .friendship: try await party.friends.accept(question)
            case .party: try await party.parties.answer(question, isComing: true)
            case .suggestion: try await party.suggestions.accept(question)
            case .photo: try await party.photos.accept(question)
            }
            try Output.print("accepted: \(text)")
        }
    }
}

struct Refuse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say no: to a friend, an invitation, a photo, a suggestion.",
        discussion: """
            Examples:
              hearth-party refuse
              hearth-party refuse 2
            """,
    )

    @Argument(
        help: ArgumentHelp(
            "Key or number of the message (default: the only one).",
            valueName: "message"
        )
    )
    var message: String?

    @OptionGroup
    var connection: ConnectionOptions

    func run() async throws {
        try await PartySession.run(connection) { party in
            let question = try await party.question(message)
            let text = Output.line(try await party.text(asked: question))
            switch question.subject {
            case .friendship: try await party.friends.refuse(question)
            case .party: try await party.parties.answer(question, isComing: false)
            case .suggestion: try await party.suggestions.refuse(question)
            case .photo: try await party.photos.refuse(question)
            }
            try Output.print("refused: \(text)")
        }
    }
}
