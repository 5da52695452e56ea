import JSONTree
import SecurityRules
import WireProtocol

extension DatabaseEngine {
    /// Begins a session, after ending the one that the client says it had before.
    func open(
        _ connection: ConnectionID,
        _ handshake: Handshake,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) {
        guard let database = database(handshake.database) else {
            let text = "There is no database named '\(handshake.database)' on this server."
            let message = ServerMessage.shutdown(text).encoded()
            effects.append(.send(.text(message), to: [connection]))
            effects.append(.close(connection, .unknownDatabase))
            return
        }
        if let last = handshake.lastSession.flatMap({ sessionsByID[$0] }),
            last.database === database
        {
            close(last.connection, .replaced, now, &effects)
        }
        let session = Session(connection: connection, id: handshake.session, database: database)
        sessions[connection] = session
        sessionsByID[session.id] = session
        counts.sessions += 1
        let hello = ServerMessage.hello(
            now: now,
            host: handshake.host,
            session: handshake.session.text
        )
        database.emit(.send(.text(hello.encoded()), to: [connection]), &effects)
    }

    /// Ends a session and its connection for a reason of the server's.
    func close(
        _ connection: ConnectionID,
        _ reason: CloseReason,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) {
        guard let session = sessions[connection] else { return }
        // Whatever the session was already owed leaves first.
        session.database.emit(.close(connection, reason), &effects)
        end(connection, now, &effects)
    }

    /// Ends a session: its listens first, then its on-disconnect writes.
    func end(_ connection: ConnectionID, _ now: Timestamp, _ effects: inout [Effect]) {
        guard let session = sessions.removeValue(forKey: connection) else { return }
        sessionsByID[session.id] = nil
        switch session.waiting {
        case .credential(let inquiry, _, _), .hash(let inquiry, _, _):
            inquiringSessions[inquiry] = nil
        case nil: break
        }
        for listen in session.sortedListens { session.database.remove(listen) }
        session.database.runOnDisconnect(session.id, now: now, &effects)
    }

    /// Tells sessions whose token has run out, and ends them: a client then comes back with a new one.
    func expireTokens(_ now: Timestamp, _ effects: inout [Effect]) {
        let expired = sessions.values.filter { ($0.expiry ?? .distantFuture) <= now }
        for session in expired.sorted(by: { $0.connection < $1.connection }) {
            let message = ServerMessage.authRevoked(.expiredToken, "Auth token is expired")
            session.database.emit(
                .send(.text(message.encoded()), to: [session.connection]),
                &effects
            )
            close(session.connection, .tokenExpired, now, &effects)
        }
    }

    // MARK: - Credentials

    /// Asks the shell about a credential; the connection's later messages wait for the outcome.
    func authenticate(
        _ credential: Credential,
        request: Int64,
        _ session: Session,
        _ effects: inout [Effect]
    ) {
        let inquiry = nextInquiry()
        session.waiting = .credential(inquiry, request: request, credential.override)
        inquiringSessions[inquiry] = session
        effects.append(.verify(inquiry, token: credential.token))
    }

    func verified(
        _ inquiry: InquiryID,
        _ outcome: CredentialOutcome,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) {
        if let (request, id) = inquiringRequests.removeValue(forKey: inquiry) {
            resume(request, id, outcome, now, &effects)
            return
        }
        guard let session = inquiringSessions.removeValue(forKey: inquiry) else { return }
        guard case .credential(inquiry, let request, let override) = session.waiting else { return }
        session.waiting = nil
        switch outcome {
        case .admin:
            become(DatabaseEngine.identity(under: override), nil, session, now, &effects)
            confirm(request, session, &effects)
        case .user(let auth, let expiry):
            become(.user(auth), expiry, session, now, &effects)
            confirm(request, session, &effects)
        case .refused(let refusal):
            counts.refusedCredentials += 1
            session.database.reply(request, refusal.replyBody, to: session, &effects)
        }
        receiveParked(session, now, &effects)
    }

    /// Who an admin acts as.
    static func identity(under override: AuthOverride?) -> Identity {
        switch override {
        case nil: .admin
        case .nobody: .nobody
        case .value(let value): .user(AuthVariable(value))
        }
    }

    /// Gives a session an identity; listens that it may not have end.
    func become(
        _ identity: Identity,
        _ expiry: Timestamp?,
        _ session: Session,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) {
        session.identity = identity
        session.expiry = expiry
        session.database.identityChanged(of: session, now: now, &effects)
        session.database.judgeAgain(session, now: now, &effects)
    }

    private func confirm(_ request: Int64, _ session: Session, _ effects: inout [Effect]) {
        let body = ReplyBody.authenticated(session.identity.auth?.value)
        session.database.reply(request, body, to: session, &effects)
    }
}

extension CredentialRefusal {
    var replyBody: ReplyBody {
        switch self {
        case .invalid(let text): .refused(.invalidToken, text)
        case .expired(let text): .refused(.expiredToken, text)
        }
    }
}

extension Timestamp {
    /// Later than every time that a clock shows.
    static let distantFuture = Timestamp(milliseconds: .max)
}
