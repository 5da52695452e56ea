import Accounts
import JSONTree

extension IdentityRequest {
    /// Accounts that one request may delete. Source: Identity Toolkit API, `accounts.batchDelete`.
    static let batchDeleteLimit = 1000

    /// `projects/P/accounts:delete`.
    func adminDelete(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        let uid = try fields.required("localId", .missingLocalID)
        guard let account = context.directory.account(uid) else { throw .code(.userNotFound) }
        // Admin SDKs for Python treat an answer without its kind as a failure.
        var answer = IdentityAnswer(JSONMembers(kind: "DeleteAccountResponse"))
        answer.changes.remove(account, now: context.now)
        answer.events = [.shutOut(uid: uid)]
        return .answer(answer)
    }

    /// `projects/P/accounts:batchDelete`: all at once. Accounts that are not there count as deleted, those that are not
    /// disabled are left unless `force` says otherwise.
    func batchDelete(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        let uids = try fields.texts("localIds")
        guard (1...Self.batchDeleteLimit).contains(uids.count) else {
            throw .code(.localIDListExceedsLimit)
        }
        let isForced = try fields.flag("force") ?? false
        var errors: [JSONValue] = []
        var draft = AccountDraft(context.directory)
        var answer = IdentityAnswer()
        for (index, uid) in uids.enumerated() {
            guard let account = draft.account(uid) else { continue }
            guard account.isDisabled || isForced else {
                errors.append([
                    "index": .number(index), "localId": .string(uid),
                    "message": "NOT_DISABLED : Disable the account before batch deletion.",
                ])
                continue
            }
            draft.changes.remove(account, now: context.now)
            answer.events.append(.shutOut(uid: uid))
        }
        answer.changes = draft.changes
        answer.body.add("errors", .given(errors))
        return .answer(answer)
    }
}
