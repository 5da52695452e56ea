import Dispatch
import Foundation
import HearthAuth
import HearthCore
import Synchronization
import Testing

@Suite("listeners")
struct ListenerTests {
    private let server: ScriptedServer
    private let mine: TestApp
    private var auth: Auth { mine.auth }

    init() throws {
        let accounts = ScriptedAccounts()
        server = try ScriptedServer { accounts.reply($0) }
        mine = try TestApp(server.url)
    }

    @Test(
        "are notified of each sign-in and sign-out once, in order, before completions, on the queue"
    )
    func order() async throws {
        let reported = Record<String>()
        let key = DispatchSpecificKey<Bool>()
        mine.queue.setSpecific(key: key, value: true)
        let auth = auth
        func tell(_ text: String) {
            reported.add(DispatchQueue.getSpecific(key: key) == true ? text : "\(text) elsewhere")
        }
        auth.addStateDidChangeListener { same, user in
            tell("1 \(user?.uid ?? "no one") \(same === auth)")
        }
        auth.addStateDidChangeListener { _, user in tell("2 \(user?.uid ?? "no one")") }
        auth.signIn(withEmail: "ann@example.com", password: "secret1") { result, _ in
            tell("in \(result?.user.uid ?? "no one")")
        }
        #expect(
            await reported.first(5) == [
                "1 no one true", "2 no one", "1 ann true", "2 ann", "in ann",
            ]
        )
        // The same user once more is no news.
        try await auth.signIn(withEmail: "ann@example.com", password: "secret1")
        try auth.signOut()
        try auth.signOut()
        mine.queue.sync {}
        #expect(reported.values.dropFirst(5) == ["1 no one true", "2 no one"])
    }

    @Test("are called on the main queue if nothing else is said")
    func mainQueue() async throws {
        let reported = Record<Bool>()
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        auth.callbackQueue = .main
        auth.addStateDidChangeListener { _, _ in
            reported.add(DispatchQueue.getSpecific(key: key) == true)
        }
        auth.signInAnonymously { _, _ in reported.add(DispatchQueue.getSpecific(key: key) == true) }
        #expect(await reported.first(3) == [true, true, true])
    }

    @Test("that were removed are not called again, even for what is on its way")
    func removal() async throws {
        let reported = Record<String>()
        mine.queue.suspend()
        let first = auth.addStateDidChangeListener { _, _ in reported.add("first") }
        let second = auth.addIDTokenDidChangeListener { _, user in
            reported.add("second \(user?.uid ?? "")")
        }
        auth.removeStateDidChangeListener(first)
        mine.queue.resume()
        mine.queue.sync {}
        #expect(reported.values == ["second "])
        try await auth.signIn(withEmail: "ann@example.com", password: "secret1")
        mine.queue.sync {}
        auth.removeIDTokenDidChangeListener(second)
        try auth.signOut()
        mine.queue.sync {}
        #expect(reported.values == ["second ", "second ann"])
    }

    /// Looks at the accounts as it goes.
    private final class Screen: Sendable {
        private let auth: Auth
        private let reported: Record<String>

        init(_ auth: Auth, _ reported: Record<String>) {
            self.auth = auth
            self.reported = reported
        }

        deinit { reported.add(auth.currentUser?.uid ?? "no one") }
    }

    @Test("may be the last to hold what asks who is signed in as it goes")
    func lastHolder() async throws {
        let reported = Record<String>()
        let auth = auth
        let handle = {
            let screen = Screen(auth, reported)
            return auth.addStateDidChangeListener { [screen] _, _ in withExtendedLifetime(screen) {}
            }
        }()
        mine.queue.sync {}
        #expect(reported.values == [])
        auth.removeStateDidChangeListener(handle)
        #expect(reported.values == ["no one"])
    }

    @Test("may remove others and sign out from inside")
    func inside() async throws {
        let reported = Record<String>()
        let auth = auth
        let handle = Mutex<AuthStateDidChangeListenerHandle?>(nil)
        auth.addStateDidChangeListener { auth, user in
            reported.add("1 \(user?.uid ?? "no one")")
            guard user != nil else { return }
            if let handle = handle.withLock({ $0 }) { auth.removeStateDidChangeListener(handle) }
            do {
                try auth.signOut()
            } catch {
                reported.add("\(error)")
            }
        }
        let other = auth.addStateDidChangeListener { _, user in
            reported.add("2 \(user?.uid ?? "no one")")
        }
        handle.withLock { $0 = other }
        auth.signInAnonymously(completion: nil)
        #expect(await reported.first(4) == ["1 no one", "2 no one", "1 ann", "1 no one"])
        #expect(auth.currentUser == nil)
    }

    private func name(_ next: User??) -> String {
        switch next {
        case .none: "end"
        case .some(let user): user?.uid ?? "no one"
        }
    }

    @Test("are streams as well, which end with the app")
    func streams() async throws {
        var states = auth.stateChanges.makeAsyncIterator()
        var tokens = auth.idTokenChanges.makeAsyncIterator()
        #expect(name(await states.next()) == "no one")
        #expect(name(await tokens.next()) == "no one")
        let user = try await auth.signIn(withEmail: "ann@example.com", password: "secret1").user
        #expect(name(await states.next()) == "ann")
        #expect(name(await tokens.next()) == "ann")
        _ = try await user.getIDToken(forcingRefresh: true)
        #expect(name(await tokens.next()) == "ann")
        try auth.signOut()
        #expect(name(await states.next()) == "no one")
        #expect(name(await tokens.next()) == "no one")
        await mine.app.delete()
        #expect(name(await states.next()) == "end")
        #expect(name(await tokens.next()) == "end")
        var late = auth.authStateChanges.makeAsyncIterator()
        #expect(name(await late.next()) == "no one")
        #expect(name(await late.next()) == "end")
    }

    @Test(
        "that are streams end with an app that is deleted as they begin",
        .timeLimit(.minutes(10))
    )
    func endingStreams() async throws {
        for _ in 0..<100 {
            for await _ in try streamBegunDuringDeletion(of: try TestApp(server.url)) {}
        }
    }

    /// Has a deletion wait for a listener that is being called, and begins a stream behind it.
    private func streamBegunDuringDeletion(of mine: TestApp) throws -> AsyncStream<User?> {
        let (app, auth) = (mine.app, mine.auth)
        let source = try #require(app.tokenSource)
        let steps = DispatchSemaphore(value: 0)
        let gate = Gate()
        Thread.detachNewThread {
            source.onCredentialChange { _, _ in
                steps.signal()
                gate.pass()
            }
        }
        steps.wait()
        Thread.detachNewThread {
            steps.signal()
            app.delete { _ in }
        }
        steps.wait()
        let stream = Mutex<AsyncStream<User?>?>(nil)
        Thread.detachNewThread {
            steps.signal()
            let begun = auth.stateChanges
            stream.withLock { $0 = begun }
            steps.signal()
        }
        steps.wait()
        gate.open()
        steps.wait()
        return try #require(stream.withLock { $0 })
    }

    @Test("of the database are notified of a sign-out before it returns")
    func credentials() async throws {
        let reported = Record<String>()
        mine.app.credentials.onCredentialChange { token, account in
            reported.add("\(account ?? "no one") \(token != nil)")
        }
        #expect(reported.values == ["no one false"])
        try await auth.signIn(withEmail: "ann@example.com", password: "secret1")
        #expect(reported.values == ["no one false", "ann true"])
        try auth.signOut()
        #expect(reported.values == ["no one false", "ann true", "no one false"])
    }

    @Test("and completions are left alone by a deleted app, where no one can be signed in")
    func deleted() async throws {
        let reported = Record<String>()
        try await auth.signIn(withEmail: "ann@example.com", password: "secret1")
        auth.addStateDidChangeListener { _, user in reported.add(user?.uid ?? "no one") }
        #expect(await reported.first(1) == ["ann"])
        #expect(await mine.app.delete())
        #expect(await mine.app.delete() == false)
        #expect(auth.currentUser == nil)
        #expect(
            await refusal { () async throws in
                try await auth.signIn(withEmail: "ann@example.com", password: "secret1")
            } == .internalError
        )
        mine.queue.sync {}
        #expect(reported.values == ["ann"])
    }

    @Test("and completions are each called once under many calls at a time")
    func exactlyOnce() async throws {
        let reported = Record<Int>()
        let auth = auth
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    switch number % 4 {
                    case 0: auth.signInAnonymously { _, _ in reported.add(number) }
                    case 1:
                        auth.signIn(withEmail: "a@example.com", password: "") { _, _ in
                            reported.add(number)
                        }
                    case 2: auth.sendPasswordReset(withEmail: "") { _ in reported.add(number) }
                    case _: auth.fetchSignInMethods(forEmail: "a") { _, _ in reported.add(number) }
                    }
                }
            }
        }
        #expect(await reported.first(40).sorted() == Array(0..<40))
        mine.queue.sync {}
        #expect(reported.values.count == 40)
    }
}
