public import Dispatch
import Foundation
public import HearthCore
import Locks

/// The accounts of an app's server: who is signed in, and how somebody signs up, in and out.
///
/// One for each app. Operations run one after the other in the order they are called, and go on when the task that
/// waits for them is cancelled. Completions are called exactly once, listeners before them, all on `callbackQueue`.
public final class Auth: Sendable {
    struct Listener: Sendable {
        let handle: AuthStateDidChangeListenerHandle
        /// Whether new tokens of the same user are told.
        let hearsTokens: Bool
        /// Whether it is called at once, on whichever thread.
        let isStream: Bool
        let call: @Sendable (User?) -> Void
        /// What it was told last.
        var told: Told
    }

    /// What listeners are told about.
    struct Told: Equatable, Sendable {
        let uid: String?
        let token: String?
    }

    struct State: Sendable {
        var user: User?
        var callbackQueue = DispatchQueue.main
        var isEnded = false
        var listeners: [Listener] = []
        var credentialListeners: [@Sendable (String?, String?) -> Void] = []
        var credentialTold = Told(uid: nil, token: nil)
        /// Whether somebody has asked for tokens as they go.
        var isNeeded = false
        /// Counts the times at which a token is to be refreshed; earlier ones do not count any more.
        var refreshNumber = 0
    }

    let owner: HearthApp
    let service: AccountsService
    let turns = Turns()
    private let saved: SavedUser?

    /// Held while a change is made and told, so that all hear of changes in the same order. Taken before `state`.
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

    /// Language of letters, as `de` or `pt-BR`; nil: the server's.
    public var languageCode: String? {
        get { service.place.withLock { $0.languageCode } }
        set { service.place.withLock { $0.languageCode = newValue } }
    }

    /// Sets the language of letters to the one of this process.
    public func useAppLanguage() {
        languageCode = Locale.preferredLanguages.first
    }

    /// Takes the accounts of the server at this address, over plain HTTP, instead of those of the app's options.
    ///
    /// Call it before anything else: who is signed in at another server is not signed in here.
    ///
    /// - Parameters:
    ///   - host: Name or address without a scheme.
    ///   - port: Its port.
    public func useEmulator(withHost host: String, port: Int) {
        let host = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        let url = "http://\(host):\(port)"
        let isOther = service.place.withLock { place in
            defer { place.server = url }
            return place.server != url
        }
        if isOther { restore() }
    }

    // MARK: - Changes

    /// Takes up who was signed in when the program ran last.
    private func restore() {
        let server = service.place.withLock { $0.server }
        var user: User?
        do throws(SavedUser.Failure) {
            if let record = try saved?.load(server: server) { user = User(self, record) }
        } catch {
            switch error {
            case .damaged: warn("\(saved?.path ?? "") is damaged: nobody is signed in")
            case .failed(let words):
                warn("\(saved?.path ?? "") cannot be read, nobody is signed in: \(words)")
            }
        }
        changes.withLock { _ in
            state.withLock { $0.user = user }
            tell()
        }
    }

    /// Signs somebody in, or out.
    ///
    /// - Parameters:
    ///   - user: Who is signed in from now on.
    ///   - isForced: Whether a file that cannot be removed is only logged.
    ///   - earlier: Who must be signed in for anything to change; nil: whoever is.
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
            // Somebody else may have signed in since it was looked at.
            try become(nil, isForced: true, insteadOf: user)
        } catch {
            // The app was deleted meanwhile, and nobody is signed in to it.
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
                try saved.save(user.record, server: service.place.withLock { $0.server })
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

    /// Tells everybody who has not heard of it yet; under `changes`.
    private func tell() {
        let (user, told, sources, calls, queue) = state.withLock { state in
            let user = state.user
            let told = Told(uid: user?.uid, token: user?.tokens.id)
            var calls: [Listener] = []
            for index in state.listeners.indices where state.listeners[index].misses(told) {
                state.listeners[index].told = told
                calls.append(state.listeners[index])
            }
            let isNews = state.credentialTold != told
            state.credentialTold = told
            if isNews { scheduleRefresh(&state) }
            return (user, told, isNews ? state.credentialListeners : [], calls, state.callbackQueue)
        }
        for source in sources { source(told.token, told.uid) }
        for listener in calls where listener.isStream { listener.call(user) }
        let queued = calls.filter { !$0.isStream }
        if !queued.isEmpty { queue.async { self.call(queued, user) } }
    }

    /// Calls those that have not been removed meanwhile.
    func call(_ listeners: [Listener], _ user: User?) {
        for listener in listeners {
            let isThere = state.withLock { $0.listeners.contains { $0.handle === listener.handle } }
            if isThere { listener.call(user) }
        }
    }

    /// Lets go of everything, since the app is deleted; who was signed in stays on disk.
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
    func misses(_ news: Auth.Told) -> Bool {
        hearsTokens ? told != news : told.uid != news.uid
    }
}
