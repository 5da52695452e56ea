import Accounts
import JSONTree

extension IdentityRequest {
    /// Accounts that one request may have. Source: Firebase Admin SDK, "Import users".
    static let batchCreateLimit = 1000
    /// Ways of hashing that are kept: each import with parameters that are new adds one. Hearth's own limit.
    static let hashingLimit = 1000

    /// `projects/P/accounts:batchCreate`, in the older family `uploadAccount`: accounts from another system, with the
    /// hashes of their passwords. The answer lists those that are refused by index; the others are stored at once.
    ///
    /// Reads and checks them one by one off the loop; checks that depend on existing accounts run on the loop.
    func batchCreate(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        let now = context.now
        return .away(fields.node("users").childCount, context) { () throws(IdentityError) in
            let brought = try BroughtAccounts(fields, at: now)
            return { context in
                .attempt { () throws(IdentityError) in
                    .answer(try Self.stored(brought, context))
                }
            }
        }
    }

    /// The parsed body of `accounts:batchCreate`.
    private struct BroughtAccounts: Sendable {
        let mayOverwrite: Bool
        let hashing: ImportedAccount.Hashing?
        let accounts: [ImportedAccount]

        init(_ fields: RequestFields, at now: Timestamp) throws(IdentityError) {
            let users = fields.elements("users")
            guard !users.isEmpty else { throw .code(.missingUserAccount) }
            guard users.count <= batchCreateLimit else {
                throw .invalidPayload(
                    "'users' has \(users.count) entries, at most \(batchCreateLimit) are taken."
                )
            }
            mayOverwrite = try fields.flag("allowOverwrite") ?? false
            let isChecked = try fields.flag("sanityCheck") ?? false
            if !mayOverwrite { try checkUIDs(users) }
            if isChecked { try checkIdentities(users) }
            let hashing = try IdentityRequest.hashing(fields, users)
            self.hashing = hashing
            accounts = users.map { index, user in
                ImportedAccount(index, RequestFields(user), hashing, at: now)
            }
        }
    }

    /// - Throws: `INVALID_HASH_ALGORITHM` when passwords are hashed in too many ways.
    private static func stored(
        _ brought: BroughtAccounts,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityAnswer {
        let directory = context.directory
        var batch = ImportedBatch(context, mayOverwrite: brought.mayOverwrite)
        if let hashing = brought.hashing {
            let kept = directory.changes(keeping: hashing.parameters)
            guard kept.isEmpty || directory.hashingCount < hashingLimit else {
                throw .code(
                    .invalidHashAlgorithm,
                    "Passwords are hashed in \(hashingLimit) ways already."
                )
            }
            batch.draft.changes.add(kept)
        }
        var errors: [JSONValue] = []
        for account in brought.accounts {
            do throws(ImportedAccount.Refusal) {
                try batch.add(account)
            } catch {
                errors.append(["index": .number(account.index), "message": .string(error.message)])
            }
        }
        let body: JSONMembers = ["error": .list(errors)]
        var answer = IdentityAnswer(JSONMembers(kind: "UploadAccountResponse", body))
        answer.changes = batch.draft.changes
        answer.events = batch.events
        return answer
    }

    /// - Throws: `DUPLICATE_LOCAL_ID` when two entries are one account.
    private static func checkUIDs(_ users: [(index: Int, node: Node)]) throws(IdentityError) {
        var seen: Set<String> = []
        for (_, user) in users {
            guard let uid = try RequestFields(user).text("localId") else { continue }
            guard seen.insert(uid).inserted else { throw .code(.duplicateLocalID, uid) }
        }
    }

    /// - Throws: `DUPLICATE_EMAIL`, `DUPLICATE_RAW_ID` when two entries have one address or one identity.
    private static func checkIdentities(_ users: [(index: Int, node: Node)]) throws(IdentityError) {
        var emails: Set<String> = []
        var identities: Set<[String]> = []
        for (_, user) in users {
            let fields = RequestFields(user)
            if let text = try fields.text("email"), let email = EmailAddress.normalized(text) {
                guard emails.insert(email).inserted else { throw .code(.duplicateEmail, email) }
            }
            for identity in fields.list("providerUserInfo").map({ RequestFields($0) }) {
                guard let provider = try identity.text("providerId"),
                    let rawID = try identity.text("rawId"), provider != "password",
                    provider != "phone"
                else { continue }
                guard identities.insert([provider, rawID]).inserted else {
                    let detail = "Provider id(\(provider)), Raw id(\(rawID))"
                    throw .code(.duplicateRawID, detail)
                }
            }
        }
    }

    /// How the passwords are hashed; nil without passwords or parameters.
    ///
    /// - Throws: `INVALID_HASH_ALGORITHM` and the faults of parameters.
    private static func hashing(
        _ fields: RequestFields,
        _ users: [(index: Int, node: Node)]
    ) throws(IdentityError) -> ImportedAccount.Hashing? {
        guard try fields.givenText("hashAlgorithm") != nil else { return nil }
        let hashing = try fields.importedHashing()
        let hasPasswords = users.contains { RequestFields($0.node).has("passwordHash") }
        return hasPasswords ? ImportedAccount.Hashing(hashing) : nil
    }
}

extension RequestFields {
    /// The elements of a list with their indexes: one that is null or empty leaves a gap.
    func elements(_ name: String) -> [(index: Int, node: Node)] {
        var all: [(index: Int, node: Node)] = []
        node(name).visitChildren { key, node in
            guard let index = Int(Key(key).string) else { return true }
            all.append((index, node))
            return true
        }
        return all.sorted { $0.index < $1.index }
    }
}
