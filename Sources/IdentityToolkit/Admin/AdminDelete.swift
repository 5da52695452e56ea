import Accounts
import JSONTree

extension IdentityToolkit {
    /// Accounts that one request may delete. Source: Identity Toolkit API, `accounts.batchDelete`.
    static let batchDeleteLimit = 1000

    /// `projects/P/accounts:delete`.
    static func adminDelete(
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        guard let uid = try request.fields.text("localId"), !uid.isEmpty else {
            throw .code(.missingLocalID)
        }
        guard let account = context.directory.account(uid) else { throw .code(.userNotFound) }
        var body = JSONMembers()
        // Admin SDKs for Python take an answer without it for a failure.
        body.add("kind", "identitytoolkit#DeleteAccountResponse")
        var answer = IdentityAnswer(body)
        answer.changes.remove(account, now: context.now)
        answer.events = [.shutOut(uid: uid)]
        return .answer(answer)
    }

    /// `projects/P/accounts:batchDelete`: all at once. Accounts that are not there count as deleted, those that are not
    /// disabled are left unless `force` says otherwise.
    static func batchDelete(
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        let uids = try request.fields.texts("localIds")
        guard (1...batchDeleteLimit).contains(uids.count) else {
            throw .code(.localIDListExceedsLimit)
        }
        let isForced = try request.fields.flag("force") ?? false
        var errors: [JSONValue] = []
        var draft = AccountDraft(context.directory)
        var answer = IdentityAnswer()
        for (index, uid) in uids.enumerated() {
            guard let account = draft.account(uid) else { continue }
            guard account.isDisabled || isForced else {
                var error = JSONMembers()
                error.add("index", .integer(Int64(index)))
                error.add("localId", uid)
                error.add("message", "NOT_DISABLED : Disable the account before batch deletion.")
                errors.append(error.value)
                continue
            }
            draft.remove(account, now: context.now)
            answer.events.append(.shutOut(uid: uid))
        }
        answer.changes = draft.changes
        if !errors.isEmpty { answer.body.add("errors", .list(errors)) }
        return .answer(answer)
    }
}
