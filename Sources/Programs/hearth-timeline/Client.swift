import ArgumentParser
import ServiceCommand
import Timeline

/// The services of the signed-in user.
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

    fileprivate init(_ member: SocialMember) {
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

    /// The person for an input, the user for none: a username, with or without `@` in front, or an email address.
    func person(_ text: String?) async throws -> UserProfile {
        guard let text else { return me }
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

/// A command of the signed-in user.
protocol ClientCommand: AsyncParsableCommand {
    var connection: ConnectionOptions { get }

    /// Does the work of the command.
    func perform(as client: Client) async throws
}

extension ClientCommand {
    func run() async throws {
        try await SocialMember.run(connection) { try await perform(as: Client($0)) }
    }
}
