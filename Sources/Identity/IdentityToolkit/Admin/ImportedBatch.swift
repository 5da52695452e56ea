import Accounts
import JSONTree

/// Imported accounts, one after the other: each sees the ones before it.
struct ImportedBatch {
    var draft: AccountDraft
    private(set) var events: [AccountEvent] = []
    private let now: Timestamp
    private let mayOverwrite: Bool

    init(_ context: IdentityContext, mayOverwrite: Bool) {
        draft = AccountDraft(context.directory)
        now = context.now
        self.mayOverwrite = mayOverwrite
    }

    /// Stores one account. It replaces the one with its uid completely.
    mutating func add(_ imported: ImportedAccount) throws(ImportedAccount.Refusal) {
        switch imported.finding {
        case .unnamed(let refusal): throw refusal
        case .faulty(let uid, let refusal):
            _ = try replaced(uid)
            throw refusal
        case .sound(var account, var record):
            let old = try replaced(account.uid)
            let tokenTime = old?.validSince ?? draft.removalEnd(account.uid) ?? 0
            account.validSince = max(account.validSince, tokenTime)
            account.revoke(at: now)
            record.set(Node(integer: account.validSince), at: Self.validSince)
            try checkNames(account)
            draft.changes.replace(old, by: account, record: record)
            guard old != nil else { return }
            events.append(.revoked(uid: account.uid, issuedBefore: account.validSince))
            if account.isDisabled { events.append(.shutOut(uid: account.uid)) }
        }
    }

    private static let validSince = Path([AccountDirectory.key("validSince")])

    /// The account with this uid, to replace; nil when there is none.
    private func replaced(_ uid: String) throws(ImportedAccount.Refusal) -> Account? {
        let old = draft.account(uid)
        guard old == nil || mayOverwrite else {
            throw ImportedAccount.Refusal(
                "localId belongs to an existing account - can not overwrite."
            )
        }
        return old
    }

    /// Whether no other account has one of the names of `account`.
    private func checkNames(_ account: Account) throws(ImportedAccount.Refusal) {
        func isFree(_ holder: String?) -> Bool { holder == nil || holder == account.uid }
        if let email = account.email, !isFree(draft.uid(email: email)) {
            throw ImportedAccount.Refusal("email exists in other account in database")
        }
        if let number = account.phoneNumber, !isFree(draft.uid(phone: number)) {
            throw ImportedAccount.Refusal("phone number exists in other account in database")
        }
        for identity in account.federated {
            let holder = draft.uid(provider: identity.provider, rawID: identity.rawID)
            guard isFree(holder) else {
                throw ImportedAccount.Refusal("raw id exists in other account in database")
            }
        }
    }
}
