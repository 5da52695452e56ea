import Foundation
public import HearthDatabase
import Records

/// Profiles and usernames, as the signed-in user `uid`.
public struct UserService: Sendable {
    /// Where the people are.
    public let database: Database
    /// Who acts.
    public let uid: String
    /// What is kept of a person.
    public let records: PersonRecords

    /// How often a refused claim is looked into and made again, when what was refused is no longer so.
    static let attempts = 3

    /// The users of a database; `uid` is the account that its app is signed in with.
    public init(database: Database, uid: String, records: PersonRecords = .messagingKit) {
        self.database = database
        self.uid = uid
        self.records = records
    }

    /// Makes the user's profile and claims the username, in one update.
    ///
    /// Usernames are unique in whatever letter case: of two who claim one at once the server lets one have it. To
    /// sign up again with the same name changes nothing.
    /// - Parameters:
    ///   - username: 1 to 30 of `A-Z a-z 0-9 _ -`.
    ///   - name: The name as people say it; the username if there is none.
    ///   - email: For `private/{uid}`, and for those who know the whole of it: the index has no beginning of it before
    ///     `ProfileService.saveDetails` is told so. Up to 254 characters.
    /// - Returns: The profile as it is in the database.
    /// - Throws: `ServiceError`: `taken` when somebody else has the username.
    @discardableResult
    public func create(
        username: String,
        name: String? = nil,
        email: String? = nil,
    ) async throws -> UserProfile {
        try Self.check(username: username, name: name)
        if let email { try ServiceError.checkLength(of: email, "email", 1...254) }
        let profile = UserProfile(uid: uid, username: username, name: name)
        let update = signUp(profile, email: email)
        for attempt in 1... {
            if let known = try await show(forUID: uid) { return try same(known, as: username) }
            do throws(ServiceError) {
                try await database.update(update, to: "sign up as \(username)")
                return profile
            } catch {
                try await explain(error, claiming: username, attempt)
            }
        }
        throw ServiceError.refused("sign up as \(username)")
    }

    /// Whether `create` would take them, for whoever asks before there is an account.
    ///
    /// - Throws: `ServiceError.invalid`.
    package static func check(username: String, name: String?) throws(ServiceError) {
        try Username.check(username)
        if let name { try ServiceError.checkLength(of: name, "name", 1...100) }
    }

    private func same(_ known: UserProfile, as username: String) throws(ServiceError) -> UserProfile
    {
        guard known.username.lowercased() == username.lowercased() else {
            throw .invalid(field: "username", why: "you are \(known.username) already")
        }
        return known
    }

    private func signUp(_ profile: UserProfile, email: String?) -> [String: Any] {
        var user: [String: Any] = ["username": profile.username]
        user["name"] = profile.name
        var update: [String: Any] = [
            PersonTree.user(uid): user, PersonTree.username(profile.username): uid,
        ]
        switch records {
        case .graph: break
        case .messagingKit:
            update[PersonTree.profile(uid)] = [
                "username": profile.username, "name": profile.name ?? profile.username,
            ]
            update.merge(
                PersonTree.index(of: uid, in: .name, from: [], to: profile.names)
            ) { $1 }
            if let email {
                update[PersonTree.details(uid)] = ["email": email]
                // Its beginnings would let anybody spell the address out.
                update.merge(PersonTree.whole(email, of: uid, in: .email)) { $1 }
            }
        }
        return update
    }

    /// Returns if the claim may go through now.
    ///
    /// - Throws: Why it did not.
    private func explain(
        _ error: ServiceError,
        claiming username: String,
        _ attempt: Int,
    ) async throws(ServiceError) {
        guard case .refused = error else { throw error }
        let owner = try await ServiceError.naming("look up \(username)") {
            try await uid(forUsername: username)
        }
        if let owner, owner != uid { throw .taken(username) }
        if attempt >= Self.attempts { throw error }
    }

    /// The profile of an account; nil when it has none.
    ///
    /// - Throws: `ServiceError`: `faulty` when what is there is no profile.
    public func show(forUID uid: String) async throws -> UserProfile? {
        let uid = try uid.key("uid")
        return try await ServiceError.naming("look at the profile of \(uid)") {
            let snapshot = try await place(PersonTree.user(uid)).getData()
            return snapshot.exists() ? try snapshot.record(as: UserProfile.self) : nil
        }
    }

    /// The profile of the user who acts.
    ///
    /// - Throws: `ServiceError`: `notFound` before `create`.
    public func me() async throws -> UserProfile {
        guard let profile = try await show(forUID: uid) else {
            throw ServiceError.notFound("profile of yours: choose a username first")
        }
        return profile
    }

    /// Who has a username, in whatever letter case; nil when it is free, or can be none.
    ///
    /// - Throws: `ServiceError`.
    public func uid(forUsername username: String) async throws -> String? {
        guard Username.isValid(username) else { return nil }
        return try await ServiceError.naming("look up \(username)") {
            try await place(PersonTree.username(username)).getData().value as? String
        }
    }

    /// Gives the user another username; the old one is free again, in the same update.
    ///
    /// - Returns: The profile as it is then.
    /// - Throws: `ServiceError`: `taken` when somebody else has it.
    @discardableResult
    public func changeUsername(to username: String) async throws -> UserProfile {
        try Username.check(username)
        for attempt in 1... {
            let old = try await me()
            if old.username == username { return old }
            let new = old.with(username: username)
            do throws(ServiceError) {
                try await ServiceError.naming("take the username \(username)") {
                    let update = try await rename(old, to: new)
                    try await database.reference().updateChildValues(update)
                }
                return new
            } catch {
                try await explain(error, claiming: username, attempt)
            }
        }
        throw ServiceError.refused("take the username \(username)")
    }

    private func rename(_ old: UserProfile, to new: UserProfile) async throws -> [String: Any] {
        var update: [String: Any] = [
            "\(PersonTree.user(uid))/username": new.username,
            PersonTree.username(old.username): NSNull(),
        ]
        // After the old one: a name in another letter case has the same entry, which stays.
        update[PersonTree.username(new.username)] = uid
        switch records {
        case .graph: break
        case .messagingKit:
            guard try await hasKitProfile() else { break }
            let profile = PersonTree.profile(uid)
            update["\(profile)/username"] = new.username
            update["\(profile)/name"] = new.name ?? new.username
            update.merge(
                PersonTree.index(of: uid, in: .name, from: old.names, to: new.names)
            ) { $1 }
        }
        return update
    }

    private func hasKitProfile() async throws -> Bool {
        try await place(PersonTree.profile(uid)).child("username").getData().exists()
    }

    func place(_ path: String) -> DatabaseReference { database.reference(withPath: path) }
}
