import Accounts
package import Passwords

extension IdentityToolkit {
    /// Has a new password hashed, away from the loop.
    ///
    /// The caller has checked it by the rules; `then` judges by the accounts as they are when it is hashed.
    package static func hash(
        _ password: String,
        _ context: IdentityContext,
        then: @escaping (StoredPassword, IdentityContext) throws(IdentityError) -> IdentityStep
    ) -> IdentityStep {
        .password(.hash(password: Array(password.utf8), context.policy.cost)) { outcome, context in
            .attempt { () throws(IdentityError) in
                guard case .hashed(let stored) = outcome else { throw .tooManyPasswords }
                return try then(stored, context)
            }
        }
    }

    /// The one spelling of an address that a request brings.
    ///
    /// - Throws: `INVALID_EMAIL`.
    static func address(_ text: String) throws(IdentityError) -> String {
        guard let email = EmailAddress.normalized(text) else { throw .code(.invalidEmail) }
        return email
    }

    /// Checks that nobody has this address.
    static func requireFree(
        _ email: String,
        _ context: IdentityContext
    ) throws(IdentityError) {
        guard context.directory.account(email: email) == nil else { throw .code(.emailExists) }
    }
}

extension IdentityError {
    /// The password thread has no room.
    static let tooManyPasswords = IdentityError.unavailable(
        "Too many passwords are being checked; try again."
    )
}
