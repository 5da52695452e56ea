import Foundation

extension Auth {
    // MARK: - Passwords that were forgotten

    /// Sends an email with which the user sets a new password.
    public func sendPasswordReset(
        withEmail email: String,
        actionCodeSettings settings: ActionCodeSettings? = nil,
        completion: (((any Error)?) -> Void)? = nil,
    ) {
        let members = settings?.members ?? [:]
        run(completion) { try await self.sendCode("PASSWORD_RESET", email, members) }
    }

    /// Sends an email with which the user sets a new password.
    ///
    /// - Throws: `userNotFound` if the server reveals it; `operationNotAllowed` if it sends no emails; ...
    public func sendPasswordReset(
        withEmail email: String,
        actionCodeSettings settings: ActionCodeSettings? = nil,
    ) async throws {
        let members = settings?.members ?? [:]
        try await run { try await self.sendCode("PASSWORD_RESET", email, members) }
    }

    /// Sets a new password with the code of an email.
    public func confirmPasswordReset(
        withCode code: String,
        newPassword: String,
        completion: @escaping ((any Error)?) -> Void,
    ) {
        run(completion) { try await self.reset(code, newPassword) }
    }

    /// Sets a new password with the code of an email.
    ///
    /// - Throws: `invalidActionCode`, `expiredActionCode`, `weakPassword`, ...
    public func confirmPasswordReset(withCode code: String, newPassword: String) async throws {
        try await run { try await self.reset(code, newPassword) }
    }

    /// Gives the address that a code for a new password is about.
    public func verifyPasswordResetCode(
        _ code: String,
        completion: @escaping (String?, (any Error)?) -> Void,
    ) {
        run(completion) { try await self.inspect(code).email }
    }

    /// The address that a code for a new password is about.
    ///
    /// - Throws: `invalidActionCode`, `expiredActionCode`, ...
    public func verifyPasswordResetCode(_ code: String) async throws -> String {
        try await run { try await self.inspect(code).email }
    }

    private func reset(_ code: String, _ newPassword: String) async throws(AuthError) {
        guard !newPassword.isEmpty else { throw AuthError(.weakPassword) }
        let body: [String: JSONValue] = ["oobCode": .text(code), "newPassword": .text(newPassword)]
        _ = try await service.call("resetPassword", body)
    }

    // MARK: - Other codes

    /// Returns the effect of a code.
    public func checkActionCode(
        _ code: String,
        completion: @escaping (ActionCodeInfo?, (any Error)?) -> Void,
    ) {
        run(completion) { try await self.inspect(code) }
    }

    /// The effect of a code.
    ///
    /// - Throws: `invalidActionCode`, `expiredActionCode`, ...
    public func checkActionCode(_ code: String) async throws -> ActionCodeInfo {
        try await run { try await self.inspect(code) }
    }

    /// Verifies, changes or restores an address with the code of an email; `reload` shows it.
    public func applyActionCode(_ code: String, completion: @escaping ((any Error)?) -> Void) {
        run(completion) { try await self.apply(code) }
    }

    /// Verifies, changes or restores an address with the code of an email; `reload` shows it.
    ///
    /// - Throws: `invalidActionCode`, `expiredActionCode`, ...
    public func applyActionCode(_ code: String) async throws {
        try await run { try await self.apply(code) }
    }

    private func inspect(_ code: String) async throws(AuthError) -> ActionCodeInfo {
        let answer = try await service.call("resetPassword", ["oobCode": .text(code)])
        let email = answer.email ?? ""
        let newEmail = answer.newEmail.flatMap { $0.isEmpty ? nil : $0 }
        return ActionCodeInfo(
            operation: ActionCodeOperation(requestType: answer.requestType),
            email: newEmail ?? email,
            previousEmail: newEmail == nil ? nil : email
        )
    }

    private func apply(_ code: String) async throws(AuthError) {
        _ = try await service.call("update", ["oobCode": .text(code)])
    }

    // MARK: - Links to sign in

    /// Sends an email with a link that signs in.
    public func sendSignInLink(
        toEmail email: String,
        actionCodeSettings settings: ActionCodeSettings,
        completion: (((any Error)?) -> Void)? = nil,
    ) {
        let members = settings.members
        run(completion) { try await self.sendCode("EMAIL_SIGNIN", email, members) }
    }

    /// Sends an email with a link that signs in.
    ///
    /// - Throws: `operationNotAllowed` where the server does not do so; `invalidEmail`, `unauthorizedDomain`, ...
    public func sendSignInLink(
        toEmail email: String,
        actionCodeSettings settings: ActionCodeSettings,
    ) async throws {
        let members = settings.members
        try await run { try await self.sendCode("EMAIL_SIGNIN", email, members) }
    }

    /// Whether an address that the app was opened with is a link to sign in.
    public func isSignIn(withEmailLink link: String) -> Bool {
        guard let url = ActionCodeURL(link: link) else { return false }
        return url.operation == .emailLink && url.code != nil
    }

    private func sendCode(
        _ type: String,
        _ email: String,
        _ members: [String: JSONValue],
    ) async throws(AuthError) {
        guard !email.isEmpty else { throw AuthError(.missingEmail) }
        var body = members
        body["requestType"] = .text(type)
        body["email"] = .text(email)
        _ = try await service.call("sendOobCode", body)
    }

    // MARK: - Sign-in methods

    /// The sign-in methods of an address; servers that protect addresses reveal none.
    public func fetchSignInMethods(
        forEmail email: String,
        completion: (([String]?, (any Error)?) -> Void)? = nil,
    ) {
        run(completion) { try await self.methods(email) }
    }

    /// The sign-in methods of an address; servers that protect addresses reveal none.
    ///
    /// - Throws: `invalidEmail`, `networkError`, ...
    public func fetchSignInMethods(forEmail email: String) async throws -> [String] {
        try await run { try await self.methods(email) }
    }

    private func methods(_ email: String) async throws(AuthError) -> [String] {
        guard !email.isEmpty else { throw AuthError(.missingEmail) }
        let body: [String: JSONValue] = [
            "identifier": .text(email), "continueUri": .text("http://localhost"),
        ]
        return try await service.call("createAuthUri", body).signinMethods ?? []
    }

    func session(_ phoneNumber: String) async throws(AuthError) -> String {
        guard !phoneNumber.isEmpty else { throw AuthError(.missingPhoneNumber) }
        let answer = try await service.call(
            "sendVerificationCode",
            ["phoneNumber": .text(phoneNumber)]
        )
        guard let session = answer.sessionInfo else { throw AuthError(.internalError) }
        return session
    }
}
