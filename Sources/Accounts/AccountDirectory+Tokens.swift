import JSONTree

extension AccountDirectory {
    /// Seconds since 1970 from which on tokens of a user count; nil when none does: the account is gone or disabled.
    ///
    /// Asked for every token that is shown, so it reads two members and makes no `Account`.
    package func tokenStart(_ uid: String) -> Int64? {
        guard let key = AccountKey.key(uid) else { return nil }
        let record = root.descendant(at: Self.path("accounts", key))
        guard let createdAt = record.member("createdAt").integer,
            record.member("disabled").boolean != true
        else { return nil }
        return record.member("validSince").integer ?? createdAt / 1000
    }
}
