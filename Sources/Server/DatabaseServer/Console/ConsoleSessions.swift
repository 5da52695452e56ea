import DatabaseCore
import JSONTree
import Tokens

/// Who has signed in to the console, by the digests of their cookies. Pure: the time and the random bytes are arguments.
///
/// A cookie is made by each sign-in and never taken from a client, so no user is ever signed in to a session that another
/// one has prepared. All sessions end with the process.
struct ConsoleSessions {
    /// What a person may do there.
    enum Role: String, Sendable {
        case admin
        /// Looks at everything but copies of the whole and password hashes, and changes nothing.
        case viewer
    }

    /// How they have shown who they are.
    enum Holder: Equatable, Sendable {
        /// With the administrator's secret.
        case secret
        /// With an ID token of this account, which was issued at a time, seconds since 1970.
        case account(uid: String, issuedAt: Int64)
    }

    struct Session: Equatable, Sendable {
        /// Given once in a process.
        let number: Int
        let holder: Holder
        let role: Role
        /// The first moment at which it is over.
        let expiry: Timestamp

        /// Who it is, for the log: a uid, or `admin` for who knows the secret.
        var name: String {
            switch holder {
            case .secret: RulesAuthor.admin
            case .account(let uid, _): uid
            }
        }

        /// The same for the engine: what the session may do, and for how long.
        var term: CredentialTerm { term(isReadOnly: role == .viewer) }

        func term(isReadOnly: Bool) -> CredentialTerm {
            CredentialTerm(
                expiry: expiry,
                holder: CredentialHolder(.console(number), issuedAt: 0),
                administrator: name,
                isReadOnly: isReadOnly || role == .viewer
            )
        }
    }

    /// Sessions at a time; one more ends the oldest.
    static let limit = 256
    /// Milliseconds from sign-in to the end.
    static let lifetime: Int64 = 3_600_000
    /// Random bytes of a cookie.
    static let secretByteCount = 32

    private var sessions: [String: Session] = [:]
    private var lastNumber = 0

    var isEmpty: Bool { sessions.isEmpty }
    var count: Int { sessions.count }

    /// Begins a session. Returns it with its cookie, and the one that had to make room.
    mutating func begin(
        _ holder: Holder,
        _ role: Role,
        now: Timestamp,
        random: [UInt8]
    ) -> (cookie: String, session: Session, ended: Session?) {
        precondition(random.count == Self.secretByteCount, "a cookie cannot be guessed")
        removeOverdue(now)
        var ended: Session?
        if sessions.count >= Self.limit,
            let oldest = sessions.min(by: { $0.value.number < $1.value.number })
        {
            ended = sessions.removeValue(forKey: oldest.key)
        }
        lastNumber += 1
        let session = Session(
            number: lastNumber,
            holder: holder,
            role: role,
            expiry: Timestamp(milliseconds: now.milliseconds + Self.lifetime)
        )
        let cookie = Base64.encode(random, .url)
        sessions[SHA256Digest.hex(cookie)] = session
        return (cookie, session, ended)
    }

    /// The session of a cookie; nil when there is none, or it is over.
    func session(_ cookie: String, now: Timestamp) -> Session? {
        guard let session = sessions[SHA256Digest.hex(cookie)], now < session.expiry else {
            return nil
        }
        return session
    }

    /// Whether the session with this number goes on.
    func isOpen(_ number: Int, now: Timestamp) -> Bool {
        sessions.values.contains { $0.number == number && now < $0.expiry }
    }

    /// Ends the session of a cookie.
    mutating func end(_ cookie: String) -> Session? {
        sessions.removeValue(forKey: SHA256Digest.hex(cookie))
    }

    /// Ends sessions; returns them in the order in which they began.
    mutating func end(where isOver: (Session) -> Bool) -> [Session] {
        let ended = sessions.filter { isOver($0.value) }
        for digest in ended.keys { sessions[digest] = nil }
        return ended.values.sorted { $0.number < $1.number }
    }

    private mutating func removeOverdue(_ now: Timestamp) {
        sessions = sessions.filter { now < $0.value.expiry }
    }
}
