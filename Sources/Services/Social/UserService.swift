import Foundation
public import HearthDatabase

/// Profiles and usernames, as the signed-in user `uid`. Operations throw `ServiceError`.
public struct UserService: Sendable {
    /// Where the people are.
    public let database: Database
    /// Who acts.
    public let uid: String
    /// The stored records of a person.
    public let records: PersonRecords

    /// How often a refused claim is examined and repeated, when the reason for the refusal has gone.
    static let attempts = 3

    /// The users of a database; `uid` is the account that its app is signed in with.
    public init(database: Database, uid: String, records: PersonRecords = .messagingKit) {
        self.database = database
        self.uid = uid
        self.records = records
    }

    /// Makes the user's profile and claims the username, in one update.
    ///
    /// Usernames are unique, ignoring case: if two people claim one at the same time, one gets it. Signing up again
    /// with the same name changes nothing. Returns the profile in the database.
    ///
    /// The username is 1 to 30 of `A-Z a-z 0-9 _ -`; the displayed name is the username by default. The email, of up to
    /// 254 characters, is for `private/{uid}`, and to be found by its whole text; `ProfileService.saveDetails` can add
    /// its beginnings to the index.
    /// - Throws: `ServiceError`: `taken` when another account has the username.
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

    /// Whether `create` would accept them, to check before there is an account.
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
            "users/\(uid)": user, PersonTree.username(profile.username): uid,
        ]
        switch records {
        case .graph: break
        case .messagingKit:
            update["profiles/\(uid)"] = [
                "username": profile.username, "name": profile.name ?? profile.username,
            ]
            update.merge(PersonTree.index(of: uid, in: .name, from: [], to: profile.names)) { $1 }
            if let email {
                update["private/\(uid)"] = ["email": email]
                // With its beginnings, anyone could find out the address.
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
    /// - Throws: `ServiceError`: `faulty` when the stored value is not a profile.
    public func show(forUID uid: String) async throws -> UserProfile? {
        let path = "users/\(try uid.key("uid"))"
        return try await database.record(path, to: "look at the profile of \(uid)")
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

    /// The account that has a username, ignoring case; nil when it is free or invalid.
    public func uid(forUsername username: String) async throws -> String? {
        guard Username.isValid(username) else { return nil }
        let path = PersonTree.username(username)
        return try await database.read(path, to: "look up \(username)").value as? String
    }

    /// Gives the user another username; the old one is free again, in the same update.
    ///
    /// - Returns: The new profile.
    /// - Throws: `ServiceError`: `taken` when another account has it.
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
            "users/\(uid)/username": new.username,
            PersonTree.username(old.username): NSNull(),
        ]
        // After the removal of the old one: if only the case changes, it is the same entry and must stay.
        update[PersonTree.username(new.username)] = uid
        switch records {
        case .graph: break
        case .messagingKit:
            let profile = "profiles/\(uid)"
            let purpose = "take the username \(new.username)"
            let known = try await database.read("\(profile)/username", to: purpose)
            guard known.exists() else { break }
            update["\(profile)/username"] = new.username
            update["\(profile)/name"] = new.name ?? new.username
            update.merge(
                PersonTree.index(of: uid, in: .name, from: old.names, to: new.names)
            ) { $1 }
        }
        return update
    }
}
