import JSONTree

/// Accounts that a search has found.
package struct AccountMatches: Sendable {
    /// Those with a fitting address first, then phone number, uid and name; none twice.
    package fileprivate(set) var accounts: [Account] = []
    /// Whether there may be more: the limit is reached, or not every account was looked at for its name.
    package fileprivate(set) var isCut = false
}

extension AccountDirectory {
    /// Accounts that one search looks at for their names and uids. Some 100 ms of a worker.
    package static let searchedLimit = 100_000

    /// Up to `limit` accounts of which the address, the phone number, the uid, or a word of the name begins with `text`, in upper
    /// or lower case.
    ///
    /// Addresses, numbers and uids are found by their indexes: O(log n) each. Names have no index: of them the first
    /// `searched` accounts, in the order of their uids, are looked at.
    package func accounts(
        matching text: String,
        limit: Int,
        searched: Int = AccountDirectory.searchedLimit
    ) -> AccountMatches {
        var search = AccountSearch(directory: self, limit: limit)
        let lower = text.lowercased()
        search.visit("emails", from: UnicodeText.composed(UnicodeText.widthFolded(lower)))
        search.visit("phones", from: text)
        search.visit("accounts", from: text)
        search.visitNames(lower, searched: searched)
        return search.found
    }
}

private struct AccountSearch {
    let directory: AccountDirectory
    let limit: Int
    var found = AccountMatches()
    private var uids: Set<String> = []

    init(directory: AccountDirectory, limit: Int) {
        self.directory = directory
        self.limit = limit
    }

    /// Adds what an index has under keys that begin with `text`; of `accounts`, the index by uids, the record itself.
    mutating func visit(_ index: String, from text: String) {
        guard let start = AccountKey.key(text) else { return }
        let prefix = start.string.utf8
        var found: [String] = []
        directory.root.member(index).visitChildren(from: start) { key, value in
            let key = Key(key).string
            guard key.utf8.starts(with: prefix) else { return false }
            found.append(value.string ?? AccountKey.text(key))
            return found.count <= limit
        }
        for uid in found { add(directory.account(uid)) }
    }

    /// Adds accounts by their names, and those whose uids are numbers, which are in an order of their own.
    mutating func visitNames(_ text: String, searched: Int) {
        let inside = " " + text
        var left = searched
        var found: [String] = []
        directory.root.member("accounts").visitChildren { key, record in
            if left == 0 || found.count > limit { return false }
            left -= 1
            let name = record.member("displayName").string?.lowercased() ?? ""
            let uid = AccountKey.text(Key(key).string)
            if name.hasPrefix(text) || name.contains(inside) || uid.hasPrefix(text) {
                found.append(uid)
            }
            return true
        }
        if directory.accountCount > searched { self.found.isCut = true }
        for uid in found { add(directory.account(uid)) }
    }

    private mutating func add(_ account: Account?) {
        guard let account, !uids.contains(account.uid) else { return }
        if found.accounts.count == limit {
            found.isCut = true
        } else {
            uids.insert(account.uid)
            found.accounts.append(account)
        }
    }
}
