import Accounts

extension IdentityToolkit {
    /// `accounts:delete`: the account of an ID token, by its user.
    static func delete(
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        try identify(request.fields, context) { account, token, context throws(IdentityError) in
            try requireRecentSignIn(token, context)
            var body = JSONMembers()
            body.add("kind", "identitytoolkit#DeleteAccountResponse")
            var answer = IdentityAnswer(body)
            answer.changes.remove(account, now: context.now)
            answer.events = [.shutOut(uid: account.uid)]
            return .answer(answer)
        }
    }
}
