import Accounts
import JSONTree

extension IdentityRequest {
    /// Names that one request may look up. Admin SDKs send 100 at most; Hearth's own limit.
    static let lookupLimit = 1000

    /// `projects/P/accounts:lookup`: accounts by any of their names, each once, in the order of the request.
    func adminLookup(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        let uids = try fields.texts("localId")
        let emails = try fields.texts("email")
        let numbers = try fields.texts("phoneNumber")
        let federated = fields.list("federatedUserId").map { RequestFields($0) }
        guard uids.count + emails.count + numbers.count + federated.count <= Self.lookupLimit else {
            throw .code(.localIDListExceedsLimit)
        }
        guard !fields.has("initialEmail") else {
            throw .notImplemented("Looking up by the first address")
        }
        let count = uids.count + emails.count + numbers.count + federated.count
        return .listing(count, context) {
            [directory = context.directory, isWhole = context.showsPasswordHashes] ()
                throws(IdentityError) in
            var found = FoundAccounts()
            for uid in uids { found.add(directory.account(uid)) }
            for email in emails { found.add(directory.accountOfAddress(email)) }
            for number in numbers { found.add(directory.accountOfNumber(number)) }
            for identity in federated { found.add(try directory.account(identity)) }
            // Admin SDKs for Node treat an empty list as a user.
            let users = found.all.map { $0.userObject(isForAdmin: isWhole) }
            return JSONMembers(kind: "GetAccountInfoResponse", ["users": .given(users)])
        }
    }

    /// Accounts, each of them once.
    private struct FoundAccounts {
        private(set) var all: [Account] = []
        private var uids: Set<String> = []

        mutating func add(_ account: Account?) {
            guard let account, uids.insert(account.uid).inserted else { return }
            all.append(account)
        }
    }
}

extension AccountDirectory {
    /// The account with an identity, an address and a number among them; nil without both its names.
    fileprivate func account(_ identity: RequestFields) throws(IdentityError) -> Account? {
        guard let provider = try identity.text("providerId"),
            let rawID = try identity.text("rawId")
        else { return nil }
        return switch provider {
        case "password": accountOfAddress(rawID)
        case "phone": accountOfNumber(rawID)
        default: account(provider: provider, rawID: rawID)
        }
    }

    /// The account with an address, however it is written.
    func accountOfAddress(_ text: String) -> Account? {
        EmailAddress.normalized(text).flatMap { account(email: $0) }
    }

    /// The account with a number, however it is written.
    func accountOfNumber(_ text: String) -> Account? {
        PhoneNumber.normalized(text).flatMap { account(phone: $0) }
    }
}
