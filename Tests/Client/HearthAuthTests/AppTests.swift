import Foundation
import HearthAuth
import Synchronization
import TestSupport
import Testing

@testable import HearthCore

@Suite("apps")
struct AppTests {
    private func settings(
        _ url: String? = nil,
        environment: [String: String] = ["HOME": "/h/ann"],
        _ change: (inout HearthOptions) -> Void = { _ in },
    ) throws(HearthAppError) -> AppSettings {
        var options = HearthOptions()
        options.databaseURL = url
        change(&options)
        return try AppSettings(options, appName: "[DEFAULT]", environment: environment)
    }

    @Test(
        "find server and database by their address",
        arguments: [
            (nil, "http://localhost:9000", "default", "http://localhost:9000"),
            ("http://h:1", "http://h:1", "default", "http://h:1"),
            ("https://h?ns=chat", "https://h?ns=chat", "chat", "https://h"),
            ("ws://h:1/?ns=chat&x=1", "http://h:1/?ns=chat&x=1", "chat", "http://h:1"),
            ("wss://h", "https://h", "default", "https://h"),
            ("http://[::1]:9000", "http://[::1]:9000", "default", "http://[::1]:9000"),
            (
                "https://my-app.firebaseio.com", "https://my-app.firebaseio.com", "my-app",
                "https://my-app.firebaseio.com"
            ),
            (
                "https://my-app-default-rtdb.europe-west1.firebasedatabase.app/",
                "https://my-app-default-rtdb.europe-west1.firebasedatabase.app/",
                "my-app-default-rtdb",
                "https://my-app-default-rtdb.europe-west1.firebasedatabase.app"
            ),
        ] as [(String?, String, String, String)]
    )
    func addresses(url: String?, database: String, name: String, accounts: String) throws {
        let settings = try settings(url)
        #expect(settings.databaseURL == database)
        #expect(settings.databaseName == name)
        #expect(settings.accountsURL == accounts)
    }

    @Test("take what is not said from the environment, and then from nowhere")
    func defaults() throws {
        let settings = try settings(environment: [
            "HEARTH_URL": "http://h:2?ns=a", "HOME": "/h/ann",
        ])
        #expect(settings.databaseURL == "http://h:2?ns=a")
        #expect(settings.databaseName == "a")
        #expect(settings.apiKey == "hearth")
        #expect(settings.agent == "hearth-swift")
        #expect(settings.persistsUser)
        #expect(settings.authorityFile == nil)
        #expect(settings.folder.hasPrefix("/h/ann/.local/state/hearth/"))
        #expect(settings.folder.hasSuffix("/+default"))
        let named = try AppSettings(HearthOptions(), appName: "Ann's", environment: ["HOME": "/h"])
        #expect(named.folder.hasSuffix("/%41nn%27s"))
        let state = try self.settings(environment: ["XDG_STATE_HOME": "/s"])
        #expect(state.folder.hasPrefix("/s/hearth/"))
        let said = try self.settings("http://h", environment: ["HEARTH_URL": "http://h:2"]) {
            $0.databaseName = "b"
            $0.accountsURL = "https://accounts:3/base/"
            $0.apiKey = ""
            $0.cacheFolder = "/c"
        }
        #expect(said.databaseURL == "http://h")
        #expect(said.databaseName == "b")
        #expect(said.accountsURL == "https://accounts:3/base")
        #expect(said.apiKey == "hearth")
        #expect(said.folder == "/c")
    }

    @Test(
        "refuse what is no address, without the secrets in it",
        arguments: [
            "", "h:1", "ftp://h", "http://", "http://u:hidden@h", "http://h:0", "http://h:99999",
            "a b",
        ]
    )
    func badAddresses(url: String) throws {
        for option in ["databaseURL", "accountsURL", "HEARTH_URL"]
        where option != "HEARTH_URL" || !url.isEmpty {
            let error = #expect(throws: HearthAppError.self) {
                switch option {
                case "databaseURL": try settings(url)
                case "accountsURL": try settings { $0.accountsURL = url }
                case _: try settings(environment: ["HEARTH_URL": url])
                }
            }
            guard case .invalidURL(option, _) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            let text = error?.description ?? ""
            #expect(text.hasPrefix("\(option) is no address of a server: "))
            #expect(!text.contains("hidden"))
        }
    }

    @Test("refuse names and files that cannot be")
    func badOptions() throws {
        for name in ["", "a/b", "ä", String(repeating: "a", count: 65)] {
            #expect(throws: HearthAppError.invalidDatabaseName(name)) {
                try settings { $0.databaseName = name }
            }
        }
        #expect(throws: HearthAppError.unreadableAuthorityFile("/nowhere.pem")) {
            try settings { $0.authorityFile = "/nowhere.pem" }
        }
        for name in ["", "a\nb", String(repeating: "a", count: 101)] {
            #expect(throws: HearthAppError.invalidName(name)) { try HearthApp.make(name: name) }
        }
        #expect(HearthApp.app(name: "a\nb") == nil)
    }

    @Test("are found by their names until they are deleted")
    func registry() async throws {
        let name = "registry"
        FirebaseApp.configure(
            name: name,
            options: FirebaseOptions(googleAppID: "1", gcmSenderID: "2")
        )
        let app = try #require(HearthApp.app(name: name))
        #expect(app.name == name)
        #expect(HearthApp.allApps?[name] === app)
        #expect(throws: HearthAppError.nameInUse(name)) { try HearthApp.make(name: name) }
        let ended = Atomic(0)
        app.onDelete { ended.add(1, ordering: .relaxed) }
        let isDeleted = await withCheckedContinuation { waiting in
            app.delete { waiting.resume(returning: $0) }
        }
        #expect(isDeleted)
        #expect(HearthApp.app(name: name) == nil)
        #expect(ended.load(ordering: .relaxed) == 1)
        #expect(await app.delete() == false)
        app.onDelete { ended.add(1, ordering: .relaxed) }
        #expect(ended.load(ordering: .relaxed) == 2)
        let next = try HearthApp.make(name: name)
        #expect(next !== app)
        await next.delete()
    }

    /// In a process of its own: the default app is the only one of a process.
    @Test("begin with one by default, which configures itself if the program has not")
    func defaultApp() async {
        await #expect(processExitsWith: .success) {
            unsetenv("HEARTH_URL")
            HearthConfiguration.shared.setLoggerLevel(.min)
            #expect(HearthApp.app() == nil)
            #expect(HearthApp.allApps == nil)
            var options = HearthOptions()
            options.databaseURL = "http://localhost:9001"
            options.persistsUser = false
            FirebaseApp.configure(options: options)
            #expect(FirebaseApp.app()?.options.databaseURL == "http://localhost:9001")
            let auth = Auth.auth()
            let app = try #require(HearthApp.app())
            #expect(auth.app === app)
            #expect(app.name == "[DEFAULT]")
            #expect(HearthApp.defaultApp() === app)
            #expect(Auth.auth() === auth)
            await app.delete()
            #expect(HearthApp.app() == nil)
            let implicit = HearthApp.defaultApp()
            #expect(implicit !== app)
            #expect(implicit.settings.databaseURL == "http://localhost:9000")
            await implicit.delete()
            FirebaseApp.configure()
            #expect(HearthApp.app() != nil)
        }
    }

    @Test("end the program that configures one twice, or with an address that is none")
    func misconfigured() async {
        await #expect(processExitsWith: .failure) {
            HearthApp.configure()
            HearthApp.configure()
        }
        await #expect(processExitsWith: .failure) {
            setenv("HEARTH_URL", "nonsense", 1)
            HearthApp.configure()
        }
        await #expect(processExitsWith: .failure) {
            setenv("HEARTH_URL", "nonsense", 1)
            _ = Auth.auth()
        }
    }

    @Test("have one object of each part, regardless of who asks first")
    func services() async throws {
        let app = try HearthApp.make(name: "services")
        final class Part: Sendable {}
        let parts = await withTaskGroup(of: (Part, Bool).self) { group in
            for _ in 0..<20 { group.addTask { app.service("a") { Part() } } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(parts.filter { $0.1 }.count == 1)
        #expect(parts.allSatisfy { $0.0 === parts[0].0 })
        #expect(app.service("b") { Part() }.service !== parts[0].0)
        await app.delete()
    }

    @Test("tell of sources of tokens that come and go, and never of one that was replaced")
    func sources() throws {
        final class Source: TokenSource {
            let listeners = Mutex<[@Sendable (String?, String?) -> Void]>([])
            let name: String
            init(_ name: String) { self.name = name }
            func fetchToken(
                forcingRefresh: Bool,
                completion: @escaping @Sendable (Result<String?, any Error>) -> Void,
            ) { completion(.success("\(name) \(forcingRefresh)")) }
            func onCredentialChange(
                _ listener: @escaping @Sendable (String?, String?) -> Void
            ) {
                listeners.withLock { $0.append(listener) }
                listener(name, name)
            }
            func tell(_ token: String?) { listeners.withLock { $0 }.forEach { $0(token, token) } }
        }
        let app = try HearthApp.make(name: "sources")
        let reported = Record<String>()
        #expect(!app.credentials.hasListeners)
        app.credentials.onCredentialChange { token, account in
            reported.add("\(token ?? "-") \(account ?? "-")")
        }
        #expect(app.credentials.hasListeners)
        let (first, second) = (Source("a"), Source("b"))
        app.tokenSource = first
        first.tell("a2")
        app.tokenSource = second
        first.tell("a3")
        #expect(app.tokenSource === second)
        app.credentials.fetchToken(forcingRefresh: true) { result in
            reported.add("fetched \((try? result.get()) ?? "none")")
        }
        app.tokenSource = nil
        app.credentials.fetchToken(forcingRefresh: true) { result in
            reported.add("fetched \((try? result.get()) ?? "none")")
        }
        #expect(
            reported.values == [
                "- -", "a a", "a2 a2", "b b", "fetched b true", "- -", "fetched none",
            ]
        )
        // Accounts take the place only where there is no source.
        app.tokenSource = second
        _ = Auth.auth(app: app)
        #expect(app.tokenSource === second)
        app.delete { _ in }
        second.tell("late")
        #expect(reported.values.last == "b b")
    }

    @Test("write lines up to their level, where they are wanted")
    func log() {
        let reported = Record<String>()
        let configuration = FirebaseConfiguration.shared
        configuration.setLogger { level, text in reported.add("\(level) \(text)") }
        configuration.log(.debug, "unseen of this test")
        configuration.log(.warning, "seen of this test")
        configuration.setLoggerLevel(.debug)
        configuration.log(.debug, "seen too of this test")
        configuration.setLoggerLevel(.notice)
        // A server's words may be anything, of any length.
        configuration.log(.warning, "\u{1B}[2J\u{0}\u{202E}\nü of this test")
        configuration.log(.warning, "long" + String(repeating: "e", count: 100_000))
        configuration.setLogger(nil)
        let long = reported.values.first { $0.hasPrefix("warning longeee") }
        #expect(long?.count == "warning ".count + 1024 + "...".count)
        let mine = reported.values.filter { $0.hasSuffix("of this test") }
        #expect(
            mine == [
                "warning seen of this test", "debug seen too of this test",
                "warning \u{FFFD}[2J\u{FFFD}\u{FFFD}\u{FFFD}ü of this test",
            ]
        )
    }
}
