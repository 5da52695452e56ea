import Dispatch
import HearthAuth
import HearthCore
import HearthDatabase
import HearthStorage

/// A player: an account with an address and a password, and its own app for each database.
struct Player: Sendable {
    let name: String
    let uid: String
    let database: Database
    let storage: Storage
    private let app: HearthApp

    var email: String { Self.email(name) }

    static func email(_ name: String) -> String { "\(name.lowercased())@example.com" }

    /// Signs up, or in when the address has an account, as each app for itself must.
    init(_ name: String, in databaseName: String) async throws {
        var options = HearthOptions()
        options.databaseName = databaseName
        options.storageBucket = databaseName
        options.persistsUser = false
        let app = try HearthApp.make(name: "\(name) in \(databaseName)", options: options)
        let auth = Auth.auth(app: app)
        let queue = DispatchQueue(label: "\(name).\(databaseName)")
        auth.callbackQueue = queue
        storage = Storage.storage(app: app)
        storage.callbackQueue = queue
        let password = "\(name) has a long password"
        let user: User
        do {
            user = try await auth.createUser(withEmail: Self.email(name), password: password).user
        } catch let error as AuthError where error.errorCode == .emailAlreadyInUse {
            user = try await auth.signIn(withEmail: Self.email(name), password: password).user
        }
        self.name = name
        self.app = app
        uid = user.uid
        database = Database.database(app: app)
        database.callbackQueue = queue
        // Machines that play this as a test are crowded.
        database.setReadTimeout(milliseconds: 300_000)
    }
}
