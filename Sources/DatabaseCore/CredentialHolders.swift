/// What goes on by whose credential: finds it when the credential no longer counts before its time.
///
/// Invariant: it has every open session whose term names a holder, under that holder, and every request that waits
/// for long work under such a term; nothing else. Both are entered and taken out where the term is given and ended:
/// `Session.become`, `DatabaseEngine.enter` and `end`, `beginWaiting` and `endWaiting`.
struct CredentialHolders {
    /// What goes on by a credential.
    private enum Bearer: Hashable {
        case session(ConnectionID)
        case request(RequestID)
    }

    /// When each bearer's credential was issued, seconds since 1970.
    private var bearers: [CredentialHolder.Name: [Bearer: Int64]] = [:]

    /// Sessions and requests that are here.
    var count: Int { bearers.values.reduce(0) { $0 + $1.count } }

    mutating func add(_ holder: CredentialHolder?, _ session: ConnectionID) {
        add(holder, .session(session))
    }

    mutating func remove(_ holder: CredentialHolder?, _ session: ConnectionID) {
        remove(holder, .session(session))
    }

    mutating func add(_ holder: CredentialHolder?, _ request: RequestID) {
        add(holder, .request(request))
    }

    /// Takes a request out; false when its credential was revoked meanwhile.
    @discardableResult
    mutating func remove(_ holder: CredentialHolder?, _ request: RequestID) -> Bool {
        remove(holder, .request(request))
    }

    /// Takes out the requests whose credential was issued before a time, and names the sessions, in order: they are
    /// taken out when they end or become somebody else.
    ///
    /// O(what goes on by this holder's credentials).
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

    private mutating func add(_ holder: CredentialHolder?, _ bearer: Bearer) {
        guard let holder else { return }
        bearers[holder.name, default: [:]][bearer] = holder.issuedAt
    }

    @discardableResult
    private mutating func remove(_ holder: CredentialHolder?, _ bearer: Bearer) -> Bool {
        guard let holder else { return true }
        guard bearers[holder.name]?.removeValue(forKey: bearer) != nil else { return false }
        if bearers[holder.name]?.isEmpty == true { bearers[holder.name] = nil }
        return true
    }
}
