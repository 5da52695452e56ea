import Foundation
public import HearthDatabase

/// A messaging kit's data about people besides their usernames, as the signed-in user `uid`.
/// Operations throw `ServiceError`.
public struct ProfileService: Sendable {
    /// Where the people are.
    public let database: Database
    /// Who acts.
    public let uid: String

    /// The profiles of a database; `uid` is the account that its app is signed in with.
    public init(database: Database, uid: String) {
        self.database = database
        self.uid = uid
    }

    /// The public profile of an account; nil when it has none.
    ///
    /// - Throws: `ServiceError`: `faulty` when the stored value is not a profile.
    public func show(forUID uid: String) async throws -> Profile? {
        let path = "profiles/\(try uid.key("uid"))"
        return try await database.record(path, to: "look at the profile of \(uid)")
    }

    /// Keeps a value with the user's profile, or takes it away when it is nil.
    public func setMeta(_ detail: Detail?, for field: String) async throws {
        try (detail ?? .flag(false)).check(field)
        let path = "profiles/\(uid)/meta/\(field)"
        try await database.update([path: detail?.value ?? NSNull()], to: "keep \(field)")
    }

    /// The details that only the user can read; nil when there are none.
    ///
    /// - Throws: `ServiceError`: `faulty` when the stored value is invalid.
    public func details() async throws -> PrivateDetails? {
        try await database.record("private/\(uid)", to: "look at your private details")
    }

    /// Writes the private details, and which of them others can find the user by, in one update.
    ///
    /// `findable` lists the fields that searches find by their beginnings. An address that is not in it can be found
    /// by its whole text, as after signing up, until `SearchService.remove` removes it from the index; a number
    /// cannot be found.
    public func saveDetails(
        _ details: PrivateDetails,
        findable: Set<SearchField> = [],
    ) async throws {
        try details.check()
        let old = try await self.details()
        var update: [String: Any] = ["private/\(uid)": details.value]
        for field in [SearchField.email, .phone] {
            let new = details.texts(in: field)
            let index = PersonTree.index(
                of: uid,
                in: field,
                from: new + (old?.texts(in: field) ?? []),
                to: findable.contains(field) ? new : [],
            )
            update.merge(index) { $1 }
        }
        for email in details.texts(in: .email) {
            update.merge(PersonTree.whole(email, of: uid, in: .email)) { $1 }
        }
        try await database.update(update, to: "save your private details")
    }
}
