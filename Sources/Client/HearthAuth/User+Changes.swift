import Foundation

extension User {
    // MARK: - Asking again

    /// Reads the user's account from the server.
    public func reload(completion: (((any Error)?) -> Void)? = nil) {
        auth.run(completion) { try await self.load() }
    }

    /// Reads the user's account from the server.
    ///
    /// - Throws: `networkError`, or why the sign-in has ended.
    public func reload() async throws { try await auth.run { try await self.load() } }

    // MARK: - Changing

    /// Changes the address, which is not verified then.
    public func updateEmail(to email: String, completion: (((any Error)?) -> Void)? = nil) {
        auth.run(completion) { try await self.setEmail(email) }
    }

    /// Changes the address, which is not verified then.
    ///
    /// - Throws: `emailAlreadyInUse`, `invalidEmail`, `requiresRecentLogin`, ...
    public func updateEmail(to email: String) async throws {
        try await auth.run { try await self.setEmail(email) }
    }

    /// Changes the password; other sign-ins of the user end.
    public func updatePassword(to password: String, completion: (((any Error)?) -> Void)? = nil) {
        auth.run(completion) { try await self.setPassword(password) }
    }

    /// Changes the password; other sign-ins of the user end.
    ///
    /// - Throws: `weakPassword`, `requiresRecentLogin`, ...
    public func updatePassword(to password: String) async throws {
        try await auth.run { try await self.setPassword(password) }
    }

    private func setEmail(_ email: String) async throws(AuthError) {
        guard !email.isEmpty else { throw AuthError(.missingEmail) }
        try await update(["email": .text(email)])
    }

    private func setPassword(_ password: String) async throws(AuthError) {
        guard !password.isEmpty else { throw AuthError(.weakPassword) }
        try await update(["password": .text(password)])
    }

    func update(_ members: [String: JSONValue]) async throws(AuthError) {
        var body = members
        body["returnSecureToken"] = .bool(true)
        let answer = try await call("update", body)
        // Earlier tokens may count no more from here on.
        if let tokens = answer.tokens { adopt(tokens, nil) }
        try await load()
    }

    /// Begins changes of name and picture; `commitChanges` sends them.
    public func createProfileChangeRequest() -> UserProfileChangeRequest {
        UserProfileChangeRequest(self)
    }

    // MARK: - Ways to sign in

    /// Adds a way to sign in to the account, which keeps its uid; an anonymous one is anonymous no more.
    public func link(
        with credential: AuthCredential,
        completion: ((AuthDataResult?, (any Error)?) -> Void)? = nil,
    ) {
        auth.run(completion) { try await self.add(credential) }
    }

    /// Adds a way to sign in to the account, which keeps its uid; an anonymous one is anonymous no more.
    ///
    /// - Throws: `providerAlreadyLinked`, `emailAlreadyInUse`, `credentialAlreadyInUse`, `requiresRecentLogin`, ...
    @discardableResult
    public func link(with credential: AuthCredential) async throws -> AuthDataResult {
        try await auth.run { try await self.add(credential) }
    }

    private func add(_ credential: AuthCredential) async throws(AuthError) -> AuthDataResult {
        guard !record.identities.contains(where: { $0.providerID == credential.provider }) else {
            throw AuthError(.providerAlreadyLinked)
        }
        var request = try credential.request(isLinking: true)
        request.body["returnSecureToken"] = .bool(true)
        let answer = try await call(request.method, request.body)
        if let message = answer.errorMessage { throw AuthError(status: 400, message: message) }
        if let tokens = answer.tokens { adopt(tokens, nil) }
        try await load()
        return result(credential)
    }

    /// Takes a way to sign in away.
    public func unlink(
        fromProvider provider: String,
        completion: ((User?, (any Error)?) -> Void)? = nil,
    ) {
        auth.run(completion) { try await self.remove(provider) }
    }

    /// Takes a way to sign in away.
    ///
    /// - Throws: `noSuchProvider`, `requiresRecentLogin`, ...
    @discardableResult
    public func unlink(fromProvider provider: String) async throws -> User {
        try await auth.run { try await self.remove(provider) }
    }

    private func remove(_ provider: String) async throws(AuthError) -> User {
        guard record.identities.contains(where: { $0.providerID == provider }) else {
            throw AuthError(.noSuchProvider)
        }
        try await update(["deleteProvider": .list([.text(provider)])])
        return self
    }

    /// Shows again who the user is, as some changes want it.
    public func reauthenticate(
        with credential: AuthCredential,
        completion: ((AuthDataResult?, (any Error)?) -> Void)? = nil,
    ) {
        auth.run(completion) { try await self.prove(credential) }
    }

    /// Shows again who the user is, as some changes want it.
    ///
    /// - Throws: `userMismatch` when the credential belongs to another user; `wrongPassword`, `invalidCredential`,
    ///   ...
    @discardableResult
    public func reauthenticate(with credential: AuthCredential) async throws -> AuthDataResult {
        try await auth.run { try await self.prove(credential) }
    }

    private func prove(_ credential: AuthCredential) async throws(AuthError) -> AuthDataResult {
        let answer: Answer
        do {
            answer = try await auth.prove(credential)
        } catch {
            throw error.errorCode == .userNotFound ? AuthError(.userMismatch) : error
        }
        guard let tokens = answer.tokens else { throw AuthError(.internalError) }
        let account = try await auth.account(tokens.id)
        guard account.localId == uid else { throw AuthError(.userMismatch) }
        adopt(tokens, account)
        return result(credential)
    }

    private func result(_ credential: AuthCredential) -> AuthDataResult {
        let info = AdditionalUserInfo(providerID: credential.provider, isNewUser: false)
        return AuthDataResult(user: self, additionalUserInfo: info)
    }

    // MARK: - Emails

    /// Sends an email with which the user verifies the address.
    public func sendEmailVerification(
        with settings: ActionCodeSettings? = nil,
        completion: (((any Error)?) -> Void)? = nil,
    ) {
        let members = settings?.members ?? [:]
        auth.run(completion) { try await self.verify(members) }
    }

    /// Sends an email with which the user verifies the address.
    ///
    /// - Parameter settings: Where its link continues.
    /// - Throws: `operationNotAllowed` if the server sends none; `tooManyRequests`, ...
    public func sendEmailVerification(with settings: ActionCodeSettings? = nil) async throws {
        let members = settings?.members ?? [:]
        try await auth.run { try await self.verify(members) }
    }

    /// Sends an email to a new address, which becomes the user's once its link is used.
    public func sendEmailVerification(
        beforeUpdatingEmail email: String,
        actionCodeSettings settings: ActionCodeSettings? = nil,
        completion: (((any Error)?) -> Void)? = nil,
    ) {
        let members = settings?.members ?? [:]
        auth.run(completion) { try await self.verify(members, email) }
    }

    /// Sends an email to a new address, which becomes the user's once its link is used.
    ///
    /// - Throws: `emailAlreadyInUse`, `invalidEmail`, `requiresRecentLogin`, ...
    public func sendEmailVerification(
        beforeUpdatingEmail email: String,
        actionCodeSettings settings: ActionCodeSettings? = nil,
    ) async throws {
        let members = settings?.members ?? [:]
        try await auth.run { try await self.verify(members, email) }
    }

    private func verify(
        _ members: [String: JSONValue],
        _ newEmail: String? = nil,
    ) async throws(AuthError) {
        var body = members
        body["requestType"] = .text(newEmail == nil ? "VERIFY_EMAIL" : "VERIFY_AND_CHANGE_EMAIL")
        if let newEmail { body["newEmail"] = .text(newEmail) }
        _ = try await call("sendOobCode", body)
    }

    // MARK: - The end

    /// Deletes the account, and signs out.
    public func delete(completion: (((any Error)?) -> Void)? = nil) {
        auth.run(completion) { try await self.deleteAccount() }
    }

    /// Deletes the account, and signs out.
    ///
    /// - Throws: `requiresRecentLogin`, `networkError`, ...
    public func delete() async throws { try await auth.run { try await self.deleteAccount() } }

    private func deleteAccount() async throws(AuthError) {
        _ = try await call("delete", [:])
        auth.dismiss(self)
    }
}
