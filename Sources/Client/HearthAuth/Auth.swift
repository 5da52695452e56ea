public import Dispatch
import Foundation
public import HearthCore

/// The accounts of an app's server: the signed-in user, and how users sign up, in and out.
///
/// One for each app. Operations run one after the other in the order they are called, and go on when the task that
/// waits for them is cancelled. Completions are called exactly once, listeners before them, all on `callbackQueue`.
public final class Auth: Sendable {
    struct Listener: Sendable {
        let handle: AuthStateDidChangeListenerHandle
        /// Whether it is notified of new tokens of the same user.
        let receivesTokens: Bool
        /// Whether it is called at once, on any thread.
        let isStream: Bool
        let call: @Sendable (User?) -> Void
        var lastNotified: UserState
    }

    /// The state that listeners follow.
    struct UserState: Equatable, Sendable {
        let uid: String?
        let token: String?
    }

    struct State: Sendable {
        var user: User?
        var callbackQueue = DispatchQueue.main
        var isEnded = false
        var listeners: [Listener] = []
        var credentialListeners: [@Sendable (String?, String?) -> Void] = []
        var lastSentCredential = UserState(uid: nil, token: nil)
        /// Whether a token is needed at all times.
        var isNeeded = false
        /// Counts the times at which a token is to be refreshed; earlier ones do not count any more.
        var refreshNumber = 0
    }

    let owner: HearthApp
    let service: AccountsService
    let operations = SerialQueue()
    private let saved: SavedUser?

    /// Held while a change is made and sent, so that all listeners receive changes in the same order. Locked before
    /// `state`.
    let changes = Mutex(())
    let state = Mutex(State())

    private init(_ app: HearthApp) {
        owner = app
        service = AccountsService(app.settings)
        saved = app.settings.persistsUser ? SavedUser(folder: app.settings.folder) : nil
    }

    // MARK: - Finding

    /// Of the default app, which is configured by the environment if the program has not done so.
    public static func auth() -> Auth { auth(app: .defaultApp()) }

    /// Of another app.
    ///
    /// Becomes the app's source of tokens if the program has set none.
    public static func auth(app: HearthApp) -> Auth {
        let (auth, isNew) = app.service("auth") {
            let auth = Auth(app)
            auth.restore()
            return auth
        }
        if isNew {
            if app.tokenSource == nil { app.tokenSource = SignedInTokens(auth: auth) }
            app.onDelete { auth.end() }
        }
        return auth
    }

    /// The app.
    public var app: HearthApp? { owner }

    /// Who is signed in.
    ///
    /// Known at once after a restart, if the app keeps it; whether the server still thinks so shows at the next
    /// refresh of the token or `reload`.
    public var currentUser: User? { state.withLock { $0.user } }

    /// Where completions and listeners are called, one at a time; the main queue at first.
    ///
    /// A queue that is not the main one must be serial, and functions that are bound to the main actor cannot be
    /// called on it.
    public var callbackQueue: DispatchQueue {
        get { state.withLock { $0.callbackQueue } }
        set { state.withLock { $0.callbackQueue = newValue } }
    }

    /// Language of emails, as `de` or `pt-BR`; nil: the server's.
    public var languageCode: String? {
        get { service.mutableSettings.withLock { $0.languageCode } }
        set { service.mutableSettings.withLock { $0.languageCode = newValue } }
    }

    /// Sets the language of emails to that of this process.
    public func useAppLanguage() { languageCode = Locale.preferredLanguages.first }

    /// Takes the accounts of the server at this address, over plain HTTP, instead of those of the app's options.
    ///
    /// Call it before anything else: who is signed in at another server is not signed in here. The host is a name or an
    /// address without a scheme.
    public func useEmulator(withHost host: String, port: Int) {
        let host = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        let url = "http://\(host):\(port)"
        let isOther = service.mutableSettings.withLock { settings in
            defer { settings.server = url }
            return settings.server != url
        }
        if isOther { restore() }
    }

    // MARK: - Changes

    /// Takes up who was signed in when the program ran last.
    private func restore() {
        let server = service.mutableSettings.withLock { $0.server }
        var user: User?
        do throws(SavedUser.Failure) {
            if let record = try saved?.load(server: server) { user = User(self, record) }
        } catch {
            switch error {
            case .damaged: warn("\(saved?.path ?? "") is damaged: no user is signed in")
            case .failed(let words):
                warn("\(saved?.path ?? "") cannot be read, no user is signed in: \(words)")
            }
        }
        changes.withLock { _ in
            state.withLock { $0.user = user }
            tell()
        }
    }

    /// Signs a user in, or out; with `earlier`, only if that user is signed in. If it `isForced`, a file that cannot be
    /// removed is only logged.
    ///
    /// - Throws: `keychainError` when signing out would not last; `internalError` after the app was deleted.
    func become(
        _ user: User?,
        isForced: Bool = false,
        insteadOf earlier: User? = nil,
    ) throws(AuthError) {
        try changes.withLock { _ throws(AuthError) in
            guard !state.withLock({ $0.isEnded }) else {
                throw AuthError(.internalError, "The app was deleted.")
            }
            if user == nil, currentUser == nil { return }
            if let earlier, currentUser !== earlier { return }
            do throws(AuthError) {
                try keep(user)
            } catch {
                if user == nil, !isForced { throw error }
                warn(error.localizedDescription)
            }
            state.withLock { $0.user = user }
            tell()
        }
    }

    /// Signs out `user`, whose sign-in counts no more, if it is still the one who is signed in.
    func dismiss(_ user: User, because reason: AuthError? = nil) {
        guard currentUser === user else { return }
        if let reason { warn("the sign-in has ended: \(reason.localizedDescription)") }
        do {
            // Another user may have signed in since the check.
            try become(nil, isForced: true, insteadOf: user)
        } catch {
            // The app was deleted in the meantime; no user is signed in to it.
            HearthConfiguration.shared.log(.debug, error.localizedDescription)
        }
    }

    /// Takes note that tokens or other things of `user` are new.
    func changed(_ user: User) {
        changes.withLock { _ in
            guard currentUser === user else { return }
            do {
                try keep(user)
            } catch {
                warn(error.localizedDescription)
            }
            tell()
        }
    }

    private func keep(_ user: User?) throws(AuthError) {
        guard let saved else { return }
        do throws(SavedUser.Failure) {
            if let user {
                try saved.save(user.record, server: service.mutableSettings.withLock { $0.server })
            } else {
                try saved.remove()
            }
        } catch {
            switch error {
            case .damaged:
                throw AuthError(.keychainError, "The user cannot be written to \(saved.path).")
            case .failed(let words):
                throw AuthError(.keychainError, "\(saved.path) cannot be changed: \(words)")
            }
        }
    }

    /// Notifies all listeners of their next change; called under `changes`.
    private func tell() {
        let (user, current, sources, calls, queue) = state.withLock { state in
            let user = state.user
            let current = UserState(uid: user?.uid, token: user?.tokens.id)
            var calls: [Listener] = []
            for index in state.listeners.indices where state.listeners[index].misses(current) {
                state.listeners[index].lastNotified = current
                calls.append(state.listeners[index])
            }
            let isNews = state.lastSentCredential != current
            state.lastSentCredential = current
            if isNews { scheduleRefresh(&state) }
            return (
                user, current, isNews ? state.credentialListeners : [], calls, state.callbackQueue
            )
        }
        for source in sources { source(current.token, current.uid) }
        for listener in calls where listener.isStream { listener.call(user) }
        let queued = calls.filter { !$0.isStream }
        if !queued.isEmpty { queue.async { self.call(queued, user) } }
    }

    /// Calls those that have not been removed in the meantime.
    func call(_ listeners: [Listener], _ user: User?) {
        for listener in listeners {
            let isThere = state.withLock { $0.listeners.contains { $0.handle === listener.handle } }
            if isThere { listener.call(user) }
        }
    }

    /// Releases everything, since the app is deleted; the signed-in user stays on disk.
    private func end() {
        let listeners = changes.withLock { _ in
            state.withLock { state in
                let listeners = state.listeners
                state = State(
                    callbackQueue: state.callbackQueue,
                    isEnded: true,
                    refreshNumber: state.refreshNumber + 1
                )
                return listeners
            }
        }
        for listener in listeners { listener.handle.onEnd?() }
    }

    private func warn(_ text: String) {
        HearthConfiguration.shared.log(.warning, "accounts of \(owner.name): \(text)")
    }
}

extension Auth.Listener {
    func misses(_ news: Auth.UserState) -> Bool {
        receivesTokens ? lastNotified != news : lastNotified.uid != news.uid
    }
}
