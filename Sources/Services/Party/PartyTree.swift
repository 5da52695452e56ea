import Foundation
import HearthDatabase
import Social

/// The tree as one signed-in user sees it: the services' reads, and the one way they write.
struct PartyTree: Sendable {
    let database: Database
    let uid: String

    /// A new unique key, in the order of the server's time.
    func newKey() throws(ServiceError) -> String {
        guard let key = database.reference(withPath: "messages/\(uid)").childByAutoId().key else {
            throw .invalid(field: "user", why: "\"\(uid)\" is no id of a user")
        }
        return key
    }

    func read(_ path: String, to purpose: String) async throws(ServiceError) -> DataSnapshot {
        try await database.read(path, to: purpose)
    }

    func user() async throws(ServiceError) -> PartyUser {
        guard let user: PartyUser = try await database.record("users/\(uid)", to: "see who you are")
        else { throw .notFound("entry of this account: sign up with a name first") }
        return user
    }

    /// The public profile of a user; nil when it is missing or invalid.
    func profile(of other: String) async throws(ServiceError) -> PartyProfile? {
        let snapshot = try await read("profiles/\(other)", to: "see a profile")
        return try? snapshot.record(as: PartyProfile.self)
    }

    func inbox() async throws(ServiceError) -> Listing<PartyMessage> {
        Self.inbox(try await read("messages/\(uid)", to: "read your inbox"))
    }

    static func inbox(_ snapshot: DataSnapshot) -> Listing<PartyMessage> {
        var listing = snapshot.records(as: PartyMessage.self)
        listing.records.sort(by: PartyMessage.isBefore)
        return listing
    }

    /// A party; nil when this user cannot see it: it was cancelled, or they are not invited.
    func visibleParty(_ key: String) async throws(ServiceError) -> HostedParty? {
        do throws(ServiceError) {
            return try await database.record("parties/\(key)", to: "see the party \(key)")
        } catch .refused {
            return nil
        }
    }

    /// Whether this user can see a party, valid or not.
    func sees(_ key: String) async throws(ServiceError) -> Bool {
        do {
            return try await read("parties/\(key)/owner", to: "see the party \(key)").exists()
        } catch .refused {
            return false
        }
    }

    /// Whether a message is in the own inbox with this content.
    func has(_ message: PartyMessage) async throws(ServiceError) -> Bool {
        let location = "messages/\(uid)/\(message.key)/messageContent"
        let content = try await read(location, to: "read your inbox").value as? String
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
    /// then because it is done: the party that it makes exists. So a refusal counts only if `isDone`, which checks
    /// this user's view for the state after the update, is false as well. It is left out if this user cannot see the
    /// result, or if the rules allow repeating everything.
    /// - Throws: `refused`, once that is certain, and errors of `isDone`.
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

    /// Writes an update that decides a question of the own inbox. It is done when the question from before is gone, and
    /// `isSeen` finds the result.
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

/// The changes of a step of a flow, in one update.
struct PartyUpdate {
    private(set) var values: [String: Any] = [:]
    private let uid: String

    init(by uid: String) { self.uid = uid }

    mutating func set(_ path: String, _ value: Any) { values[path] = value }

    mutating func remove(_ path: String) { values[path] = NSNull() }

    mutating func setOwn(_ path: String, _ value: Any) { values["users/\(uid)/\(path)"] = value }

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
        removeMessage(message)
    }

    /// Takes a message out of the own inbox.
    mutating func removeMessage(_ message: PartyMessage) {
        remove("messages/\(uid)/\(message.key)")
    }
}
