package import Social

/// The signed-in user of a program of the social database, connected.
package struct SocialMember: Sendable {
    package let session: Session
    package let me: UserProfile
    package let people: UserService
    package let search: SearchService

    /// The database of chats and timelines.
    package static let database = "social"

    // The deadline, in seconds, is for a profile that is not stored on disk; nil: there is a connection.
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

    /// Connects as the signed-in user.
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

    /// Runs a command as the signed-in user, then closes the connection.
    ///
    /// With `isKept` seen data is stored on disk, and the command also runs without a connection.
    package static func run(
        _ options: ConnectionOptions,
        isKept: Bool = false,
        _ body: (SocialMember) async throws -> Void
    ) async throws {
        let member = try await open(options, isKept: isKept)
        try await member.session.closing { try await body(member) }
    }

    /// The person for an input: a username, with or without `@` in front, or an email address.
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
