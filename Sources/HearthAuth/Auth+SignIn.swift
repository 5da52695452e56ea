import HearthCore

extension Auth {
    // MARK: - Signing up

    /// Makes an account with an address and a password, and signs it in.
    public func createUser(
        withEmail email: String,
        password: String,
        completion: ((AuthDataResult?, (any Error)?) -> Void)? = nil,
    ) {
        run(completion) { () async throws(AuthError) in
            try await self.signUp(email, password, displayName: nil)
        }
    }

    /// Makes an account with an address and a password, and signs it in.
    ///
    /// - Returns: The user.
    /// - Throws: `emailAlreadyInUse`, `invalidEmail`, `weakPassword`, `networkError`, ...
    @discardableResult
    public func createUser(
        withEmail email: String,
        password: String,
    ) async throws -> AuthDataResult {
        try await run { () async throws(AuthError) in
            try await self.signUp(email, password, displayName: nil)
        }
    }

    /// Makes an account with an address, a password and a name, and signs it in.
    public func createUser(
        withEmail email: String,
        password: String,
        displayName: String,
        completion: ((AuthDataResult?, (any Error)?) -> Void)? = nil,
    ) {
        run(completion) { () async throws(AuthError) in
            try await self.signUp(email, password, displayName: displayName)
        }
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
        try await run { () async throws(AuthError) in
            try await self.signUp(email, password, displayName: displayName)
        }
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
    /// - Returns: The user.
    /// - Throws: `invalidCredential`, or `wrongPassword` and `userNotFound` where the server tells; `userDisabled`, ...
    @discardableResult
    public func signIn(
        withEmail email: String,
        password: String,
    ) async throws -> AuthDataResult {
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
    /// - Returns: The user.
    /// - Throws: `invalidActionCode`, `expiredActionCode`, `operationNotAllowed`, ...
    @discardableResult
    public func signIn(
        withEmail email: String,
        link: String,
    ) async throws -> AuthDataResult {
        try await signIn(with: EmailAuthProvider.credential(withEmail: email, link: link))
    }

    /// Signs in with a credential.
    public func signIn(
        with credential: AuthCredential,
        completion: ((AuthDataResult?, (any Error)?) -> Void)? = nil,
    ) {
        run(completion) { () async throws(AuthError) in try await self.enter(credential) }
    }

    /// Signs in with a credential.
    ///
    /// - Returns: The user.
    /// - Throws: Why nobody is signed in by it.
    @discardableResult
    public func signIn(with credential: AuthCredential) async throws -> AuthDataResult {
        try await run { () async throws(AuthError) in try await self.enter(credential) }
    }

    /// Signs in somebody who says nothing about who it is; whoever is signed in so already stays.
    public func signInAnonymously(
        completion: ((AuthDataResult?, (any Error)?) -> Void)? = nil
    ) {
        run(completion) { () async throws(AuthError) in try await self.enterAnonymously() }
    }

    /// Signs in somebody who says nothing about who it is; whoever is signed in so already stays.
    ///
    /// - Returns: The user.
    /// - Throws: `operationNotAllowed`, `networkError`, ...
    @discardableResult
    public func signInAnonymously() async throws -> AuthDataResult {
        try await run { () async throws(AuthError) in try await self.enterAnonymously() }
    }

    /// Signs in by a token that a backend has made.
    public func signIn(
        withCustomToken token: String,
        completion: ((AuthDataResult?, (any Error)?) -> Void)? = nil,
    ) {
        run(completion) { () async throws(AuthError) in try await self.enter(customToken: token) }
    }

    /// Signs in by a token that a backend has made.
    ///
    /// - Returns: The user.
    /// - Throws: `invalidCustomToken`, `customTokenMismatch`, `networkError`, ...
    @discardableResult
    public func signIn(withCustomToken token: String) async throws -> AuthDataResult {
        try await run { () async throws(AuthError) in try await self.enter(customToken: token) }
    }

    /// Makes `user` the one who is signed in.
    public func updateCurrentUser(_ user: User?, completion: (((any Error)?) -> Void)? = nil) {
        run(completion) { () async throws(AuthError) in
            guard let user else { throw AuthError(.nullUser) }
            try self.become(user.auth === self ? user : User(self, user.record))
        }
    }

    /// Makes `user` the one who is signed in.
    ///
    /// - Throws: `internalError` after the app was deleted.
    public func updateCurrentUser(_ user: User) async throws {
        try await run { () async throws(AuthError) in
            try self.become(user.auth === self ? user : User(self, user.record))
        }
    }

    /// Signs out, before it returns: the database goes on as nobody, and forgets what it kept of the user's.
    ///
    /// - Throws: `keychainError` when who is signed in cannot be removed from the disk; the user stays signed in then.
    public func signOut() throws {
        try become(nil)
    }

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

    /// Shows the server a credential.
    func prove(_ credential: AuthCredential) async throws(AuthError) -> Answer {
        var request = try credential.request(isLinking: false)
        request.body["returnSecureToken"] = .bool(true)
        let answer = try await service.call(request.method, request.body)
        if answer.needConfirmation == true {
            throw AuthError(.accountExistsWithDifferentCredential)
        }
        // What a provider said may be refused in an answer that is a success.
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

    /// What the server knows of the user of an ID token.
    func account(_ token: String) async throws(AuthError) -> Account {
        let answer = try await service.call("lookup", ["idToken": .text(token)])
        guard let users = answer.users, users.count == 1, !users[0].localId.isEmpty else {
            throw AuthError(.internalError)
        }
        return users[0]
    }
}
