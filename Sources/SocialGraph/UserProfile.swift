import Records

/// The public face of a person: `users/{uid}`.
public struct UserProfile: Hashable, Sendable {
    /// The account.
    public let uid: String
    /// 1 to 30 of `A-Z a-z 0-9 _ -`; nobody else has it, in upper or lower case.
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

    /// The profile with another username.
    func with(username: String) -> UserProfile {
        UserProfile(uid: uid, username: username, name: name, picture: picture, bio: bio)
    }

    /// What the person is found by in `searchIndex/name`.
    var names: [String] { [username] + (name.map { [$0] } ?? []) }
}

extension UserProfile: Record {
    package struct Stored: Decodable {
        let username: String
        let name: String?
        let picture: String?
        let bio: String?
    }

    package init(key: String, stored: Stored) throws {
        guard !stored.username.isEmpty else { throw Nonsense("username: it is empty") }
        self.init(
            uid: key,
            username: stored.username,
            name: stored.name,
            picture: stored.picture,
            bio: stored.bio,
        )
    }
}
