import Accounts
import Passwords

extension IdentityContext {
    /// Has a new password hashed, away from the loop.
    ///
    /// The caller has checked it by the rules; `then` sees the accounts at the time when the hash is done.
    func hash(
        _ password: String,
        then: @escaping (StoredPassword, IdentityContext) throws(IdentityError) -> IdentityStep
    ) -> IdentityStep {
        .password(.hash(password: Array(password.utf8), policy.cost)) { outcome, context in
            .attempt { () throws(IdentityError) in
                guard case .hashed(let stored) = outcome else { throw .tooManyPasswords }
                return try then(stored, context)
            }
        }
    }

    /// Checks that no account has this address, but perhaps that of `uid`.
    func requireFree(_ email: String, for uid: String? = nil) throws(IdentityError) {
        guard let holder = directory.account(email: email), holder.uid != uid else { return }
        throw .code(.emailExists)
    }
}

extension EmailAddress {
    /// The one spelling of a request's address.
    ///
    /// - Throws: `INVALID_EMAIL`.
    static func checked(_ text: String) throws(IdentityError) -> String {
        guard let email = normalized(text) else { throw .code(.invalidEmail) }
        return email
    }
}

extension IdentityError {
    /// The password thread has no room.
    static let tooManyPasswords = IdentityError.unavailable(
        "Too many passwords are being checked; try again."
    )
}
