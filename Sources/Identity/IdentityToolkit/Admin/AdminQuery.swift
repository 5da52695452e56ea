import Accounts
import JSONTree

extension IdentityRequest {
    /// Accounts in one answer. Source: Identity Toolkit API, `accounts.query`.
    static let queryLimit: Int64 = 500
    /// Accounts that are skipped: `batchGet` covers more. Hearth's own limit.
    static let queryOffsetLimit: Int64 = 10_000

    /// `projects/P/accounts:query`: the account with a name, or accounts in the order of their uids.
    ///
    /// As the service does, it looks at the first expression only, and there at the address before the number before the
    /// uid. `recordsCount` is that of all accounts that match.
    func queryAccounts(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        guard try fields.text("tenantId") ?? "" == "" else { throw .code(.tenantNotFound) }
        let limit = try fields.integer("limit") ?? 0
        let offset = try fields.integer("offset") ?? 0
        guard limit >= 0, (0...Self.queryOffsetLimit).contains(offset) else {
            throw .code(
                .invalidPageSelection,
                "limit must not be negative, offset is at most \(Self.queryOffsetLimit)."
            )
        }
        let isBackwards = try isBackwards(fields)
        try checkOrder(fields)

        let size = Int(min(limit == 0 ? Self.queryLimit : limit, Self.queryLimit))
        if let text = try searchedText() { return search(text, limit: size, context) }
        let expression = fields.list("expression").first.map { RequestFields($0) }
        // Those that are passed over cost about a tenth.
        let effort = expression == nil ? size + Int(offset) / 10 : 1
        return .listing(effort, context) {
            [directory = context.directory, isWhole = context.showsPasswordHashes] ()
                throws(IdentityError) in
            var found: [Account] = []
            var count = directory.accountCount
            if let expression {
                found = try account(expression, directory).map { [$0] } ?? []
                count = found.count
                found = offset > 0 ? [] : found
            } else if try fields.flag("returnUserInfo") ?? true {
                found = directory.accounts(
                    offset: Int(offset),
                    limit: size,
                    isBackwards: isBackwards
                )
            }
            let showsUsers = try fields.flag("returnUserInfo") ?? true
            let users = showsUsers ? found.map { $0.userObject(isForAdmin: isWhole) } : []
            return ["recordsCount": .string("\(count)"), "userInfo": .given(users)]
        }
    }

    /// Bytes of what is searched for: an address has no more.
    private static let searchByteLimit = EmailAddress.byteLimit

    /// What is searched for; nil for a query.
    private func searchedText() throws(IdentityError) -> String? {
        guard let text = try fields.text("search"), !text.isEmpty else { return nil }
        guard text.utf8.count <= Self.searchByteLimit else {
            throw .invalidPayload("'search' has at most \(Self.searchByteLimit) bytes.")
        }
        return text
    }

    /// `{"recordsCount","userInfo","isCut"?}`: `isCut` when there may be more.
    private func search(_ text: String, limit: Int, _ context: IdentityContext) -> IdentityStep {
        let (directory, isWhole) = (context.directory, context.showsPasswordHashes)
        let effort = min(directory.accountCount, AccountDirectory.searchedLimit)
        return .listing(effort, context) {
            let found = directory.accounts(matching: text, limit: limit)
            return [
                "recordsCount": .string("\(found.accounts.count)"),
                "userInfo": .given(found.accounts.map { $0.userObject(isForAdmin: isWhole) }),
                "isCut": found.isCut ? .boolean(true) : nil,
            ]
        }
    }

    private func account(
        _ expression: RequestFields,
        _ directory: AccountDirectory
    ) throws(IdentityError) -> Account? {
        if let email = try expression.text("email") { return directory.accountOfAddress(email) }
        if let number = try expression.text("phoneNumber") {
            return directory.accountOfNumber(number)
        }
        return try expression.text("userId").flatMap { directory.account($0) }
    }

    private func isBackwards(_ fields: RequestFields) throws(IdentityError) -> Bool {
        switch try fields.text("order") {
        case nil, "ORDER_UNSPECIFIED", "0", "ASC", "1": return false
        case "DESC", "2": return true
        case .some(let order): throw .invalidPayload("Invalid value at 'order': \(order).")
        }
    }

    /// Only uids have an order that accounts are kept in; any other would take all of them.
    private func checkOrder(_ fields: RequestFields) throws(IdentityError) {
        switch try fields.text("sortBy") {
        case nil, "SORT_BY_FIELD_UNSPECIFIED", "0", "USER_ID", "1": return
        case "NAME", "2", "CREATED_AT", "3", "LAST_LOGIN_AT", "4", "USER_EMAIL", "5":
            throw .notImplemented("Sorting by anything but USER_ID")
        case .some(let field): throw .invalidPayload("Invalid value at 'sortBy': \(field).")
        }
    }
}
