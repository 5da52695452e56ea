import Accounts
import JSONTree

/// The current meaning of a client's code.
extension IdentityContext {
    /// The code of a link, as long as it counts.
    ///
    /// - Throws: `INVALID_OOB_CODE`, `EXPIRED_OOB_CODE`.
    func linkCode(_ secret: String) throws(IdentityError) -> OneTimeCode {
        guard let code = directory.code(secret), code.kind != .phone else {
            throw .code(.invalidOOBCode)
        }
        guard !code.isExpired(at: now) else { throw .code(.expiredOOBCode) }
        return code
    }

    /// The account that a code was made for, as long as it still has the address that the code was made for.
    ///
    /// A code to reset a password, to verify an address or to change it is void once the account's sign-ins have ended:
    /// its password or address was changed, an administrator has revoked its tokens, or it is another account with the
    /// same uid. So of several emails one is valid, and what an intruder has begun ends with the intrusion. A code that
    /// restores an address stays valid, for the account that it was made for.
    ///
    /// - Throws: `INVALID_OOB_CODE`, `USER_DISABLED`.
    func holder(of code: OneTimeCode) throws(IdentityError) -> Account {
        guard let account = code.uid.flatMap({ directory.account($0) }) else {
            throw .code(.invalidOOBCode)
        }
        let isCurrent =
            switch code.kind {
            case .passwordReset:
                account.email == code.email && account.validSince == code.validSince
                    && account.passwordUpdatedAt.map { $0 <= code.createdAt } ?? true
            case .verifyEmail, .verifyAndChangeEmail:
                account.email == code.email && account.validSince == code.validSince
            // The account has another address by now: the purpose of this code.
            case .recoverEmail: account.email != code.email && account.createdAt <= code.createdAt
            case .emailSignIn: account.email == code.email
            case .phone: false
            }
        guard isCurrent else { throw .code(.invalidOOBCode) }
        guard !account.isDisabled else { throw .code(.userDisabled) }
        return account
    }
}

extension RequestFields {
    func has(_ name: String) -> Bool { !node(name).isAbsent }

    /// A text that must be there and not empty.
    func required(_ name: String, _ code: IdentityError.Code) throws(IdentityError) -> String {
        guard let text = try text(name), !text.isEmpty else { throw .code(code) }
        return text
    }

    /// An e-mail address that must be there, in its one spelling.
    func requiredEmail(_ name: String, _ code: IdentityError.Code) throws(IdentityError) -> String {
        try EmailAddress.checked(try required(name, code))
    }
}
