import Accounts
import JSONTree
import Passwords

/// An imported account, read and checked on its own. `ImportedBatch` decides whether it can be stored.
struct ImportedAccount: Sendable {
    /// Its index in the list.
    let index: Int
    let finding: Finding

    /// What it says.
    enum Finding: Sendable {
        /// It does not say which account it is.
        case unnamed(Refusal)
        /// It cannot be stored; reported only if it does not also try to replace an account that it must not replace.
        case faulty(uid: String, Refusal)
        /// An account with its record, which lacks the `validSince` of now.
        case sound(Account, record: Node)
    }

    /// How the passwords are hashed, and the id under which that is kept.
    struct Hashing: Sendable {
        let id: String
        let parameters: ImportedHashing

        init(_ parameters: ImportedHashing) {
            id = parameters.id
            self.parameters = parameters
        }
    }

    /// Why one is not taken, in the words that administrators' tools show. Source: Identity Toolkit API,
    /// `accounts.batchCreate`.
    struct Refusal: Error {
        let message: String

        init(_ message: String) {
            self.message = message
        }
    }

    init(_ index: Int, _ fields: RequestFields, _ hashing: Hashing?, at now: Timestamp) {
        self.index = index
        do throws(Refusal) {
            let uid = try Self.uid(fields)
            do throws(Refusal) {
                let account = try Self.account(uid, fields, hashing, at: now)
                finding = .sound(account, record: account.record)
            } catch {
                finding = .faulty(uid: uid, error)
            }
        } catch {
            finding = .unnamed(error)
        }
    }

    private static func uid(_ fields: RequestFields) throws(Refusal) -> String {
        guard let uid = try checked({ () throws(IdentityError) in try fields.localID() }) else {
            throw Refusal("localId is missing")
        }
        guard try text(fields, "tenantId") == nil else {
            throw Refusal("Tenant id in userInfo does not match the tenant id in request.")
        }
        guard !fields.has("mfaInfo") else { throw Refusal("Second factor not supported.") }
        return uid
    }

    private static func account(
        _ uid: String,
        _ fields: RequestFields,
        _ hashing: Hashing?,
        at now: Timestamp
    ) throws(Refusal) -> Account {
        var account = try checked { () throws(IdentityError) in
            try described(uid, fields, at: now)
        }
        try setPassword(&account, fields, hashing, at: now)
        try setIdentities(&account, fields)
        return account
    }

    private static func described(
        _ uid: String,
        _ fields: RequestFields,
        at now: Timestamp
    ) throws(IdentityError) -> Account {
        var account = Account(uid: uid, createdAt: now)
        account.createdAt = try fields.time("createdAt") ?? now
        account.lastLoginAt = try fields.time("lastLoginAt")
        try account.describe(by: fields)
        account.isCustomAuth = try fields.flag("customAuth") ?? false
        account.hasEmailLinkSignIn = try fields.flag("emailLinkSignin") ?? false
        account.initialEmail = try fields.text("initialEmail").flatMap {
            EmailAddress.normalized($0)
        }
        return account
    }

    private static func setPassword(
        _ account: inout Account,
        _ fields: RequestFields,
        _ hashing: Hashing?,
        at now: Timestamp
    ) throws(Refusal) {
        guard try text(fields, "rawPassword") == nil else {
            throw Refusal("rawPassword is not taken: set passwords one by one, or bring hashes.")
        }
        guard let hash = try text(fields, "passwordHash") else { return }
        account.password = try storedPassword(hash, salt: try text(fields, "salt") ?? "", hashing)
        account.passwordUpdatedAt =
            try checked { () throws(IdentityError) in try fields.time("passwordUpdatedAt") } ?? now
    }

    /// A hash of ours is given as it is stored, or that in base64; any other in base64 beside its salt.
    private static func storedPassword(
        _ hash: String,
        salt: String,
        _ hashing: Hashing?
    ) throws(Refusal) -> StoredPassword {
        if let own = own(hash) { return own }
        guard let hash = Base64.decode(hash) else {
            throw Refusal("passwordHash is no base64.")
        }
        if let own = own(String(decoding: hash, as: UTF8.self)) { return own }
        guard let hashing else {
            throw Refusal("passwordHash needs hashAlgorithm and its parameters.")
        }
        guard let salt = Base64.decode(salt) else { throw Refusal("salt is no base64.") }
        if let fault = hashing.parameters.fault(hash: hash, salt: salt) {
            throw Refusal("\(fault).")
        }
        return StoredPassword(importedHash: hash, salt: salt, hashingID: hashing.id)
    }

    /// A hash in our stored form; nil for any other.
    private static func own(_ text: String) -> StoredPassword? {
        let password = StoredPassword(text)
        return password.isWellFormed ? password : nil
    }

    private static func setIdentities(
        _ account: inout Account,
        _ fields: RequestFields
    ) throws(Refusal) {
        for element in fields.list("providerUserInfo") {
            let fields = RequestFields(element)
            let provider = try text(fields, "providerId")
            // These follow from the account's own address and number.
            if provider == "password" || provider == "phone" { continue }
            guard provider != nil, try text(fields, "rawId") != nil else {
                throw Refusal("federatedId or (providerId & rawId) is required")
            }
            let identity = try checked { () throws(IdentityError) in
                try fields.federatedIdentity()
            }
            guard !account.federated.contains(where: { $0.provider == identity.provider }) else {
                throw Refusal("\(identity.provider) is in providerUserInfo twice.")
            }
            account.federated.append(identity)
        }
        guard account.federated.count <= ProfileLimits.federatedCount else {
            throw Refusal("providerUserInfo has more than \(ProfileLimits.federatedCount) entries.")
        }
        account.federated.sort { $0.provider < $1.provider }
    }

    /// A text that is not empty.
    private static func text(_ fields: RequestFields, _ name: String) throws(Refusal) -> String? {
        let text = try checked { () throws(IdentityError) in try fields.text(name) }
        return text?.isEmpty == true ? nil : text
    }

    /// The result of `body`, with its error in the words for batches.
    private static func checked<Value>(
        _ body: () throws(IdentityError) -> Value
    ) throws(Refusal) -> Value {
        do throws(IdentityError) {
            return try body()
        } catch {
            switch error.message.prefix(while: { $0 != " " }) {
            case "INVALID_EMAIL": throw Refusal("email is invalid")
            case "INVALID_PHONE_NUMBER": throw Refusal("phone number format is invalid")
            case "INVALID_CLAIMS": throw Refusal("Invalid custom claims provided.")
            case "CLAIMS_TOO_LARGE": throw Refusal("Custom claims provided are too large.")
            case "FORBIDDEN_CLAIM":
                throw Refusal("Custom claims provided include a reserved claim.")
            default: throw Refusal(error.message)
            }
        }
    }
}
