import Foundation
import HearthAuth
import HearthCore
import HearthDatabase
import TestSupport
import Testing

@Suite("the database of an app", .serialized)
struct DatabaseTests {
    private static let rules = """
        {"rules": {"users": {"$uid": {".read": "auth.uid === $uid", ".write": "auth.uid === $uid"}}}}
        """

    @Test("acts as the person who is signed in, from the moment the call returns")
    func actsAsUser() async throws {
        let folder = try TemporaryFolder()
        let rules = try folder.file("rules.json", Self.rules)
        let server = try RunningServer(arguments: [
            "--dev", "--memory", "--rules", rules, "--password-memory", "8MiB",
            "--password-passes", "1",
        ])
        let mine = try TestApp(server.url)
        let database = Database.database(app: mine.app)
        database.callbackQueue = mine.queue
        await #expect(throws: (any Error).self, "no one") {
            try await database.reference(withPath: "users/ann").setValue(1)
        }
        let ann = try await mine.auth.createUser(withEmail: "ann@example.com", password: "secret1")
            .user
        let place = database.reference(withPath: "users/\(ann.uid)")
        try await place.setValue(["name": "Ann"])
        try await ann.updatePassword(to: "secret2")
        try await place.setValue(["name": "Ann", "password": "new"])
        #expect(try await place.getData().childSnapshot(forPath: "name").value as? String == "Ann")

        // The write is the next thing after signing out, and is not Ann's any more.
        try mine.auth.signOut()
        await #expect(throws: (any Error).self, "signed out") { try await place.setValue("again") }
        let bea = try await mine.auth.createUser(withEmail: "bea@example.com", password: "secret1")
            .user
        await #expect(throws: (any Error).self, "another") { try await place.setValue("again") }
        try await database.reference(withPath: "users/\(bea.uid)").setValue(["name": "Bea"])
    }
}
