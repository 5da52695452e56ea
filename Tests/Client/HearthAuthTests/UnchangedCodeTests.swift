import HearthAuth
import Testing

/// Code as apps for the hosted service have it, on the main actor; only the import line is another.
@MainActor
private final class ProfileScreen {
    let auth: Auth
    var title = ""
    var problem: AuthErrorCode?
    var handle: AuthStateDidChangeListenerHandle?
    var other: (any NSObjectProtocol)?

    init(auth: Auth) {
        self.auth = auth
    }

    func appear() {
        handle = auth.addStateDidChangeListener { auth, user in
            if let user = user {
                self.title = user.displayName ?? user.uid
            } else {
                self.title = "signed out"
            }
        }
        other = auth.addIDTokenDidChangeListener { _, _ in }
    }

    func disappear() {
        if let handle = handle { auth.removeStateDidChangeListener(handle) }
        if let other = other { auth.removeIDTokenDidChangeListener(other) }
    }

    func signUp(then done: @escaping () -> Void) {
        auth.createUser(withEmail: "ann@example.com", password: "secret1") { authResult, error in
            guard let user = authResult?.user, error == nil else { return done() }
            let changeRequest = self.auth.currentUser?.createProfileChangeRequest()
            changeRequest?.displayName = "Ann"
            changeRequest?.commitChanges { error in
                self.title = "\(user.uid) \(error == nil)"
                done()
            }
        }
    }

    func fail() async {
        do {
            try await auth.signIn(withEmail: "ann@example.com", password: "")
        } catch let error as NSError {
            problem = AuthErrorCode(rawValue: error.code)
        }
    }

    func fail(then done: @escaping () -> Void) {
        auth.signIn(withEmail: "ann@example.com", password: "") { [weak self] authResult, error in
            if let error = error as NSError? {
                switch AuthErrorCode(rawValue: error.code) {
                case .wrongPassword: self?.problem = .wrongPassword
                default: self?.title = error.localizedDescription
                }
            }
            done()
        }
    }

    func signOut() {
        do {
            try auth.signOut()
        } catch let signOutError as NSError {
            title = "Error signing out: \(signOutError)"
        }
    }
}

/// Never called: names from before Swift 3, each of which compilers offer to replace.
@available(*, deprecated)
private func oldNames() {
    let _: FIRAuth.Type = Auth.self
    let _: FIRUser.Type = User.self
    let _: FIRAuthErrorCode.Type = AuthErrorCode.self
    let _: FIREmailAuthProvider.Type = EmailAuthProvider.self
    let _: FIRApp.Type = FirebaseApp.self
}

/// Never called: a link by e-mail as the guides ask for it, and Foundation from the one import.
private func link(_ email: String) async throws -> (Date, DispatchQueue) {
    let actionCodeSettings = ActionCodeSettings()
    actionCodeSettings.url = URL(string: "https://www.example.com")
    actionCodeSettings.handleCodeInApp = true
    actionCodeSettings.setIOSBundleID("com.example.app")
    actionCodeSettings.setAndroidPackageName(
        "com.example.android",
        installIfNotAvailable: false,
        minimumVersion: "12"
    )
    try await Auth.auth().sendSignInLink(toEmail: email, actionCodeSettings: actionCodeSettings)
    return (Date(), DispatchQueue.main)
}

@Suite("code of apps for the hosted service")
@MainActor
struct UnchangedCodeTests {
    @Test("compiles, and is called on the main actor")
    func screen() async throws {
        let accounts = ScriptedAccounts()
        let server = try ScriptedServer { accounts.reply($0) }
        let mine = try TestApp(server.url)
        mine.auth.callbackQueue = .main
        let screen = ProfileScreen(auth: mine.auth)
        screen.appear()
        await withCheckedContinuation { waiting in screen.signUp { waiting.resume() } }
        #expect(screen.title == "ann true")
        await screen.fail()
        #expect(screen.problem == .wrongPassword)
        screen.problem = nil
        await withCheckedContinuation { waiting in screen.fail { waiting.resume() } }
        #expect(screen.problem == .wrongPassword)
        screen.signOut()
        await withCheckedContinuation { waiting in screen.fail { waiting.resume() } }
        #expect(screen.title == "signed out")
        screen.disappear()
    }
}
