import Accounts
import JSONTree

extension IdentityRequest {
    /// `accounts:lookup`: the account of an ID token, in a list of one.
    func lookup(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        try context.identify(fields) { account, _, _ in
            let users: JSONMembers = ["users": .list([account.userObject(isForAdmin: false)])]
            return .answer(JSONMembers(kind: "GetAccountInfoResponse", users))
        }
    }
}
