import ArgumentParser
import Foundation
import Party
import ServiceCommand

/// A moment as people type it: in this machine's zone unless it names one.
struct TypedDate: ExpressibleByArgument {
    let moment: Date

    init?(argument: String) {
        // `parties` prints a space between day and hour.
        let text = argument.replacing(" ", with: "T")
        guard let moment = PartyDate.moment(text, in: .current) else { return nil }
        self.moment = moment
    }
}

struct Parties: PartyCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the parties that you give, go to, or are invited to; the next first.",
        discussion: """
            Examples:
              hearth-party parties
            """,
    )

    @OptionGroup
    var connection: ConnectionOptions

    func perform(_ party: PartySession) async throws {
        let parties = try await party.visibleParties()
        if parties.isEmpty { try Output.print("no parties") }
        for found in parties { try Output.print(try await party.line(found)) }
    }
}

struct Create: PartyCommand {
    static let configuration = CommandConfiguration(
        abstract: "Give a party, to which all your friends are invited.",
        discussion: """
            A date is a day or a minute, in this machine's time zone unless it names another.

            Examples:
              hearth-party create --description Midsummer --date 2027-06-21T19:00
              hearth-party create --description "New Year" --date 2027-12-31T20:00+01:00
            """,
    )

    @Option(help: ArgumentHelp("What it is, at most 2,000 characters.", valueName: "text"))
    var description: String

    @Option(help: "When it is: 2027-06-21T19:00.")
    var date: TypedDate

    @OptionGroup
    var connection: ConnectionOptions

    func perform(_ party: PartySession) async throws {
        let made = try await party.parties.create(description: description, date: date.moment)
        let names = try await party.names(made.guests.keys)
        let invited = names.isEmpty ? "no one invited: no friends yet" : "invited: \(names)"
        try Output.print(fields: [made.key.shown, invited])
    }
}

struct Show: PartyCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show a party, its guests and its photos.",
        discussion: """
            Examples:
              hearth-party show Midsummer
            """,
    )

    @Argument(help: "Key, or how its description begins.")
    var party: String

    @OptionGroup
    var connection: ConnectionOptions

    func perform(_ session: PartySession) async throws {
        let found = try await session.party(party)
        try Output.print(Output.line(found.description))
        try Output.print(Output.line("key", found.key.shown))
        try Output.print(Output.line("date", LocalTime().shown(found.date)))
        try Output.print(Output.line("host", try await session.name(found.owner)))
        for (title, answer) in [
            ("coming", HostedParty.Answer.coming), ("invited", .invited), ("not", .notComing),
        ] {
            let names = try await session.names(found.guests.filter { $0.value == answer }.keys)
            if !names.isEmpty { try Output.print(Output.line(title, names)) }
        }
        for photo in found.photos { try Output.print(Output.line("photo", photo.shown)) }
    }
}

struct Change: PartyCommand {
    static let configuration = CommandConfiguration(
        abstract: "Change what a party of yours is, or when.",
        discussion: """
            Examples:
              hearth-party change Midsummer --date 2027-06-22T19:00
              hearth-party change Midsummer --description "Midsummer, by the lake"
            """,
    )

    @Argument(help: "Key, or how its description begins.")
    var party: String

    @Option(help: ArgumentHelp("What it is.", valueName: "text"))
    var description: String?

    @Option(help: "When it is.")
    var date: TypedDate?

    @OptionGroup
    var connection: ConnectionOptions

    func validate() throws {
        guard description != nil || date != nil else {
            throw ValidationError("Say what to change: --description, --date or both.")
        }
    }

    func perform(_ session: PartySession) async throws {
        let key = try await session.party(party).key
        try await session.parties.change(key, description: description, date: date?.moment)
        try Output.print(try await session.line(session.parties.show(key)))
    }
}

struct Invite: PartyCommand {
    static let configuration = CommandConfiguration(
        abstract: "Invite a person to a party of yours: a new guest, or again one who refused.",
        discussion: """
            Examples:
              hearth-party invite Midsummer cyd@example.com
            """,
    )

    @Argument(help: "Key, or how its description begins.")
    var party: String

    @Argument(help: "Their address.")
    var email: String

    @OptionGroup
    var connection: ConnectionOptions

    func perform(_ session: PartySession) async throws {
        let found = try await session.party(party)
        let person = try await session.person(email)
        try await session.parties.invite(person.uid, to: found.key)
        try Output.print("invited \(Output.line(person.name)) to \(PartySession.title(found))")
    }
}

struct Suggest: PartyCommand {
    static let configuration = CommandConfiguration(
        abstract: "Suggest a friend of yours to the host of a party.",
        discussion: """
            Examples:
              hearth-party suggest Midsummer eve@example.com
            """,
    )

    @Argument(help: "Key, or how its description begins.")
    var party: String

    @Argument(help: "Their address.")
    var email: String

    @OptionGroup
    var connection: ConnectionOptions

    func perform(_ session: PartySession) async throws {
        let found = try await session.party(party)
        let person = try await session.person(email)
        try await session.suggestions.suggest(person.uid, for: found.key)
        let host = Output.line(try await session.name(found.owner))
        try Output.print("suggested \(Output.line(person.name)) to \(host)")
    }
}

struct Attend: PartyCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say that you come to a party, or after all do not.",
        discussion: """
            Examples:
              hearth-party attend Midsummer
              hearth-party attend Midsummer --no
            """,
    )

    @Argument(help: "Key, or how its description begins.")
    var party: String

    @Flag(help: "You do not come.")
    var no = false

    @OptionGroup
    var connection: ConnectionOptions

    func perform(_ session: PartySession) async throws {
        let found = try await session.party(party)
        try await session.parties.answer(found, isComing: !no)
        let host = Output.line(try await session.name(found.owner))
        try Output.print("let \(host) know that you \(no ? "do not come" : "come")")
    }
}

struct Cancel: PartyCommand {
    static let configuration = CommandConfiguration(
        abstract: "Cancel a party of yours; those who said yes are notified.",
        discussion: """
            Examples:
              hearth-party cancel Midsummer
            """,
    )

    @Argument(help: "Key, or how its description begins.")
    var party: String

    @OptionGroup
    var connection: ConnectionOptions

    func perform(_ session: PartySession) async throws {
        let found = try await session.party(party)
        try await session.parties.cancel(found.key)
        try Output.print("cancelled \(PartySession.title(found))")
    }
}

extension PartySession {
    /// The names of some people, in their order.
    func names(_ uids: some Sequence<String>) async throws -> String {
        var names: [String] = []
        for uid in uids { names.append(Output.line(try await name(uid))) }
        return names.sorted().joined(separator: ", ")
    }
}
