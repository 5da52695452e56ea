import Accounts
import JSONTree

extension IdentityRequest {
    /// `accounts:delete`: the account of an ID token, by its user.
    func delete(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        try context.identify(fields) { account, token, context throws(IdentityError) in
            try context.requireRecentSignIn(token)
            var answer = IdentityAnswer(JSONMembers(kind: "DeleteAccountResponse"))
            answer.changes.remove(account, now: context.now)
            answer.events = [.shutOut(uid: account.uid)]
            return .answer(answer)
        }
    }
}
