import Records

/// What a user knows of themselves: `users/{uid}`, which nobody else reads.
public struct PartyUser: Equatable, Sendable {
    /// The account.
    public let uid: String
    /// The address that they are found by.
    public let email: String
    /// Who is a friend and who is one no more, or never was.
    public let friendships: [String: Bool]
    /// Keys of the parties that they give, in order.
    public let ownedParties: [String]
    /// Parties of others: whether they go.
    public let attendingParties: [String: Bool]
    /// Keys of the photos that they uploaded, in order.
    public let photos: [String]
    /// Photos whose bytes have arrived and that nothing links to yet, each with the key of its party.
    public let uploads: [String: String]

    /// Who is a friend, in order of their ids.
    public var friends: [String] { friendships.filter(\.value).keys.sorted() }
}

extension PartyUser: Record {
    package struct Stored: Decodable {
        let uid: String
        let email: String
        let friends: [String: Bool]?
        let ownedParties: [String: Bool]?
        let attendingParties: [String: Bool]?
        let photos: [String: Bool]?
        let uploads: [String: String]?
    }

    package init(key: String, stored: Stored) throws {
        guard stored.uid == key else { throw Nonsense("uid: it is another's") }
        uid = key
        email = stored.email
        friendships = stored.friends ?? [:]
        ownedParties = stored.ownedParties?.filter(\.value).keys.sorted() ?? []
        attendingParties = stored.attendingParties ?? [:]
        photos = stored.photos?.filter(\.value).keys.sorted() ?? []
        uploads = stored.uploads ?? [:]
    }
}

/// What everybody sees of a user: `profiles/{uid}`.
public struct PartyProfile: Hashable, Sendable {
    /// The account.
    public let uid: String
    /// The name as people say it; 1 to 100 characters.
    public let name: String
    /// Address of a picture; at most 2,000 characters.
    public let picture: String?

    /// A profile; only `PartyAccountService` writes one.
    public init(uid: String, name: String, picture: String? = nil) {
        self.uid = uid
        self.name = name
        self.picture = picture
    }
}

extension PartyProfile: Record {
    package struct Stored: Decodable {
        let name: String
        let picture: String?
    }

    package init(key: String, stored: Stored) throws {
        guard !stored.name.isEmpty else { throw Nonsense("name: it is empty") }
        self.init(uid: key, name: stored.name, picture: stored.picture)
    }
}
