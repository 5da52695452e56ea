import Social

/// A user's private data: `users/{uid}`; only they can read it.
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
    /// Keys of pictures of theirs that the profile does not name, in order: they arrive, or are to go.
    public let pictures: [String]

    /// Who is a friend, in order of their ids.
    public var friends: [String] { friendships.filter(\.value).keys.sorted() }
}

extension PartyUser: Record {
    package init(key: String, stored: Fields) throws {
        uid = try stored.value("uid")
        guard uid == key else { throw Nonsense("uid: it is another's") }
        email = try stored.value("email")
        friendships = try stored.optional("friends") ?? [:]
        ownedParties = try stored.set("ownedParties")
        attendingParties = try stored.optional("attendingParties") ?? [:]
        photos = try stored.set("photos")
        uploads = try stored.optional("uploads") ?? [:]
        pictures = try stored.set("pictures")
    }
}

/// The public data of a user: `profiles/{uid}`.
public struct PartyProfile: Hashable, Sendable {
    /// The account.
    public let uid: String
    /// The name as people say it; 1 to 100 characters.
    public let name: String
    /// Address of a picture; at most 2,000 characters.
    public let picture: String?
}

extension PartyProfile: Record {
    package init(key: String, stored: Fields) throws {
        uid = key
        name = try stored.text("name")
        picture = try stored.optional("picture")
    }
}
