import Foundation
public import HearthDatabase

/// Finds people by the beginning of a name, an e-mail address or a phone number, as the signed-in user `uid`.
///
/// Those are found who have put themselves into the index. Each prefix is looked at alone: the index cannot be read as
/// a whole, and of addresses and numbers only prefixes of five characters and more are in it. Who has signed up with an
/// address is found by the whole of it alone; by beginnings only those who have asked for that. Operations throw
/// `ServiceError`.
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

    /// The most index entries that one search reads, unless more people are requested. A person with this many
    /// accounts under one beginning can still hide others.
    package var longestRead = 500

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
                why: "a search needs \(count) \(count == 1 ? "character" : "characters") or more"
            )
        }
        guard limit > 0 else {
            throw ServiceError.invalid(field: "limit", why: "it is not positive")
        }
        return try await people(
            under: prefix,
            in: field,
            limit: limit,
            reading: max(limit, longestRead),
            purpose: "search for \(beginning)",
        ) { profile in
            switch field {
            case .name:
                // Entries may be older than a name, and prefixes shorter than the searched text.
                profile.names.contains { SearchPrefixes.matches($0, beginning, in: field) }
            case .email, .phone: true
            }
        }
    }

    /// The people with a whole email address, up to two of them: the index does not prove addresses.
    ///
    /// This also finds people by a beginning that is an address. An address that is too long for the index cannot be
    /// found.
    public func find(email: String) async throws -> Listing<UserProfile> {
        guard let key = SearchPrefixes.wholeKey(of: email, in: .email) else { return Listing() }
        return try await people(
            under: key,
            in: .email,
            limit: 2,
            reading: longestRead,
            purpose: "look for the address \(email)",
        )
    }

    /// Anyone can add themselves under any prefix, so it reads on until enough people match.
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
            let uids = try await page.read(to: purpose).keys
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
    public func index(_ text: String, in field: SearchField) async throws {
        let update = PersonTree.index(of: uid, in: field, from: [], to: [text])
        guard !update.isEmpty else { return }
        try await database.update(update, to: "be found by \(text)")
    }

    /// Lets the user no longer be found by a text, whole or by its beginnings, in one update.
    public func remove(_ text: String, in field: SearchField) async throws {
        let update = PersonTree.index(of: uid, in: field, from: [text], to: [])
        guard !update.isEmpty else { return }
        try await database.update(update, to: "be found by \(text) no longer")
    }
}
