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

    /// Entries of the index that one search reads at the most, unless it is asked for more people: whoever has so many
    /// accounts put under one beginning can still hide others.
    static let longestRead = 500

    /// The people who are found by a beginning, in the order of their accounts, `limit` of them at the most.
    ///
    /// - Throws: `ServiceError`: `invalid` when the beginning is too short.
    public func find(
        _ beginning: String,
        in field: SearchField,
        limit: Int = 50,
    ) async throws -> Listing<UserProfile> {
        try await find(beginning, in: field, limit: limit, reading: max(limit, Self.longestRead))
    }

    /// As above, with a number of entries that are read at the most.
    package func find(
        _ beginning: String,
        in field: SearchField,
        limit: Int,
        reading longest: Int,
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
        return try await people(
            under: prefix,
            in: field,
            limit: limit,
            reading: longest,
            purpose: "search for \(beginning)",
        ) { profile in
            switch field {
            case .name:
                // Entries may be older than a name, and prefixes shorter than what was asked for.
                profile.names.contains { SearchPrefixes.matches($0, beginning, in: field) }
            case .email, .phone: true
            }
        }
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
            reading: Self.longestRead,
            purpose: "look for the address \(email)",
        )
    }

    /// Anybody puts themselves under any prefix, so it is read on until there are enough whom it fits.
    private func people(
        under prefix: String,
        in field: SearchField,
        limit: Int,
        reading longest: Int,
        purpose: String,
        where fits: (UserProfile) -> Bool = { _ in true },
    ) async throws -> Listing<UserProfile> {
        let users = UserService(database: database, uid: uid)
        let entries = database.reference(withPath: "searchIndex/\(field.rawValue)").child(prefix)
            .queryOrderedByKey()
        var listing = Listing<UserProfile>()
        var query = entries
        var left = longest
        while left > 0 {
            let count = min(limit, left)
            let page = query.queryLimited(toFirst: UInt(count))
            let uids = try await ServiceError.naming(purpose) { try await page.getData().keys }
            let people = try await users.profiles(of: uids)
            listing.records += people.records.filter(fits)
            listing.faults += people.faults
            guard listing.records.count < limit, uids.count == count, let last = uids.last
            else { break }
            query = entries.queryStarting(afterValue: last)
            left -= count
        }
        listing.records = Array(listing.records.prefix(limit))
        return listing
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
