import EventProtocol
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
        guard !isReserved(handshake.database), let database = database(handshake.database) else {
            // The plain event protocol has no word for it: its connections are judged before they open.
            if handshake.dialect == .wire {
                let text = "There is no database named '\(handshake.database)' on this server."
                let message = ServerMessage.shutdown(text).encoded()
                effects.append(.send(.text(message), to: [connection]))
            }
            effects.append(.close(connection, .unknownDatabase))
            return
        }
        if let last = handshake.lastSession.flatMap({ sessionsByID[$0] }),
            last.database === database
        {
            close(last.connection, .replaced, now, &effects)
        }
        let session = Session(
            connection: connection,
            id: handshake.session,
            database: database,
            dialect: handshake.dialect,
        )
        enter(session)
        sessionsByID[session.id] = session
        counts.sessions += 1
        database.profile(.connect, .root, &effects)
        let hello =
            switch handshake.dialect {
            case .wire:
                ServerMessage.hello(
                    now: now,
                    host: handshake.host,
                    session: handshake.session.text
                ).encoded()
            case .events:
                EventMessage.hello(now: now, session: handshake.session.text).encoded()
            case .serverSent: preconditionFailure("an event stream begins as a request")
            }
        database.emit(.send(.text(hello), to: [connection]), &effects)
    }

    /// Lets a session begin.
    func enter(_ session: Session) {
        sessions[session.connection] = session
        holders.add(session.term.holder, session.connection)
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
        holders.remove(session.term.holder, connection)
        switch session.waiting {
        case .credential(let inquiry, _, _):
            inquiringSessions[inquiry] = nil
        case .hash(let inquiry, _, _), .comparison(let inquiry, _), .decision(let inquiry, _):
            inquiringSessions[inquiry] = nil
            effects.append(.endWork(inquiry))
        case .index, .turn, nil: break
        }
        session.database.profile(.disconnect, .root, &effects)
        session.database.removeListens(of: session)
        session.database.runOnDisconnect(session.id, now: now, &effects)
    }

    // MARK: - Credentials

    /// Asks the shell about a credential; the connection's later messages wait for the outcome.
    func authenticate(
        _ token: String,
        override: AuthOverride?,
        request: Int64,
        _ session: Session,
        _ effects: inout [Effect],
    ) {
        let inquiry = nextInquiry()
        session.waiting = .credential(inquiry, request: request, override)
        inquiringSessions[inquiry] = session
        effects.append(.verify(inquiry, token: token))
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
        case .admin(let term):
            become(DatabaseEngine.identity(under: override), term, session, now, &effects)
            confirm(request, session, &effects)
        case .user(let auth, let term):
            become(.user(auth), term, session, now, &effects)
            confirm(request, session, &effects)
        case .refused(let refusal):
            counts.refusedCredentials += 1
            refuse(refusal, request, session, &effects)
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

    /// Gives a session an identity for a term; listens that it may not have end.
    func become(
        _ identity: Identity,
        _ term: CredentialTerm,
        _ session: Session,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) {
        session.become(identity, term, &holders)
        session.database.identityChanged(of: session, now: now, &effects)
        session.database.judgeAgain(session, now: now, &effects)
    }

    private func confirm(_ request: Int64, _ session: Session, _ effects: inout [Effect]) {
        let claims = session.identity.auth?.value
        switch session.dialect {
        case .wire:
            session.database.reply(request, .authenticated(claims), to: session, &effects)
        case .events:
            let reply = EventReply.authenticated(uid: session.identity.uid)
            session.database.reply(request, reply, to: session, &effects)
        case .serverSent: preconditionFailure("an event stream asks for nothing")
        }
    }

    private func refuse(
        _ refusal: CredentialRefusal,
        _ request: Int64,
        _ session: Session,
        _ effects: inout [Effect]
    ) {
        switch session.dialect {
        case .wire: session.database.reply(request, refusal.replyBody, to: session, &effects)
        case .events: session.database.reply(request, refusal.eventReply, to: session, &effects)
        case .serverSent: preconditionFailure("an event stream asks for nothing")
        }
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

extension CredentialRefusal {
    fileprivate var eventReply: EventReply {
        switch self {
        case .invalid(let text): .refused(.invalidToken, text)
        case .expired(let text): .refused(.expiredToken, text)
        }
    }
}

extension Identity {
    /// The `uid` that rules see; nil for an administrator and for nobody.
    fileprivate var uid: String? { auth?.value.child(Key(unchecked: Array("uid".utf8))).string }
}
