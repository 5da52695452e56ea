import Dispatch
package import HearthAuth
package import HearthCore
package import HearthDatabase

/// Somebody who is signed in, and the connection that acts as them.
///
/// Callbacks of `auth` and `database` come on queues of their own: nothing here waits for the main queue.
package struct Session: Sendable {
    package let app: HearthApp
    package let auth: Auth
    package let database: Database
    package let uid: String
    /// The account's address, if it has one.
    package let email: String?
    /// `http://localhost:9000`.
    package let server: String
    /// What this profile keeps on disk; the folder may not be there yet.
    package let folder: String

    init(app: HearthApp, user: User, database: Database) {
        self.app = app
        self.auth = Auth.auth(app: app)
        self.database = database
        uid = user.uid
        email = user.email
        server = app.settings.accountsURL
        folder = app.settings.folder
    }

    /// Ends the connection, with all that the server does then; who is signed in stays so.
    package func close() async { await app.delete() }
}

extension Session {
    /// What a place holds: at once where that is kept on disk, else as soon as the server tells it.
    ///
    /// - Throws: `ProgramFault` when neither is so before the deadline, in seconds; what the rules refuse.
    package func knownValue(
        of path: String,
        within seconds: Double,
    ) async throws -> DataSnapshot {
        let (answers, continuation) = AsyncThrowingStream<DataSnapshot, any Error>.makeStream(
            bufferingPolicy: .bufferingOldest(1)
        )
        let place = database.reference(withPath: path)
        let handle = place.observe(
            .value,
            with: { continuation.yield($0) },
            withCancel: { continuation.finish(throwing: $0) }
        )
        defer { place.removeObserver(withHandle: handle) }
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { continuation.finish() }
        for try await answer in answers { return answer }
        throw ProgramFault.unreachable(server)
    }
}
