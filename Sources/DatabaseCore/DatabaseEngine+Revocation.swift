import EventProtocol
import JSONTree
import WireProtocol

/// Credentials that stop counting: run out, or revoked before their time.
///
/// What was decided before is told as it was decided, in its order; what is decided afterwards is decided without the
/// credential. So whatever waits is judged when it goes on, as whoever its session is by then, and a request that
/// brought its own credential is refused.
extension DatabaseEngine {
    /// Tells sessions whose token has run out. An SDK is disconnected, and comes back with a new one, and so
    /// is the reader of an event stream; a client of the plain event protocol goes on signed out.
    func expireTokens(_ now: Timestamp, _ effects: inout [Effect]) {
        let expired = sessions.values.filter { $0.term.isOver(at: now) }
        for session in expired.sorted(by: { $0.connection < $1.connection }) {
            signOut(session, .overdue, now, &effects)
        }
    }

    /// Tells sessions whose credential no longer counts, in the same way.
    func revoke(
        _ holder: CredentialHolder.Name,
        issuedBefore time: Int64,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) {
        for connection in holders.revoke(holder, issuedBefore: time) {
            guard let session = sessions[connection] else {
                preconditionFailure("holders have open sessions only")
            }
            signOut(session, .revoked, now, &effects)
        }
    }

    private func signOut(
        _ session: Session,
        _ refusal: CredentialRefusal,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) {
        let (status, code, reason, text): (Status, EventErrorCode, CloseReason, String) =
            switch refusal {
            case .expired(let text): (.expiredToken, .expiredToken, .tokenExpired, text)
            // SDKs fetch a fresh token after both, but only after this one do they come back ever more slowly, should
            // no fresh token be any better.
            case .invalid(let text): (.invalidToken, .invalidToken, .tokenRevoked, text)
            }
        let message: OutgoingMessage =
            switch session.dialect {
            case .wire: .text(ServerMessage.authRevoked(status, text).encoded())
            case .events: .text(EventMessage.authRevoked(EventError(code, text)).encoded())
            case .serverSent: .serverSent(.authRevoked, isExport: false)
            }
        session.database.emit(.send(message, to: [session.connection]), &effects)
        switch session.dialect {
        case .wire, .serverSent: close(session.connection, reason, now, &effects)
        case .events: become(.nobody, .unlimited, session, now, &effects)
        }
    }

    // MARK: - Requests that wait

    /// Notes that a request waits for long work.
    func beginWaiting(_ id: RequestID, _ standing: Standing) {
        holders.add(standing.term.holder, id)
    }

    /// Notes that a request waits no longer; why it is not to go on, if its credential counts no more.
    func endWaiting(
        _ id: RequestID,
        _ standing: Standing,
        _ now: Timestamp
    ) -> CredentialRefusal? {
        if !holders.remove(standing.term.holder, id) { return .revoked }
        return standing.term.isOver(at: now) ? .overdue : nil
    }

    /// The same; refuses a request that is not to go on. Returns whether it goes on.
    func goesOn(
        _ id: RequestID,
        _ standing: Standing,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) -> Bool {
        guard let refusal = endWaiting(id, standing, now) else { return true }
        refuse(id, refusal, &effects)
        return false
    }

    /// Answers a request whose credential does not count.
    func refuse(_ id: RequestID, _ refusal: CredentialRefusal, _ effects: inout [Effect]) {
        counts.refusedCredentials += 1
        effects.append(.respond(id, .badCredential(refusal)))
    }

    /// Sessions and waiting requests that a revocation of their holder would find.
    package var heldCredentialCount: Int { holders.count }
}
