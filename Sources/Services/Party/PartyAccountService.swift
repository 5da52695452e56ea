import Foundation
public import HearthDatabase

/// The own entry, and how others are found.
public struct PartyAccountService: Sendable {
    let tree: PartyTree

    /// The service as this signed-in user has it.
    public init(database: Database, uid: String) { tree = PartyTree(database: database, uid: uid) }

    /// Writes the own entry, profile and address in one update.
    ///
    /// `email` is the address that the account signs in with.
    /// - Throws: `ServiceError.taken` when this account has an entry, or another one has the address.
    @discardableResult
    public func signUp(
        email: String,
        name: String,
        picture: String? = nil,
    ) async throws -> PartyProfile {
        try ServiceError.checkLength(of: email, "email", PartyLimits.emailLength)
        let profile = try checked(name, picture)
        let purpose = "sign up as \(email)"
        if try await tree.read("users/\(tree.uid)", to: purpose).exists() {
            throw ServiceError.taken("this account's entry")
        }
        let key = EmailKey.encoded(email)
        let owner = try await tree.read("emails/\(key)", to: purpose).value as? String
        guard owner == nil || owner == tree.uid else { throw ServiceError.taken(email) }
        var update = PartyUpdate(by: tree.uid)
        update.set("users/\(tree.uid)", ["uid": tree.uid, "email": email])
        update.set("profiles/\(tree.uid)", profile.fields)
        update.set("emails/\(key)", tree.uid)
        try await tree.write(update, to: purpose) {
            try await tree.read("users/\(tree.uid)", to: purpose).exists()
        }
        return profile
    }

    /// Changes the public profile.
    public func change(name: String, picture: String? = nil) async throws {
        var update = PartyUpdate(by: tree.uid)
        update.set("profiles/\(tree.uid)", try checked(name, picture).fields)
        try await tree.write(update, to: "change your profile")
    }

    /// The own entry.
    ///
    /// - Throws: `ServiceError.notFound` before `signUp`.
    public func me() async throws -> PartyUser { try await tree.user() }

    /// The profile with an address; nil when there is none.
    public func find(email: String) async throws -> PartyProfile? {
        let key = EmailKey.encoded(email)
        _ = try key.key("email")
        let entry = try await tree.read("emails/\(key)", to: "look up \(email)")
        guard let uid = entry.value as? String, PartyLimits.isUser(uid) else { return nil }
        return try await tree.profile(of: uid) ?? PartyProfile(uid: uid, name: email, picture: nil)
    }

    /// The public profile of a user; nil when there is none.
    public func profile(of uid: String) async throws -> PartyProfile? {
        try PartyLimits.check(user: uid)
        return try await tree.profile(of: uid)
    }

    private func checked(_ name: String, _ picture: String?) throws(ServiceError) -> PartyProfile {
        try ServiceError.checkLength(of: name, "name", PartyLimits.nameLength)
        if let picture {
            try ServiceError.checkLength(of: picture, "picture", PartyLimits.pictureLength)
        }
        return PartyProfile(uid: tree.uid, name: name, picture: picture)
    }
}

extension PartyProfile {
    fileprivate var fields: [String: Any] {
        var fields = ["name": name]
        fields["picture"] = picture
        return fields
    }
}
