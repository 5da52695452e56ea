import ServiceCommand
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

    static let database = "social"

    private init(_ session: Session, repeated: String) async throws {
        let database = session.database
        let uid = session.uid
        self.session = session
        people = UserService(database: database, uid: uid)
        guard let me = try await people.show(forUID: uid) else {
            throw ProgramFault(
                "your account has no username yet: `\(ProgramName.current) sign-up\(repeated) "
                    + "\(session.email ?? "EMAIL") USERNAME`"
            )
        }
        self.me = me
        posts = PostService(database: database, me: me)
        likes = LikeService(database: database, uid: uid)
        follows = FollowService(database: database, uid: uid)
        timeline = TimelineService(database: database, uid: uid)
        search = SearchService(database: database, uid: uid)
    }

    /// Runs a command as whoever is signed in, and closes the connection behind it.
    static func run(
        _ options: ConnectionOptions,
        _ body: (Client) async throws -> Void
    ) async throws {
        let session = try await options.session(database: database)
        do {
            try await body(try await Client(session, repeated: options.repeated))
        } catch {
            await session.close()
            throw error
        }
        await session.close()
    }

    /// The person that somebody has typed: a username, with `@` in front or not, or an e-mail address.
    func person(_ text: String) async throws -> UserProfile {
        let text = text.hasPrefix("@") ? String(text.dropFirst()) : text
        if text.contains("@") {
            let found = try await search.find(email: text).records
            guard let person = found.first else {
                throw ServiceError.notFound("person with the address \(text)")
            }
            guard found.count == 1 else {
                throw ProgramFault(
                    "more than one person is found by \(text): write the username"
                )
            }
            return person
        }
        guard let uid = try await people.uid(forUsername: text),
            let person = try await people.show(forUID: uid)
        else {
            throw ProgramFault(
                "there is no person called \(text): `\(ProgramName.current) users "
                    + "\(text.prefix(3))` finds people by the beginning of their names"
            )
        }
        return person
    }
}
