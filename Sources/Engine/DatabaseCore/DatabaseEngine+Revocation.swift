import EventProtocol
import JSONTree
import WireProtocol

/// Credentials that become invalid: expired, or revoked before their time.
///
/// Decisions made before stay as they are and are sent in their order; later ones are made without the credential. So a
/// request that waits is authorized when it continues, with the identity that its session has then. A request that
/// brought its own credential is refused.
extension DatabaseEngine {
    /// Signs out sessions whose token has expired. SDKs and readers of event streams are disconnected, and come back
    /// with a new token; a client of the plain event protocol continues signed out.
    func expireTokens(_ step: inout Step) {
        let expired = sessions.values.filter { $0.term.isOver(at: step.now) }
        for session in expired.sorted(by: { $0.connection < $1.connection }) {
            signOut(session, .overdue, &step)
        }
    }

    /// Signs out sessions whose credential is revoked, in the same way.
    func revoke(_ holder: CredentialHolder.Name, issuedBefore time: Int64, _ step: inout Step) {
        for connection in holders.revoke(holder, issuedBefore: time) {
            guard let session = sessions[connection] else {
                preconditionFailure("holders have open sessions only")
            }
            signOut(session, .revoked, &step)
        }
    }

    private func signOut(_ session: Session, _ refusal: CredentialRefusal, _ step: inout Step) {
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
        session.database.emit(.send(message, to: [session.connection]), &step)
        switch session.dialect {
        case .wire, .serverSent: close(session.connection, reason, &step)
        case .events:
            session.atOwner.credential = nil
            become(.nobody, .unlimited, session, &step)
        }
    }

    /// Answers a request whose credential is invalid.
    func refuse(_ id: RequestID, _ refusal: CredentialRefusal, _ step: inout Step) {
        step.counts.refusedCredentials += 1
        step.effects.append(.respond(id, .badCredential(refusal)))
    }

    /// Sessions and waiting requests that a revocation of their holder would find.
    package var heldCredentialCount: Int { holders.count }
}
