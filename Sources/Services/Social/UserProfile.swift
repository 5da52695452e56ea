/// The public face of a person: `users/{uid}`.
public struct UserProfile: Hashable, Sendable {
    /// The account.
    public let uid: String
    /// 1 to 30 of `A-Z a-z 0-9 _ -`; unique, ignoring case.
    public let username: String
    /// The name as people say it; at most 100 characters.
    public let name: String?
    /// Address of a picture; at most 2,000 characters.
    public let picture: String?
    /// Some words of their own; at most 1,000 characters.
    public let bio: String?

    /// A profile; only `UserService` writes one.
    public init(
        uid: String,
        username: String,
        name: String? = nil,
        picture: String? = nil,
        bio: String? = nil,
    ) {
        self.uid = uid
        self.username = username
        self.name = name
        self.picture = picture
        self.bio = bio
    }

    func with(username: String) -> UserProfile {
        UserProfile(uid: uid, username: username, name: name, picture: picture, bio: bio)
    }

    /// The names that `searchIndex/name` finds the person by.
    var names: [String] { [username] + (name.map { [$0] } ?? []) }
}

extension UserProfile: Record {
    package init(key: String, stored: Fields) throws {
        uid = key
        username = try stored.text("username")
        name = try stored.optional("name")
        picture = try stored.optional("picture")
        bio = try stored.optional("bio")
    }
}
