package import JSONTree
import Tokens

/// One-time codes among the accounts:
///
///     codes/DIGEST                     the code (`OneTimeCode.record`)
///     codeSubjects/SUBJECT/TIME-DIGEST true     the open ones of one kind and subject; SUBJECT is a digest
///     codeExpiries/TIME-DIGEST         true     the sent ones, the first to expire first
///     untoldCodes/TIME-DIGEST          true     the others, in the same order
///
/// TIME is the time of expiry, 14 digits of milliseconds, so that the order of keys is that of time.
extension AccountDirectory {
    /// Limit of the sent codes that are kept, for all subjects: some 100 MB; ours.
    package static let codeLimit = 200_000

    /// Limit of the unsent codes that are kept; ours.
    ///
    /// Any client can have them made, for invented addresses, so they do not share the room of sent codes. At the limit
    /// the first to expire is removed.
    package static let unsentCodeLimit = 10_000

    /// Milliseconds that an expired code is kept, so that its user learns that it is expired and not that it is wrong;
    /// ours.
    package static let codeGrace: Int64 = 3_600_000

    /// Milliseconds within which one account is sent no more emails than it may have open codes; ours.
    package static let floodTime: Int64 = 3_600_000

    /// The code of a secret, also one that has expired; nil for none.
    package func code(_ secret: String) -> OneTimeCode? {
        code(digest: SHA256Digest.hex(secret))
    }

    /// Whether there is room for one more sent code.
    package var hasRoomForCode: Bool {
        root.member("codeExpiries").childCount < Self.codeLimit
    }

    /// All that are kept, old ones included.
    package var codeCount: Int { root.member("codes").childCount }

    /// How many of one kind and subject still count.
    package func openCodeCount(_ kind: OneTimeCode.Kind, subject: String, now: Timestamp) -> Int {
        var count = 0
        root.descendant(at: Self.subjectPath(kind, subject)).visitChildren { key, _ in
            if let code = code(entry: key), !code.isExpired(at: now) { count += 1 }
            return true
        }
        return count
    }

    /// Whether as many of one kind and subject were made within an hour as may be open: one more would remove a code
    /// that was only just sent.
    package func isFlooded(_ kind: OneTimeCode.Kind, subject: String, now: Timestamp) -> Bool {
        let start = now.milliseconds - Self.floodTime
        var count = 0
        root.descendant(at: Self.subjectPath(kind, subject)).visitChildren { key, _ in
            if let code = code(entry: key), code.createdAt.milliseconds > start { count += 1 }
            return true
        }
        return count >= kind.openLimit
    }

    /// What adds a code: the oldest of the same kind and subject make room for it, and expired ones go.
    package func adding(_ code: OneTimeCode, now: Timestamp) -> AccountChanges {
        var changes = AccountChanges()
        var kept: [OneTimeCode] = []
        let path = Self.subjectPath(code.kind, code.subject)
        root.descendant(at: path).visitChildren { key, _ in
            guard let other = self.code(entry: key) else { return true }
            if other.isExpired(at: now) {
                changes.add(removing(other))
            } else {
                kept.append(other)
            }
            return true
        }
        let surplus = kept.count - (code.kind.openLimit - 1)
        for other in kept.prefix(max(0, surplus)) { changes.add(removing(other)) }
        if code.isUnsent, root.member("untoldCodes").childCount >= Self.unsentCodeLimit,
            let other = firstUnsentCode
        {
            changes.add(removing(other))
        }
        for path in Self.indexPaths(code) { changes.set(Node(true), at: path) }
        changes.set(code.record, at: Self.path("codes", Self.key(code.digest)))
        return changes
    }

    private var firstUnsentCode: OneTimeCode? {
        var first: OneTimeCode?
        root.member("untoldCodes").visitChildren { key, _ in
            first = code(entry: key)
            return first == nil
        }
        return first
    }

    /// The changes that remove a code: it was used, or has to make room.
    package func removing(_ code: OneTimeCode) -> AccountChanges {
        var changes = AccountChanges(.absent, at: Self.path("codes", Self.key(code.digest)))
        for path in Self.indexPaths(code) { changes.set(.absent, at: path) }
        return changes
    }

    /// The changes that replace the stored code by `code`.
    package func replacing(_ code: OneTimeCode) -> AccountChanges {
        AccountChanges(code.record, at: Self.path("codes", Self.key(code.digest)))
    }

    /// The changes that remove codes expired more than `codeGrace` ago, the oldest first: up to `limit` sent ones, and
    /// as many unsent ones.
    package func removingExpiredCodes(now: Timestamp, limit: Int) -> AccountChanges {
        let end = Timestamp(milliseconds: now.milliseconds - Self.codeGrace)
        var changes = AccountChanges()
        for index in ["codeExpiries", "untoldCodes"] {
            changes.add(removingExpiredCodes(index, end: end, limit: limit))
        }
        return changes
    }

    private func removingExpiredCodes(
        _ index: String,
        end: Timestamp,
        limit: Int
    ) -> AccountChanges {
        var changes = AccountChanges()
        var count = 0
        root.member(index).visitChildren { key, _ in
            guard count < limit else { return false }
            count += 1
            guard let code = self.code(entry: key) else {
                // No code makes such an entry; if one exists, it does not block the next ones.
                changes.set(.absent, at: Self.path(index, Key(key)))
                return true
            }
            guard code.isExpired(at: end) else { return false }
            changes.add(removing(code))
            return true
        }
        return changes
    }

    private func code(digest: String) -> OneTimeCode? {
        OneTimeCode(
            digest: digest,
            record: root.descendant(at: Self.path("codes", Self.key(digest)))
        )
    }

    /// The code of an entry `TIME-DIGEST`.
    private func code(entry key: Bytes) -> OneTimeCode? {
        code(digest: String(Key(key).string.suffix(2 * SHA256Digest.byteCount)))
    }

    private static func indexPaths(_ code: OneTimeCode) -> [Path] {
        let digits = "\(code.expiresAt.milliseconds)"
        let time = String(repeating: "0", count: max(0, 14 - digits.utf8.count)) + digits
        let entry = key("\(time)-\(code.digest)")
        return [
            Path([key("codeSubjects"), subjectKey(code.kind, code.subject), entry]),
            path(code.isUnsent ? "untoldCodes" : "codeExpiries", entry),
        ]
    }

    private static func subjectPath(_ kind: OneTimeCode.Kind, _ subject: String) -> Path {
        path("codeSubjects", subjectKey(kind, subject))
    }

    /// The same length for every subject.
    private static func subjectKey(_ kind: OneTimeCode.Kind, _ subject: String) -> Key {
        key(SHA256Digest.hex("\(kind.rawValue) \(subject)"))
    }
}
