import Records
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

    // The deadline, in seconds, is for a profile that is not kept on disk; nil: the connection stands.
    private init(_ session: Session, repeated: String, deadline: Double?) async throws {
        self.session = session
        people = UserService(database: session.database, uid: session.uid)
        search = SearchService(database: session.database, uid: session.uid)
        if let deadline {
            let kept = try await session.knownValue(of: "users/\(session.uid)", within: deadline)
            if kept.exists() {
                me = try kept.record(as: UserProfile.self)
                return
            }
        }
        guard let me = try await people.show(forUID: session.uid) else {
            throw ProgramFault(
                "your account has no username yet: `\(ProgramName.current) sign-up\(repeated) "
                    + "\(session.email ?? "EMAIL") USERNAME`"
            )
        }
        self.me = me
    }

    /// Connects, as whoever is signed in.
    package static func open(
        _ options: ConnectionOptions,
        isKept: Bool = false,
    ) async throws -> SocialMember {
        let session = try await options.session(database: database, isKept: isKept)
        do {
            return try await SocialMember(
                session,
                repeated: options.repeated,
                deadline: isKept ? options.deadline : nil,
            )
        } catch {
            await session.close()
            throw error
        }
    }

    /// Runs a command as whoever is signed in, and closes the connection behind it.
    ///
    /// - Parameters:
    ///   - options: Which server and profile.
    ///   - isKept: Whether what was seen is kept on disk, and the command runs without a connection too.
    ///   - body: The command.
    /// - Throws: `ProgramFault`, and what the command throws.
    package static func run(
        _ options: ConnectionOptions,
        isKept: Bool = false,
        _ body: (SocialMember) async throws -> Void
    ) async throws {
        let member = try await open(options, isKept: isKept)
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
