import ArgumentParser
import Party
import ServiceCommand

struct ShowInbox: PartyCommand {
    static let configuration = CommandConfiguration(
        commandName: "inbox",
        abstract: "List what waits for your answer.",
        discussion: """
            Examples:
              hearth-party inbox
              hearth-party inbox --follow
            """,
    )

    @Flag(name: .shortAndLong, help: "Go on: print what comes and apply answers, until stopped.")
    var follow = false

    @OptionGroup
    var connection: ConnectionOptions

    func perform(_ party: PartySession) async throws {
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

struct Run: PartyCommand {
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

    func perform(_ party: PartySession) async throws {
        try await party.followInbox()
    }
}

extension PartySession {
    /// Prints a line for each message, and applies answers; ends when the right to read them ends.
    func followInbox() async throws {
        let (events, reported) = AsyncStream.makeStream(of: InboxEvent.self)
        let inbox = inbox
        async let following: Void = {
            defer { reported.finish() }
            try await inbox.follow { reported.yield($0) }
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

struct Accept: PartyCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say yes: to a friend, an invitation, a photo, a suggestion.",
        discussion: """
            Examples:
              hearth-party accept
              hearth-party accept 2
              hearth-party accept OaBcDeFgHiJkLmNoPqR
            """,
    )

    @Argument(help: "Key or number of the message (default: the only one).")
    var message: String?

    @OptionGroup
    var connection: ConnectionOptions

    func perform(_ party: PartySession) async throws {
        try await party.answer(message, isYes: true)
    }
}

struct Refuse: PartyCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say no: to a friend, an invitation, a photo, a suggestion.",
        discussion: """
            Examples:
              hearth-party refuse
              hearth-party refuse 2
            """,
    )

    @Argument(help: "Key or number of the message (default: the only one).")
    var message: String?

    @OptionGroup
    var connection: ConnectionOptions

    func perform(_ party: PartySession) async throws {
        try await party.answer(message, isYes: false)
    }
}

extension PartySession {
    /// Says yes or no to the question of a key or number; to the only one when none is named.
    fileprivate func answer(_ message: String?, isYes: Bool) async throws {
        let question = try await question(message)
        let text = Output.line(try await text(asked: question))
        switch (question.subject, isYes) {
        case (.friendship, true): try await friends.accept(question)
        case (.friendship, false): try await friends.refuse(question)
        case (.party, _): try await parties.answer(question, isComing: isYes)
        case (.suggestion, true): try await suggestions.accept(question)
        case (.suggestion, false): try await suggestions.refuse(question)
        case (.photo, true): try await photos.accept(question)
        case (.photo, false): try await photos.refuse(question)
        }
        try Output.print("\(isYes ? "accepted" : "refused"): \(text)")
    }
}
