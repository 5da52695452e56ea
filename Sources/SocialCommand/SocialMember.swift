package import ServiceCommand
package import SocialGraph

/// Whoever is signed in to a program of the social database, with a connection that stands.
package struct SocialMember: Sendable {
    package let session: Session
    package let me: UserProfile
    package let people: UserService
    package let search: SearchService

    /// The database of chats and timelines.
    package static let database = "social"

    private init(_ session: Session, repeated: String) async throws {
        self.session = session
        people = UserService(database: session.database, uid: session.uid)
        search = SearchService(database: session.database, uid: session.uid)
        guard let me = try await people.show(forUID: session.uid) else {
            throw ProgramFault(
                "your account has no username yet: `\(ProgramName.current) sign-up\(repeated) "
                    + "\(session.email ?? "EMAIL") USERNAME`"
            )
        }
        self.me = me
    }

    /// Connects, as whoever is signed in.
    package static func open(_ options: ConnectionOptions) async throws -> SocialMember {
        let session = try await options.session(database: database)
        do {
            return try await SocialMember(session, repeated: options.repeated)
        } catch {
            await session.close()
            throw error
        }
    }

    /// Runs a command as whoever is signed in, and closes the connection behind it.
    package static func run(
        _ options: ConnectionOptions,
        _ body: (SocialMember) async throws -> Void
    ) async throws {
        let member = try await open(options)
        do {
            try await body(member)
        } catch {
            await member.session.close()
            throw error
        }
        await member.session.close()
    }

    /// The person that somebody has typed: a username, with `@` in front or not, or an e-mail address.
    ///
    /// - Throws: `ServiceError.notFound`; `ProgramFault` when an address finds several.
    package func person(_ text: String) async throws -> UserProfile {
        let text = text.hasPrefix("@") ? String(text.dropFirst()) : text
        if text.contains("@") {
            let found = try await search.find(email: text).records
            guard let person = found.first else {
                throw ServiceError.notFound("person with the address \(text)")
            }
            guard found.count == 1 else {
                throw ProgramFault("more than one person is found by \(text): write the username")
            }
            return person
        }
        guard let uid = try await people.uid(forUsername: text),
            let person = try await people.show(forUID: uid)
        else { throw ServiceError.notFound("person called \(text)") }
        return person
    }
}
