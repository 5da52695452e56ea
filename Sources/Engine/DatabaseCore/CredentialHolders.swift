/// Which sessions and requests depend on whose credential, to find them when it is revoked.
///
/// Invariant: it has, under its holder, every open session whose term names one and every request that waits for long
/// work under such a term; nothing else. They enter and leave it where the term begins and ends: `Session.become`,
/// `DatabaseEngine.enter` and `end`, `beginWaiting` and `endWaiting`.
struct CredentialHolders {
    /// What depends on a credential.
    enum Bearer: Hashable {
        case session(ConnectionID)
        case request(RequestID)
    }

    /// When each bearer's credential was issued, seconds since 1970.
    private var bearers: [CredentialHolder.Name: [Bearer: Int64]] = [:]

    /// Sessions and requests in it.
    var count: Int { bearers.values.reduce(0) { $0 + $1.count } }

    mutating func add(_ holder: CredentialHolder?, _ bearer: Bearer) {
        guard let holder else { return }
        bearers[holder.name, default: [:]][bearer] = holder.issuedAt
    }

    /// Takes a bearer out; false when its credential was revoked meanwhile.
    @discardableResult
    mutating func remove(_ holder: CredentialHolder?, _ bearer: Bearer) -> Bool {
        guard let holder else { return true }
        guard bearers[holder.name]?.removeValue(forKey: bearer) != nil else { return false }
        if bearers[holder.name]?.isEmpty == true { bearers[holder.name] = nil }
        return true
    }

    /// Takes out the requests whose credential was issued before a time, and names the sessions, in order: they are
    /// taken out when they end or get another identity.
    ///
    /// O(bearers of this holder's credentials).
    mutating func revoke(
        _ name: CredentialHolder.Name,
        issuedBefore time: Int64
    ) -> [ConnectionID] {
        var sessions: [ConnectionID] = []
        for (bearer, issuedAt) in bearers[name] ?? [:] where issuedAt < time {
            switch bearer {
            case .session(let connection): sessions.append(connection)
            case .request:
                remove(CredentialHolder(name, issuedAt: issuedAt), bearer)
            }
        }
        return sessions.sorted()
    }
}
