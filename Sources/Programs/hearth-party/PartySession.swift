import ArgumentParser
import Files
import Party
import ServiceCommand

/// A signed-in user with their services.
struct PartySession {
    let session: Session
    let accounts: PartyAccountService
    let friends: FriendService
    let parties: PartyService
    let photos: PartyPhotoService
    let suggestions: SuggestionService
    let inbox: Inbox

    var uid: String { session.uid }

    /// The database of this program, unless another is named.
    static let database = "party"

    init(_ session: Session) {
        let (database, uid) = (session.database, session.uid)
        self.session = session
        accounts = PartyAccountService(database: database, uid: uid)
        friends = FriendService(database: database, uid: uid)
        parties = PartyService(database: database, uid: uid)
        photos = PartyPhotoService(database: database, uid: uid)
        suggestions = SuggestionService(database: database, uid: uid)
        inbox = Inbox(database: database, uid: uid)
    }

    /// Runs a command as the signed-in user, after the pending work.
    static func run(
        _ connection: ConnectionOptions,
        _ command: (PartySession) async throws -> Void,
    ) async throws {
        let session = try await connection.session(database: database)
        try await session.closing {
            let party = PartySession(session)
            try await party.start(connection)
            try await command(party)
        }
    }

    /// Applies waiting answers, and finishes or removes the half-done work of a killed program.
    private func start(_ connection: ConnectionOptions) async throws {
        guard try await isSignedUp() else {
            throw ProgramFault(
                "this account has no name here yet: `\(ProgramName.current) sign-up"
                    + "\(connection.repeated) \(session.email ?? "EMAIL") --name NAME`"
            )
        }
        for event in try await inbox.apply() { note(try await text(of: event)) }
        for party in try await inbox.mend() {
            note("the party \(party.shown) is gone, or not for you: it is off your lists")
        }
        for photo in try await photos.mend() {
            switch photo {
            case .finished(let key): note("the photo \(key.shown), half added before, is added now")
            case .removed(let key): note("the photo \(key.shown), half added before, is deleted")
            }
        }
        try await accounts.mendPictures()
    }

    /// Whether the account has its entry: an earlier sign-up may have been cut off before it.
    func isSignedUp() async throws -> Bool {
        do {
            _ = try await accounts.me()
            return true
        } catch ServiceError.notFound {
            return false
        }
    }

    /// Prints a side effect of the command.
    private func note(_ text: String) { StandardError.print("note: \(Output.line(text))") }

    // MARK: Users' input

    /// The person with an address.
    func person(_ email: String) async throws -> PartyProfile {
        guard let profile = try await accounts.find(email: email) else {
            throw ProgramFault("no one is signed up as \(email): check the address, or ask them to")
        }
        return profile
    }

    /// The party of a key, or the only one whose description begins so.
    func party(_ text: String) async throws -> HostedParty {
        let parties = try await visibleParties()
        if let party = parties.first(where: { $0.key.isShown(as: text) }) { return party }
        let wanted = text.lowercased()
        let found = parties.filter { $0.description.lowercased().hasPrefix(wanted) }
        if let exact = found.only({ $0.description.lowercased() == wanted }) { return exact }
        guard let first = found.first else {
            throw ProgramFault(
                "no party of yours begins with \"\(text)\": "
                    + "`\(ProgramName.current) parties` lists them"
            )
        }
        guard found.count == 1 else {
            let keys = found.map(\.key.shown).joined(separator: ", ")
            throw ProgramFault("\(found.count) parties begin with \"\(text)\"; use a key: \(keys)")
        }
        return first
    }

    /// The own parties, those one goes to, and those one is invited to; the next first.
    func visibleParties() async throws -> [HostedParty] {
        let (owned, attending) = (try await parties.owned(), try await parties.attending())
        var parties = owned.records + attending.records
        for fault in owned.faults + attending.faults { Output.warn(fault.description) }
        for message in try await inbox.messages().records where message.isQuestion {
            guard case .party(let key) = message.subject,
                !parties.contains(where: { $0.key == key })
            else { continue }
            do {
                parties.append(try await self.parties.show(key))
            } catch ServiceError.notFound {
                continue
            }
        }
        return parties.sorted { ($0.date, $0.key) < ($1.date, $1.key) }
    }

    /// The question of a key or a number; the only one when none is named.
    func question(_ text: String?) async throws -> PartyMessage {
        let questions = try await inbox.messages().records.filter(\.isQuestion)
        let listing = "`\(ProgramName.current) inbox` lists what waits for you"
        guard let text else {
            guard questions.count == 1 else {
                throw ProgramFault(
                    questions.isEmpty
                        ? "nothing waits for your answer"
                        : "\(questions.count) questions wait: name one; \(listing)"
                )
            }
            return questions[0]
        }
        if let question = questions.first(where: { $0.key.isShown(as: text) }) { return question }
        guard let number = Int(text), questions.indices.contains(number - 1) else {
            throw ProgramFault("there is no message \(text) to answer: \(listing)")
        }
        return questions[number - 1]
    }
}

/// A command of the signed-in user.
protocol PartyCommand: AsyncParsableCommand {
    var connection: ConnectionOptions { get }

    /// Does the work of the command.
    func perform(_ party: PartySession) async throws
}

extension PartyCommand {
    func run() async throws { try await PartySession.run(connection, perform) }
}

/// Keys as people see and type them: without the dash in front, which would make them an option.
extension String {
    /// This key, for people.
    var shown: String { hasPrefix("-") ? String(dropFirst()) : self }

    /// Whether a user's input means this key.
    func isShown(as text: String) -> Bool { self == text || shown == text }
}

extension Array {
    /// The element for which something holds, if it is one.
    fileprivate func only(_ holds: (Element) -> Bool) -> Element? {
        let found = filter(holds)
        return found.count == 1 ? found[0] : nil
    }
}
