import HearthCore

extension Auth {
    // MARK: - Signing up

    /// Makes an account with an address and a password, and signs it in.
    public func createUser(
        withEmail email: String,
        password: String,
        completion: ((AuthDataResult?, (any Error)?) -> Void)? = nil,
    ) {
        run(completion) { try await self.signUp(email, password, displayName: nil) }
    }

    /// Makes an account with an address and a password, and signs it in.
    ///
    /// - Throws: `emailAlreadyInUse`, `invalidEmail`, `weakPassword`, `networkError`, ...
    @discardableResult
    public func createUser(
        withEmail email: String,
        password: String,
    ) async throws -> AuthDataResult {
        try await run { try await self.signUp(email, password, displayName: nil) }
    }

    /// Makes an account with an address, a password and a name, and signs it in.
    public func createUser(
        withEmail email: String,
        password: String,
        displayName: String,
        completion: ((AuthDataResult?, (any Error)?) -> Void)? = nil,
    ) {
        run(completion) { try await self.signUp(email, password, displayName: displayName) }
    }

    /// Makes an account with an address, a password and a name, and signs it in.
    ///
    /// - Returns: The user, whose first token has the name as its `name`.
    /// - Throws: `emailAlreadyInUse`, `invalidEmail`, `weakPassword`, `networkError`, ...
    @discardableResult
    public func createUser(
        withEmail email: String,
        password: String,
        displayName: String,
    ) async throws -> AuthDataResult {
        try await run { try await self.signUp(email, password, displayName: displayName) }
    }

    private func signUp(
        _ email: String,
        _ password: String,
        displayName: String?,
    ) async throws(AuthError) -> AuthDataResult {
        guard !email.isEmpty else { throw AuthError(.missingEmail) }
        guard !password.isEmpty else { throw AuthError(.weakPassword) }
        var body: [String: JSONValue] = [
            "email": .text(email), "password": .text(password), "returnSecureToken": .bool(true),
        ]
        if let displayName, !displayName.isEmpty { body["displayName"] = .text(displayName) }
        let answer = try await service.call("signUp", body)
        return try await enter(answer, provider: EmailAuthProvider.id, isNew: true)
    }

    // MARK: - Signing in

    /// Signs in with an address and a password.
    public func signIn(
        withEmail email: String,
        password: String,
        completion: ((AuthDataResult?, (any Error)?) -> Void)? = nil,
    ) {
        signIn(
            with: EmailAuthProvider.credential(withEmail: email, password: password),
            completion: completion
        )
    }

    /// Signs in with an address and a password.
    ///
    /// - Throws: `invalidCredential`, or `wrongPassword` and `userNotFound` if the server reveals them;
    ///   `userDisabled`, ...
    @discardableResult
    public func signIn(withEmail email: String, password: String) async throws -> AuthDataResult {
        try await signIn(with: EmailAuthProvider.credential(withEmail: email, password: password))
    }

    /// Signs in with an address and the link that was sent there.
    public func signIn(
        withEmail email: String,
        link: String,
        completion: ((AuthDataResult?, (any Error)?) -> Void)? = nil,
    ) {
        signIn(
            with: EmailAuthProvider.credential(withEmail: email, link: link),
            completion: completion
        )
    }

    /// Signs in with an address and the link that was sent there.
    ///
    /// - Throws: `invalidActionCode`, `expiredActionCode`, `operationNotAllowed`, ...
    @discardableResult
    public func signIn(withEmail email: String, link: String) async throws -> AuthDataResult {
        try await signIn(with: EmailAuthProvider.credential(withEmail: email, link: link))
    }

    /// Signs in with a credential.
    public func signIn(
        with credential: AuthCredential,
        completion: ((AuthDataResult?, (any Error)?) -> Void)? = nil,
    ) {
        run(completion) { try await self.enter(credential) }
    }

    /// Signs in with a credential.
    ///
    /// - Throws: Why the sign-in failed.
    @discardableResult
    public func signIn(with credential: AuthCredential) async throws -> AuthDataResult {
        try await run { try await self.enter(credential) }
    }

    /// Signs in an anonymous user; a signed-in anonymous user stays.
    public func signInAnonymously(completion: ((AuthDataResult?, (any Error)?) -> Void)? = nil) {
        run(completion) { try await self.enterAnonymously() }
    }

    /// Signs in an anonymous user; a signed-in anonymous user stays.
    ///
    /// - Throws: `operationNotAllowed`, `networkError`, ...
    @discardableResult
    public func signInAnonymously() async throws -> AuthDataResult {
        try await run { try await self.enterAnonymously() }
    }

    /// Signs in by a token that a backend has made.
    public func signIn(
        withCustomToken token: String,
        completion: ((AuthDataResult?, (any Error)?) -> Void)? = nil,
    ) {
        run(completion) { try await self.enter(customToken: token) }
    }

    /// Signs in by a token that a backend has made.
    ///
    /// - Throws: `invalidCustomToken`, `customTokenMismatch`, `networkError`, ...
    @discardableResult
    public func signIn(withCustomToken token: String) async throws -> AuthDataResult {
        try await run { try await self.enter(customToken: token) }
    }

    /// Makes `user` the one who is signed in.
    public func updateCurrentUser(_ user: User?, completion: (((any Error)?) -> Void)? = nil) {
        run(completion) {
            guard let user else { throw AuthError(.nullUser) }
            try self.become(user.auth === self ? user : User(self, user.record))
        }
    }

    /// Makes `user` the one who is signed in.
    ///
    /// - Throws: `internalError` after the app was deleted.
    public func updateCurrentUser(_ user: User) async throws {
        try await run {
            try self.become(user.auth === self ? user : User(self, user.record))
        }
    }

    /// Signs out before it returns: the database continues without a user, and deletes its cache of the user's data.
    ///
    /// - Throws: `keychainError` when who is signed in cannot be removed from the disk; the user stays signed in then.
    public func signOut() throws { try become(nil) }

    // MARK: - Steps

    private func enter(_ credential: AuthCredential) async throws(AuthError) -> AuthDataResult {
        let answer = try await prove(credential)
        let isNew = answer.isNewUser ?? false
        return try await enter(answer, provider: credential.provider, isNew: isNew)
    }

    private func enterAnonymously() async throws(AuthError) -> AuthDataResult {
        if let user = currentUser, user.isAnonymous {
            return AuthDataResult(
                user: user,
                additionalUserInfo: .init(providerID: "", isNewUser: false)
            )
        }
        let answer = try await service.call("signUp", ["returnSecureToken": .bool(true)])
        return try await enter(answer, provider: "", isNew: true, isAnonymous: true)
    }

    private func enter(customToken: String) async throws(AuthError) -> AuthDataResult {
        let body: [String: JSONValue] = [
            "token": .text(customToken), "returnSecureToken": .bool(true),
        ]
        let answer = try await service.call("signInWithCustomToken", body)
        return try await enter(answer, provider: "", isNew: answer.isNewUser ?? false)
    }

    func prove(_ credential: AuthCredential) async throws(AuthError) -> Answer {
        var request = try credential.request(isLinking: false)
        request.body["returnSecureToken"] = .bool(true)
        let answer = try await service.call(request.method, request.body)
        if answer.needConfirmation == true {
            throw AuthError(.accountExistsWithDifferentCredential)
        }
        // A successful answer may contain the refusal of a provider's credential.
        if let message = answer.errorMessage { throw AuthError(status: 400, message: message) }
        return answer
    }

    private func enter(
        _ answer: Answer,
        provider: String,
        isNew: Bool,
        isAnonymous: Bool = false,
    ) async throws(AuthError) -> AuthDataResult {
        guard let tokens = answer.tokens else { throw AuthError(.internalError) }
        let account = try await account(tokens.id)
        var record = UserRecord(uid: account.localId, isAnonymous: isAnonymous, tokens: tokens)
        record.update(account)
        let user = User(self, record)
        try become(user)
        return AuthDataResult(
            user: user,
            additionalUserInfo: .init(providerID: provider, isNewUser: isNew)
        )
    }

    func account(_ token: String) async throws(AuthError) -> Account {
        let answer = try await service.call("lookup", ["idToken": .text(token)])
        guard let users = answer.users, users.count == 1, !users[0].localId.isEmpty else {
            throw AuthError(.internalError)
        }
        return users[0]
    }
}
