import Foundation
import HearthDatabase
import Records

/// The tree as one signed-in user sees it: what the services read, and the one way they write.
struct PartyTree: Sendable {
    let database: Database
    let uid: String

    /// A key that nobody has, in the order of the server's time.
    func newKey() throws(ServiceError) -> String {
        guard let key = database.reference(withPath: "messages/\(uid)").childByAutoId().key else {
            throw .invalid(field: "user", why: "\"\(uid)\" is no id of a user")
        }
        return key
    }

    /// What is at a path.
    func read(_ path: String, to purpose: String) async throws(ServiceError) -> DataSnapshot {
        try await ServiceError.naming(purpose) {
            try await database.reference(withPath: path).getData()
        }
    }

    /// The own entry.
    func user() async throws(ServiceError) -> PartyUser {
        let snapshot = try await read("users/\(uid)", to: "see who you are")
        guard snapshot.exists() else {
            throw .notFound("entry of this account: sign up with a name first")
        }
        do {
            return try snapshot.record(as: PartyUser.self)
        } catch {
            throw .faulty(error)
        }
    }

    /// What others see of somebody; nil when there is nothing, or nothing that makes sense.
    func profile(of other: String) async throws(ServiceError) -> PartyProfile? {
        let snapshot = try await read("profiles/\(other)", to: "see a profile")
        return try? snapshot.record(as: PartyProfile.self)
    }

    /// The own inbox, in order.
    func inbox() async throws(ServiceError) -> Listing<PartyMessage> {
        Self.inbox(try await read("messages/\(uid)", to: "read your inbox"))
    }

    /// An inbox in order.
    static func inbox(_ snapshot: DataSnapshot) -> Listing<PartyMessage> {
        var listing = snapshot.records(as: PartyMessage.self)
        listing.records.sort(by: PartyMessage.isBefore)
        return listing
    }

    /// A party; nil when this user does not see it: it was cancelled, or is none of theirs.
    func visibleParty(_ key: String) async throws(ServiceError) -> HostedParty? {
        do {
            let snapshot = try await read("parties/\(key)", to: "see the party \(key)")
            guard snapshot.exists() else { return nil }
            return try snapshot.record(as: HostedParty.self)
        } catch let error as ServiceError {
            if case .refused = error { return nil }
            throw error
        } catch let fault as RecordFault {
            throw .faulty(fault)
        } catch {
            throw ServiceError(error, purpose: "see the party \(key)")
        }
    }

    /// Whether this user sees a party, whatever is wrong with it.
    func sees(_ key: String) async throws(ServiceError) -> Bool {
        do {
            return try await read("parties/\(key)/owner", to: "see the party \(key)").exists()
        } catch .refused {
            return false
        }
    }

    /// Whether a message is in the own inbox with this content.
    func has(_ message: PartyMessage) async throws(ServiceError) -> Bool {
        let place = "messages/\(uid)/\(message.key)/messageContent"
        let content = try await read(place, to: "read your inbox").value as? String
        return content == message.content.rawValue
    }

    /// A party.
    ///
    /// - Throws: `notFound` when this user does not see it.
    func party(_ key: String) async throws(ServiceError) -> HostedParty {
        try PartyLimits.check(key: key, "party")
        guard let party = try await visibleParty(key) else {
            throw .notFound("party \(key) that you may see; it may have been cancelled")
        }
        return party
    }

    /// A party of one's own.
    func ownParty(_ key: String) async throws(ServiceError) -> HostedParty {
        let party = try await party(key)
        guard party.owner == uid else {
            throw .invalid(field: "party", why: "it is another's, who alone changes it")
        }
        return party
    }

    /// Writes an update: all of it, or nothing.
    ///
    /// A client that loses its connection before the answer sends the update once more, and the rules may refuse it
    /// then because it is done: the party that it makes is there. So a refusal is believed only when `isDone`, which
    /// looks at what this user sees, says no as well.
    ///
    /// - Parameters:
    ///   - update: What is written.
    ///   - purpose: What is to be done, for the refusal.
    ///   - isDone: Whether it looks as it does after the update, and did not before. There is none where this user would
    ///     see nothing of it, or where the rules let everything be done again.
    /// - Throws: `refused`, once that is certain, and what `isDone` throws.
    func write(
        _ update: PartyUpdate,
        to purpose: String,
        unless isDone: () async throws -> Bool = { false },
    ) async throws(ServiceError) {
        do {
            try await database.update(update.values, to: purpose)
        } catch .refused(let purpose) {
            let isDone = try await ServiceError.naming(purpose) {
                try await database.connected(isDone)
            }
            guard isDone else { throw .refused(purpose) }
        }
    }

    /// Writes an update that decides a question of the own inbox.
    ///
    /// It is done once the question that waited before is gone, and what `isSeen` looks for is there.
    func write(
        _ update: PartyUpdate,
        deciding question: PartyMessage,
        to purpose: String,
        isSeen: () async throws -> Bool = { true },
    ) async throws(ServiceError) {
        let wasWaiting = try await has(question)
        try await write(update, to: purpose) {
            guard wasWaiting, try await !has(question) else { return false }
            return try await isSeen()
        }
    }
}

/// What a step of a flow changes, in one update.
struct PartyUpdate {
    private(set) var values: [String: Any] = [:]
    private let uid: String

    /// - Parameter uid: Who writes it.
    init(by uid: String) { self.uid = uid }

    /// Replaces what is at a path.
    mutating func set(_ path: String, _ value: Any) { values[path] = value }

    /// Removes what is at a path.
    mutating func remove(_ path: String) { values[path] = NSNull() }

    /// Replaces or removes a part of the own entry.
    mutating func setOwn(_ path: String, _ value: Any) { values["users/\(uid)/\(path)"] = value }

    /// Puts a message into somebody's inbox.
    mutating func send(
        _ subject: PartyMessage.Subject,
        _ content: PartyMessage.Content,
        to receiver: String,
        key: String,
    ) {
        values["messages/\(receiver)/\(key)"] = subject.fields(from: uid, to: receiver, content)
    }

    /// Answers a message of the own inbox under its key, and takes it out.
    mutating func answer(_ message: PartyMessage, _ content: PartyMessage.Content) {
        send(message.subject, content, to: message.from, key: message.key)
        remove(message)
    }

    /// Takes a message out of the own inbox.
    mutating func remove(_ message: PartyMessage) {
        remove("messages/\(uid)/\(message.key)")
    }
}
