import Accounts

extension IdentityToolkit {
    /// `accounts:lookup`: the account of an ID token, in a list of one.
    static func lookup(
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        try identify(request.fields, context) { account, _, _ in
            var body = JSONMembers()
            body.add("kind", "identitytoolkit#GetAccountInfoResponse")
            body.add("users", .list([account.userObject(isForAdmin: false)]))
            return .answer(IdentityAnswer(body))
        }
    }
}
