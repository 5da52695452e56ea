import Foundation

extension Auth {
    // MARK: - Passwords that were forgotten

    /// Has a letter sent by which somebody sets a new password.
    public func sendPasswordReset(
        withEmail email: String,
        actionCodeSettings settings: ActionCodeSettings? = nil,
        completion: (((any Error)?) -> Void)? = nil,
    ) {
        let members = settings?.members ?? [:]
        run(completion) { () async throws(AuthError) in
            try await self.sendCode("PASSWORD_RESET", email, members)
        }
    }

    /// Has a letter sent by which somebody sets a new password.
    ///
    /// - Throws: `userNotFound` where the server tells; `operationNotAllowed` where it sends no letters; ...
    public func sendPasswordReset(
        withEmail email: String,
        actionCodeSettings settings: ActionCodeSettings? = nil,
    ) async throws {
        let members = settings?.members ?? [:]
        try await run { () async throws(AuthError) in
            try await self.sendCode("PASSWORD_RESET", email, members)
        }
    }

    /// Sets a new password by the code of a letter.
    public func confirmPasswordReset(
        withCode code: String,
        newPassword: String,
        completion: @escaping ((any Error)?) -> Void,
    ) {
        run(completion) { () async throws(AuthError) in try await self.reset(code, newPassword) }
    }

    /// Sets a new password by the code of a letter.
    ///
    /// - Throws: `invalidActionCode`, `expiredActionCode`, `weakPassword`, ...
    public func confirmPasswordReset(
        withCode code: String,
        newPassword: String,
    ) async throws {
        try await run { () async throws(AuthError) in try await self.reset(code, newPassword) }
    }

    /// Gives the address that a code for a new password is about.
    public func verifyPasswordResetCode(
        _ code: String,
        completion: @escaping (String?, (any Error)?) -> Void,
    ) {
        run(completion) { () async throws(AuthError) in try await self.inspect(code).email }
    }

    /// The address that a code for a new password is about.
    ///
    /// - Throws: `invalidActionCode`, `expiredActionCode`, ...
    public func verifyPasswordResetCode(_ code: String) async throws -> String {
        try await run { () async throws(AuthError) in try await self.inspect(code).email }
    }

    private func reset(_ code: String, _ newPassword: String) async throws(AuthError) {
        guard !newPassword.isEmpty else { throw AuthError(.weakPassword) }
        let body: [String: JSONValue] = ["oobCode": .text(code), "newPassword": .text(newPassword)]
        _ = try await service.call("resetPassword", body)
    }

    // MARK: - Other codes

    /// Gives what a code does when it is applied.
    public func checkActionCode(
        _ code: String,
        completion: @escaping (ActionCodeInfo?, (any Error)?) -> Void,
    ) {
        run(completion) { () async throws(AuthError) in try await self.inspect(code) }
    }

    /// What a code does when it is applied.
    ///
    /// - Throws: `invalidActionCode`, `expiredActionCode`, ...
    public func checkActionCode(_ code: String) async throws -> ActionCodeInfo {
        try await run { () async throws(AuthError) in try await self.inspect(code) }
    }

    /// Verifies, changes or takes back an address by the code of a letter; `reload` shows it.
    public func applyActionCode(_ code: String, completion: @escaping ((any Error)?) -> Void) {
        run(completion) { () async throws(AuthError) in try await self.apply(code) }
    }

    /// Verifies, changes or takes back an address by the code of a letter; `reload` shows it.
    ///
    /// - Throws: `invalidActionCode`, `expiredActionCode`, ...
    public func applyActionCode(_ code: String) async throws {
        try await run { () async throws(AuthError) in try await self.apply(code) }
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

    /// Has a letter sent with a link that signs in.
    public func sendSignInLink(
        toEmail email: String,
        actionCodeSettings settings: ActionCodeSettings,
        completion: (((any Error)?) -> Void)? = nil,
    ) {
        let members = settings.members
        run(completion) { () async throws(AuthError) in
            try await self.sendCode("EMAIL_SIGNIN", email, members)
        }
    }

    /// Has a letter sent with a link that signs in.
    ///
    /// - Throws: `operationNotAllowed` where the server does not do so; `invalidEmail`, `unauthorizedDomain`, ...
    public func sendSignInLink(
        toEmail email: String,
        actionCodeSettings settings: ActionCodeSettings,
    ) async throws {
        let members = settings.members
        try await run { () async throws(AuthError) in
            try await self.sendCode("EMAIL_SIGNIN", email, members)
        }
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

    // MARK: - What there is

    /// Gives the ways in which an address can sign in; servers that guard addresses tell none.
    public func fetchSignInMethods(
        forEmail email: String,
        completion: (([String]?, (any Error)?) -> Void)? = nil,
    ) {
        run(completion) { () async throws(AuthError) in try await self.methods(email) }
    }

    /// The ways in which an address can sign in; servers that guard addresses tell none.
    ///
    /// - Throws: `invalidEmail`, `networkError`, ...
    public func fetchSignInMethods(forEmail email: String) async throws -> [String] {
        try await run { () async throws(AuthError) in try await self.methods(email) }
    }

    private func methods(_ email: String) async throws(AuthError) -> [String] {
        guard !email.isEmpty else { throw AuthError(.missingEmail) }
        let body: [String: JSONValue] = [
            "identifier": .text(email), "continueUri": .text("http://localhost"),
        ]
        return try await service.call("createAuthUri", body).signinMethods ?? []
    }

    /// Has digits sent to a phone.
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
