import ServiceCommand
import SocialCommand
import Timeline

/// The services as whoever is signed in.
struct Client: Sendable {
    let session: Session
    let me: UserProfile
    let people: UserService
    let posts: PostService
    let likes: LikeService
    let follows: FollowService
    let timeline: TimelineService
    let search: SearchService
    private let member: SocialMember

    private init(_ member: SocialMember) {
        let session = member.session
        self.member = member
        self.session = session
        me = member.me
        people = member.people
        search = member.search
        posts = PostService(database: session.database, me: member.me)
        likes = LikeService(database: session.database, uid: session.uid)
        follows = FollowService(database: session.database, uid: session.uid)
        timeline = TimelineService(database: session.database, uid: session.uid)
    }

    /// Runs a command as whoever is signed in, and closes the connection behind it.
    static func run(
        _ options: ConnectionOptions,
        _ body: (Client) async throws -> Void
    ) async throws {
        try await SocialMember.run(options) { try await body(Client($0)) }
    }

    /// The person that somebody has typed: a username, with `@` in front or not, or an e-mail address.
    func person(_ text: String) async throws -> UserProfile {
        let name = text.hasPrefix("@") ? String(text.dropFirst()) : text
        do {
            return try await member.person(text)
        } catch ServiceError.notFound where !name.contains("@") {
            throw ProgramFault(
                "there is no person called \(name): `\(ProgramName.current) users "
                    + "\(name.prefix(3))` finds people by the beginning of their names"
            )
        }
    }
}
