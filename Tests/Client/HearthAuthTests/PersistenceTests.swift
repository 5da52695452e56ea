import Foundation
import Glibc
import HearthAuth
import HearthCore
import Synchronization
import TestSupport
import Testing

@Suite("who is signed in, over restarts")
struct PersistenceTests {
    private let server: ScriptedServer
    private let isAway: Flag
    private let folder: TemporaryFolder
    private var place: String { folder.path + "/deep/app" }
    private var file: String { place + "/signed-in-user.json" }

    private final class Flag: Sendable {
        let value = Atomic(false)
    }

    init() throws {
        let accounts = ScriptedAccounts()
        let isAway = Flag()
        self.isAway = isAway
        server = try ScriptedServer { request in
            isAway.value.load(ordering: .relaxed) ? .hangUp : accounts.reply(request)
        }
        folder = try TemporaryFolder()
    }

    /// An app that ends when `body` does, as a run of a program.
    private func run<Value>(
        _ url: String? = nil,
        _ body: (TestApp) async throws -> Value,
    ) async throws -> Value {
        let mine = try TestApp(url ?? server.url, folder: place)
        let value = try await body(mine)
        await mine.app.delete()
        return value
    }

    private func signIn() async throws {
        try await run { mine in
            _ = try await mine.auth.signIn(withEmail: "ann@example.com", password: "secret1")
        }
    }

    /// Replaces a part of the file.
    private func edit(_ change: (inout [String: Any]) -> Void) throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        var content = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        change(&content)
        try JSONSerialization.data(withJSONObject: content).write(to: URL(fileURLWithPath: file))
    }

    @Test("stays the same, with everything that was known, and without a request")
    func restart() async throws {
        try await signIn()
        isAway.value.store(true, ordering: .relaxed)
        try await run { mine in
            let user = try #require(mine.auth.currentUser)
            #expect(user.uid == "ann")
            #expect(user.email == "ann@example.com")
            #expect(!user.isAnonymous)
            #expect(user.providerData.map { $0.providerID } == ["password"])
            #expect(user.metadata.creationDate == Date(timeIntervalSince1970: 1))
            #expect(try await user.getIDToken() == ScriptedAccounts.token(1))
            let reported = Record<String?>()
            mine.auth.addStateDidChangeListener { _, user in reported.add(user?.uid) }
            #expect(await reported.first(1) == ["ann"])
            let credentials = Record<String?>()
            mine.app.credentials.onCredentialChange { _, account in credentials.add(account) }
            #expect(credentials.values == ["ann"])
        }
    }

    @Test("is written for its owner alone, as a whole, and anew with each refresh")
    func file() async throws {
        try await run { mine in
            let user = try await mine.auth.signIn(withEmail: "a@example.com", password: "secret1")
                .user
            let old = try String(contentsOfFile: file, encoding: .utf8)
            #expect(old.contains("refresh-1"))
            #expect(!old.contains("secret1"))
            _ = try await user.getIDToken(forcingRefresh: true)
            let new = try String(contentsOfFile: file, encoding: .utf8)
            #expect(new.contains("refresh-2"))
            #expect(!new.contains("refresh-1"))
        }
        var status = stat()
        #expect(stat(file, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(stat(place, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o700)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place).count == 1)
    }

    @Test("is no one after signing out")
    func signedOut() async throws {
        try await signIn()
        try await run { mine in try mine.auth.signOut() }
        try await run { mine in #expect(mine.auth.currentUser == nil) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: place).isEmpty)
    }

    @Test(
        "is no one when the file is damaged, and then a person again",
        arguments: ["", "{", "[]", "{\"version\":1}", "\u{0}\u{1}", "{\"version\":1,\"user\":{}}"]
    )
    func damaged(text: String) async throws {
        try await signIn()
        try text.write(toFile: file, atomically: false, encoding: .utf8)
        try await run { mine in
            #expect(mine.auth.currentUser == nil)
            _ = try await mine.auth.signIn(withEmail: "ann@example.com", password: "secret1")
        }
        try await run { mine in #expect(mine.auth.currentUser?.uid == "ann") }
    }

    @Test("is no one at another server, nor after another version's program")
    func otherServer() async throws {
        try await signIn()
        try await run("http://127.0.0.1:1") { mine in
            #expect(mine.auth.currentUser == nil)
            mine.auth.useEmulator(withHost: "127.0.0.1", port: server.port)
            #expect(mine.auth.currentUser?.uid == "ann")
            mine.auth.useEmulator(withHost: "::1", port: 1)
            #expect(mine.auth.currentUser == nil)
        }
        try edit { $0["version"] = 2 }
        try await run { mine in #expect(mine.auth.currentUser == nil) }
    }

    @Test("gets a new token first when the old one is about to end, or the clock cannot be right")
    func aged() async throws {
        // Seconds to the end of a token of an hour, and whether it still counts.
        for (left, isFresh) in [(3000.0, true), (200, false), (-10000, false), (90000, false)] {
            try await signIn()
            let old = server.count("token")
            try edit { content in
                var user = content["user"] as? [String: Any] ?? [:]
                var tokens = user["tokens"] as? [String: Any] ?? [:]
                tokens["expiry"] = Date().timeIntervalSinceReferenceDate + left
                user["tokens"] = tokens
                content["user"] = user
            }
            try await run { mine in
                _ = try await mine.auth.currentUser?.getIDToken()
                #expect(server.count("token") == old + (isFresh ? 0 : 1), "\(left)")
            }
        }
    }

    @Test("has a token that still counts while the server is away, unless a new one is wanted")
    func away() async throws {
        for (left, counts) in [(200.0, true), (-1, false)] {
            isAway.value.store(false, ordering: .relaxed)
            try await signIn()
            try edit { content in
                var user = content["user"] as? [String: Any] ?? [:]
                var tokens = user["tokens"] as? [String: Any] ?? [:]
                tokens["expiry"] = Date().timeIntervalSinceReferenceDate + left
                user["tokens"] = tokens
                content["user"] = user
            }
            isAway.value.store(true, ordering: .relaxed)
            try await run { mine in
                let user = try #require(mine.auth.currentUser)
                for (forces, expected) in [(false, counts), (true, false)] {
                    let code = await refusal { () async throws in
                        try await user.getIDToken(forcingRefresh: forces)
                    }
                    #expect(code == (expected ? nil : .networkError))
                }
                #expect(mine.auth.currentUser === user)
            }
        }
    }

    @Test("is kept nowhere when the app says so")
    func kept() async throws {
        var options = HearthOptions(databaseURL: server.url)
        options.cacheFolder = place
        options.persistsUser = false
        let app = try HearthApp.make(name: "kept nowhere", options: options)
        let auth = Auth.auth(app: app)
        _ = try await auth.signIn(withEmail: "ann@example.com", password: "secret1")
        #expect(!FileManager.default.fileExists(atPath: place))
        try auth.signOut()
        await app.delete()
    }

    @Test(
        "stays signed in when that cannot be removed from the disk, and signs in where it cannot be written"
    )
    func brokenDisk() async throws {
        try await run { mine in
            let user = try await mine.auth.signIn(withEmail: "a@example.com", password: "secret1")
                .user
            // A folder in place of the file can be neither removed nor replaced as one.
            unlink(file)
            try FileManager.default.createDirectory(
                atPath: file + "/inside",
                withIntermediateDirectories: true
            )
            let error = #expect(throws: AuthError.self) { try mine.auth.signOut() }
            #expect(error?.errorCode == .keychainError)
            #expect(mine.auth.currentUser === user)
            let other = try await mine.auth.signIn(withEmail: "b@example.com", password: "secret1")
                .user
            #expect(mine.auth.currentUser === other)
        }
    }
}
