import Accounts
import JSONTree

extension IdentityRequest {
    /// Accounts in one answer. Source: Identity Toolkit API, `accounts.batchGet`.
    static let pageLimit: Int64 = 1000
    private static let usualPageSize: Int64 = 20

    /// `projects/P/accounts:batchGet`, in the older family `downloadAccount`: accounts page by page, in the order of
    /// their uids, with the hashes of their passwords.
    ///
    /// -1 means as many as one answer may have. A token for the next page is returned only if there is one.
    func batchGet(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        let asked = try parameters.integer("maxResults") ?? 0
        guard asked >= -1 else {
            throw .code(.invalidPageSelection, "maxResults is below -1.")
        }
        let size =
            asked == -1
            ? Self.pageLimit : min(asked == 0 ? Self.usualPageSize : asked, Self.pageLimit)
        guard try parameters.text("tenantId") ?? "" == "" else { throw .code(.tenantNotFound) }
        let token = try parameters.text("nextPageToken") ?? ""
        guard token.isEmpty || UserID.isValid(token) else {
            throw .code(.invalidPageSelection, "nextPageToken is none that was given.")
        }
        return .listing(Int(size), context) {
            [directory = context.directory, isWhole = context.showsPasswordHashes] in
            var page = directory.accounts(after: token.isEmpty ? nil : token, limit: Int(size) + 1)
            let isLast = page.count <= size
            if !isLast { page.removeLast() }
            let body: JSONMembers = [
                "users": .list(page.map { $0.userObject(isForAdmin: isWhole) }),
                "nextPageToken": .text(isLast ? nil : page.last?.uid),
            ]
            return JSONMembers(kind: "DownloadAccountResponse", body)
        }
    }
}

extension IdentityRequest {
    /// The input of a method that is called by GET or POST: the parameters of the address or the body.
    var parameters: RequestFields {
        guard verb == "GET" else { return fields }
        var body = Node.absent
        for name in query.keys.sorted() {
            guard let value = query[name], value.utf8.count <= 1024 else { continue }
            body.set(Node(string: value), at: Path([Key(unchecked: Array(name.utf8))]))
        }
        return RequestFields(body)
    }
}
