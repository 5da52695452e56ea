import Foundation
public import HearthDatabase
public import Records

/// Finds people by the beginning of a name, an e-mail address or a phone number, as the signed-in user `uid`.
///
/// Those are found who have put themselves into the index. Each prefix is looked at alone: the index cannot be read as a
/// whole, and of addresses and numbers only prefixes of five characters and more are in it. Who has signed up with an
/// address is found by the whole of it alone; by beginnings only those who have asked for that.
public struct SearchService: Sendable {
    /// Where the people are.
    public let database: Database
    /// Who acts.
    public let uid: String

    /// The index of a database; `uid` is the account that its app is signed in with.
    public init(database: Database, uid: String) {
        self.database = database
        self.uid = uid
    }

    /// The people who are found by a beginning, in the order of their accounts, `limit` of them at the most.
    ///
    /// - Throws: `ServiceError`: `invalid` when the beginning is too short.
    public func find(
        _ beginning: String,
        in field: SearchField,
        limit: Int = 50,
    ) async throws -> Listing<UserProfile> {
        guard let prefix = SearchPrefixes.key(for: beginning, in: field) else {
            let count = field.shortestPrefix
            throw ServiceError.invalid(
                field: field.rawValue,
                why: "a search needs \(count) \(count == 1 ? "letter" : "characters") or more"
            )
        }
        guard limit > 0 else {
            throw ServiceError.invalid(field: "limit", why: "it is not positive")
        }
        var listing = try await people(
            under: prefix,
            in: field,
            limit: UInt(limit),
            purpose: "search for \(beginning)",
        )
        switch field {
        case .name:
            // Entries may be older than a name, and prefixes shorter than what was asked for.
            listing.records.removeAll { profile in
                !profile.names.contains { SearchPrefixes.matches($0, beginning, in: field) }
            }
        case .email, .phone: break
        }
        return listing
    }

    /// The people who are found by a whole e-mail address, up to two of them: nobody proves an address to the index.
    ///
    /// Who is found by beginnings is found here too by a beginning that is an address. Nobody is found by an address that
    /// is too long for the index.
    /// - Throws: `ServiceError`.
    public func find(email: String) async throws -> Listing<UserProfile> {
        guard let key = SearchPrefixes.wholeKey(of: email, in: .email) else { return Listing() }
        return try await people(
            under: key,
            in: .email,
            limit: 2,
            purpose: "look for the address \(email)",
        )
    }

    private func people(
        under prefix: String,
        in field: SearchField,
        limit: UInt,
        purpose: String,
    ) async throws -> Listing<UserProfile> {
        let query = database.reference(withPath: "searchIndex/\(field.rawValue)").child(prefix)
            .queryOrderedByKey().queryLimited(toFirst: limit)
        let uids = try await ServiceError.naming(purpose) { try await query.getData().keys }
        return try await UserService(database: database, uid: uid).profiles(of: uids)
    }

    /// Lets the user be found by a text and its beginnings, in one update.
    ///
    /// - Throws: `ServiceError`.
    public func index(_ text: String, in field: SearchField) async throws {
        let update = PersonTree.index(of: uid, in: field, from: [], to: [text])
        guard !update.isEmpty else { return }
        try await database.update(update, to: "be found by \(text)")
    }

    /// Lets the user no longer be found by a text, whole or by its beginnings, in one update.
    ///
    /// - Throws: `ServiceError`.
    public func remove(_ text: String, in field: SearchField) async throws {
        let update = PersonTree.index(of: uid, in: field, from: [text], to: [])
        guard !update.isEmpty else { return }
        try await database.update(update, to: "be found by \(text) no longer")
    }
}
