import Foundation
public import HearthDatabase
import Records

/// What a messaging kit keeps of people beside their usernames, as the signed-in user `uid`.
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

    /// What others see of an account; nil when it has no such profile.
    ///
    /// - Throws: `ServiceError`: `faulty` when what is there is no profile.
    public func show(forUID uid: String) async throws -> Profile? {
        let place = database.reference(withPath: PersonTree.profile(try uid.key("uid")))
        return try await ServiceError.naming("look at the profile of \(uid)") {
            let snapshot = try await place.getData()
            return snapshot.exists() ? try snapshot.record(as: Profile.self) : nil
        }
    }

    /// Keeps a value with the user's profile, or takes it away when it is nil.
    ///
    /// - Throws: `ServiceError`.
    public func setMeta(_ detail: Detail?, for field: String) async throws {
        try (detail ?? .flag(false)).check(field)
        let path = "\(PersonTree.profile(uid))/meta/\(field)"
        try await database.update([path: detail?.value ?? NSNull()], to: "keep \(field)")
    }

    /// What nobody but the user sees; nil when nothing is there.
    ///
    /// - Throws: `ServiceError`: `faulty` when what is there makes no sense.
    public func details() async throws -> PrivateDetails? {
        try await ServiceError.naming("look at your private details") {
            let place = database.reference(withPath: PersonTree.details(uid))
            let snapshot = try await place.getData()
            return snapshot.exists() ? try snapshot.record(as: PrivateDetails.self) : nil
        }
    }

    /// Writes what nobody but the user sees, and by what of it others find the user, in one update.
    ///
    /// `findable` is by the beginnings of what. An address that is not among it is found by those who know the whole of
    /// it, as after signing up, until `SearchService.remove` takes it out of the index; a number by nobody.
    /// - Throws: `ServiceError`.
    public func saveDetails(
        _ details: PrivateDetails,
        findable: Set<SearchField> = [],
    ) async throws {
        try details.check()
        let old = try await self.details()
        var update: [String: Any] = [PersonTree.details(uid): details.value]
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
