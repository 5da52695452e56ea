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
