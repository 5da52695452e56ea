import Dispatch
package import HearthAuth
package import HearthCore
package import HearthDatabase
import HearthStorage
import Synchronization

/// A signed-in client in an app of its own.
package final class Person: Sendable {
    package let app: HearthApp
    package let auth: Auth
    package let database: Database

    /// What the person has claimed; empty before.
    package var username: String { claimed.withLock { $0 } }

    private let claimed = Mutex("")
    private static let count = Atomic(0)

    /// An app of no one yet.
    package init(_ url: String) throws {
        let number = Self.count.add(1, ordering: .relaxed).newValue
        var options = HearthOptions(databaseURL: url)
        options.persistsUser = false
        app = try HearthApp.make(name: "person \(number)", options: options)
        let queue = DispatchQueue(label: "person \(number)")
        auth = Auth.auth(app: app)
        auth.callbackQueue = queue
        Storage.storage(app: app).callbackQueue = queue
        database = Database.database(app: app)
        database.callbackQueue = queue
        // Many share the processors, and the person who is cut off comes back.
        database.setReadTimeout(milliseconds: 600_000)
    }

    deinit { app.delete { _ in } }

    /// The account; empty before a person is signed in.
    package var uid: String { auth.currentUser?.uid ?? "" }

    /// A new account with this address.
    package func signUp(email: String) async throws {
        _ = try await auth.createUser(withEmail: email, password: "correct horse")
    }

    /// The place at a path.
    package func place(_ path: String) -> DatabaseReference {
        database.reference(withPath: path)
    }

    /// What is there now, as the server knows it.
    package func value(_ path: String) async throws -> Any {
        try await place(path).getData().value ?? "no value"
    }

    /// One more client of the same account: a second device.
    package func device(_ url: String) async throws -> Person {
        let device = try Person(url)
        _ = try await device.auth.signIn(
            withEmail: auth.currentUser?.email ?? "",
            password: "correct horse",
        )
        device.claimed.withLock { $0 = username }
        return device
    }

    /// Makes what a sign-up leaves: see `ServiceServer.member`.
    func claim(_ name: String, hasProfile: Bool) async throws {
        var update: [String: Any] = [
            "users/\(uid)": ["username": name],
            "usernames/\(name.lowercased())": uid,
        ]
        if hasProfile { update["profiles/\(uid)"] = ["username": name, "name": name] }
        try await database.reference().updateChildValues(update)
        claimed.withLock { $0 = name }
    }
}
