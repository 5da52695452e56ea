import Files
import Foundation
import Party
import ServiceCommand

extension PartySession {
    /// A user's name; their id when they have none.
    func name(_ uid: String) async throws -> String {
        if uid == self.uid { return "you" }
        return try await accounts.profile(of: uid)?.name ?? uid
    }

    /// The title of a party: the beginning of its description, or its key when it cannot be seen.
    func title(_ key: String) async throws -> String {
        do {
            return Self.title(try await parties.show(key))
        } catch ServiceError.notFound {
            return "the party \(key.shown)"
        }
    }

    /// The beginning of a party's description.
    static func title(_ party: HostedParty) -> String {
        let line = Output.line(party.description)
        return line.count <= 40 ? line : "\(line.prefix(39))…"
    }

    /// The text of a question.
    func text(asked message: PartyMessage) async throws -> String {
        let sender = try await name(message.from)
        switch message.subject {
        case .friendship: return "\(sender) asks for your friendship"
        case .party(let key):
            do {
                let party = try await parties.show(key)
                let date = LocalTime().shown(party.date)
                return "\(sender) invites you to \(Self.title(party)) on \(date)"
            } catch ServiceError.notFound {
                return "\(sender) invited you to \(key.shown), which is gone"
            }
        case .suggestion(let guest, let key):
            let (guest, title) = (try await name(guest), try await title(key))
            return "\(sender) suggests to invite \(guest) to \(title)"
        case .photo(let photo, let key):
            return "\(sender) asks to add the photo \(photo.shown) to \(try await title(key))"
        }
    }

    /// The text of an event.
    func text(of event: InboxEvent) async throws -> String {
        switch event {
        case .asked(let message): return try await text(asked: message)
        case .applied(let message): return try await text(applied: message)
        case .refused(let message, let error):
            return "an answer of \(try await name(message.from)) is not applied: \(error)"
        case .faulty(let fault): return "skipped a faulty message: \(fault)"
        }
    }

    private func text(applied message: PartyMessage) async throws -> String {
        let sender = try await name(message.from)
        let isYes = message.content == .accept
        switch message.subject {
        case .friendship:
            return isYes ? "\(sender) is your friend now" : "\(sender) is not a friend of yours"
        case .party(let key):
            let isOwn = try await accounts.me().ownedParties.contains(key)
            let title = try await title(key)
            if isYes { return "\(sender) comes to \(title)" }
            return isOwn
                ? "\(sender) does not come to \(title)"
                : "\(sender) cancelled \(title), or took you off its list"
        case .suggestion(let guest, let key):
            let (guest, title) = (try await name(guest), try await title(key))
            return isYes
                ? "\(sender) invited \(guest), as you suggested, to \(title)"
                : "\(sender) does not invite \(guest), as you suggested, to \(title)"
        case .photo(let photo, let key):
            let isOwn = try await accounts.me().ownedParties.contains(key)
            let title = try await title(key)
            if isYes { return "\(sender) added your photo \(photo.shown) to \(title)" }
            return isOwn
                ? "\(sender) deleted the photo \(photo.shown) of \(title)"
                : "\(sender) does not add your photo \(photo.shown) to \(title); "
                    + "`\(ProgramName.current) photo delete \(photo.shown)` deletes it"
        }
    }

    /// A party on one line.
    func line(_ party: HostedParty) async throws -> String {
        let counts = Dictionary(grouping: party.guests.values, by: \.self).mapValues(\.count)
        let host = party.owner == uid ? "yours" : "by \(try await name(party.owner))"
        let guests = "\(counts[.coming] ?? 0) come, \(counts[.invited] ?? 0) invited"
        let fields = [
            party.key.shown, LocalTime().shown(party.date), Self.title(party), host, guests,
        ]
        return Output.line(fields: fields)
    }
}
