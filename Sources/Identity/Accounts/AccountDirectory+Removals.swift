package import JSONTree

/// What is kept of accounts that are gone: until when their tokens are dated, so that none of them counts for an account
/// that takes their uid soon afterwards.
///
///     removals/UID      seconds since 1970, the last ones that a token of that account may be dated by
///
/// After that, a new account accepts only later tokens anyway (`Account.validSince`).
extension AccountDirectory {
    /// An account with nothing yet, for which no token counts that was issued for another one of its uid.
    package func newAccount(_ uid: String, now: Timestamp) -> Account {
        var account = Account(uid: uid, createdAt: now)
        if let end = removalEnd(uid) { account.validSince = max(account.validSince, end + 1) }
        return account
    }

    /// The last second by which tokens of a removed account may be dated; nil when none of that uid was removed lately.
    package func removalEnd(_ uid: String) -> Int64? {
        AccountKey.key(uid).flatMap { key in
            root.descendant(at: Self.path("removals", key)).integer
        }
    }

    /// What forgets removals that no longer matter; looks at up to `limit` of them.
    package func forgettingRemovals(now: Timestamp, limit: Int) -> AccountChanges {
        var changes = AccountChanges()
        var count = 0
        root.member("removals").visitChildren { key, end in
            guard count < limit else { return false }
            count += 1
            if end.integer ?? 0 < now.milliseconds / 1000 {
                changes.set(.absent, at: Self.path("removals", Key(key)))
            }
            return true
        }
        return changes
    }
}

extension AccountChanges {
    /// Removes an account and notes until when its tokens are dated.
    package mutating func remove(_ account: Account, now: Timestamp) {
        replace(account, by: nil)
        guard let key = AccountKey.key(account.uid) else { return }
        let end = max(now.milliseconds / 1000, account.validSince)
        set(Node(integer: end), at: AccountDirectory.path("removals", key))
    }
}
