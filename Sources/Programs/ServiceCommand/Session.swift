import Dispatch
package import HearthAuth
package import HearthCore
package import HearthDatabase

/// A signed-in user and their connection.
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
    /// The files of this profile; the folder may not exist yet.
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

    /// Ends the connection, with all that the server does then; the user stays signed in.
    package func close() async { await app.delete() }

    /// Runs an operation, then ends the connection, also when the operation throws.
    package func closing<Value>(
        after operation: () async throws -> Value
    ) async throws -> Value {
        try await app.closing(after: operation)
    }
}

extension Session {
    /// The data at a location: at once if it is stored on disk, else when the server sends it.
    ///
    /// - Throws: `ProgramFault` when neither happens before the deadline, in seconds; refusals by the rules.
    package func knownValue(
        of path: String,
        within seconds: Double,
    ) async throws -> DataSnapshot {
        let (answers, continuation) = AsyncThrowingStream<DataSnapshot, any Error>.makeStream(
            bufferingPolicy: .bufferingOldest(1)
        )
        let location = database.reference(withPath: path)
        let handle = location.observe(
            .value,
            with: { continuation.yield($0) },
            withCancel: { continuation.finish(throwing: $0) }
        )
        defer { location.removeObserver(withHandle: handle) }
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { continuation.finish() }
        for try await answer in answers { return answer }
        throw ProgramFault.unreachable(server)
    }
}

extension HearthApp {
    /// Runs an operation, then deletes the app, also when the operation throws.
    func closing<Value>(after operation: () async throws -> Value) async throws -> Value {
        let value: Value
        do {
            value = try await operation()
        } catch {
            await delete()
            throw error
        }
        await delete()
        return value
    }
}
