import EventProtocol
import JSONTree
import Queries
import SecurityRules
import WireProtocol

extension DatabaseEngine {
    /// Begins a session, after ending the one that the client says it had before.
    func open(_ connection: ConnectionID, _ handshake: Handshake, _ step: inout Step) {
        guard !isReserved(handshake.database), let database = database(handshake.database) else {
            // The plain event protocol has no message for it: its connections are checked before they open.
            if handshake.dialect == .wire {
                let text = "There is no database named '\(handshake.database)' on this server."
                let message = ServerMessage.shutdown(text).encoded()
                step.effects.append(.send(.text(message), to: [connection]))
            }
            step.effects.append(.close(connection, .unknownDatabase))
            return
        }
        if let last = handshake.lastSession.flatMap({ sessionsByID[$0] }),
            last.database === database
        {
            close(last.connection, .replaced, &step)
        }
        let principal =
            handshake.administrator.map { Principal.admin($0.override, $0.term) } ?? .nobody
        let session = Session(
            connection: connection,
            id: handshake.session,
            database: database,
            dialect: handshake.dialect,
            identity: principal.identity,
            term: principal.term
        )
        enter(session)
        sessionsByID[session.id] = session
        step.counts.sessions += 1
        database.profileOperation(.connect, .root, &step)
        let hello =
            switch handshake.dialect {
            case .wire:
                ServerMessage.hello(
                    now: step.now,
                    host: handshake.host,
                    session: handshake.session.text
                ).encoded()
            case .events:
                EventMessage.hello(now: step.now, session: handshake.session.text).encoded()
            case .serverSent: preconditionFailure("an event stream begins as a request")
            }
        database.emit(.send(.text(hello), to: [connection]), &step)
        follow(handshake.lastSession, session, &step)
    }

    /// Lets a session begin.
    func enter(_ session: Session) {
        sessions[session.connection] = session
        holders.add(session.term.holder, .session(session.connection))
    }

    /// Ends a session and its connection by decision of the server.
    func close(_ connection: ConnectionID, _ reason: CloseReason, _ step: inout Step) {
        guard let session = sessions[connection] else { return }
        // Messages that wait for the log leave first.
        session.database.emit(.close(connection, reason), &step)
        end(connection, &step)
    }

    /// Ends a session: its listens first, then its on-disconnect writes.
    func end(_ connection: ConnectionID, _ step: inout Step) {
        guard let session = sessions.removeValue(forKey: connection) else { return }
        sessionsByID[session.id] = nil
        holders.remove(session.term.holder, .session(connection))
        if case .inquiry(let inquiry) = session.waiting,
            case .work = inquiries.removeValue(forKey: inquiry)
        {
            step.effects.append(.endWork(inquiry))
        }
        session.database.profileOperation(.disconnect, .root, &step)
        session.database.removeListens(of: session)
        runOnDisconnect(session.id, in: session.database, &step)
    }

    // MARK: - Requests, strictly in order for each connection

    /// Whether a message from `connection` would be parked behind an inquiry now.
    package func isWaiting(_ connection: ConnectionID) -> Bool {
        sessions[connection]?.waiting != nil
    }

    /// How many messages of `connection` are parked.
    package func parkedCount(_ connection: ConnectionID) -> Int {
        sessions[connection]?.parked.count ?? 0
    }

    /// Does a request, or parks it behind the one that waits.
    func receive(_ request: SessionRequest, from connection: ConnectionID, _ step: inout Step) {
        guard let session = sessions[connection] else { return }
        if session.waiting == nil {
            if isFollowing { return follow(request, of: session, &step) }
            perform(request.operation, for: .session(session, number: request.number), &step)
        } else if session.parked.count < Limits.parkedMessages {
            session.parked.append(request)
        } else {
            close(session.connection, .tooManyParkedMessages, &step)
        }
    }

    /// Performs some of what is parked, until a request must wait again; the rest in later ticks.
    func receiveParked(_ session: Session, _ step: inout Step) {
        for _ in 0..<Limits.messagesAtOnce {
            guard session.waiting == nil, let request = session.parked.popFirst() else { break }
            receive(request, from: session.connection, &step)
        }
        if session.waiting == nil, !session.parked.isEmpty {
            session.waiting = .nextTick
            portions.append(.parked(session))
        }
        // The slice's storage keeps removed messages until it is released.
        if session.parked.isEmpty { session.parked = [] }
    }

    // MARK: - Credentials

    func verified(_ inquiry: InquiryID, _ outcome: CredentialOutcome, _ step: inout Step) {
        switch inquiries.removeValue(forKey: inquiry) {
        case .credential(.single(let request, let id)):
            resume(request, id, outcome, &step)
        case .credential(.session(let asker, let override)):
            endWaiting(asker, &step) { step in
                do throws(CredentialRefusal) {
                    let principal = try Principal(outcome, override)
                    become(principal.identity, principal.term, asker.ownSession, &step)
                    passCredential(of: asker.ownSession, &step)
                    answer(.authenticated(principal.identity), to: asker, &step)
                } catch {
                    step.counts.refusedCredentials += 1
                    answer(.badCredential(error), to: asker, &step)
                }
            }
        case .index, .work, nil: break
        }
    }

    /// Gives a session an identity for a term; listens that it may not have end.
    func become(
        _ identity: Identity,
        _ term: CredentialTerm,
        _ session: Session,
        _ step: inout Step,
    ) {
        session.become(identity, term, &holders)
        identityChanged(of: session, &step)
        session.database.reauthorizeListens(of: session, &step)
    }

    /// Notes for the server's log what an administrator does; acts of others are not noted.
    func note(_ act: @autoclosure () -> AdministratorAct, of session: Session, _ step: inout Step) {
        if let note = note(of: act(), by: session) { step.effects.append(note) }
    }

    /// The note of what an administrator does; nil for others.
    func note(of act: @autoclosure () -> AdministratorAct, by session: Session) -> Effect? {
        session.term.administrator.map {
            .note(.sessionAct(session.connection, session.database.id, by: $0, act()))
        }
    }

    /// Notes an allowed read of the whole database.
    func noteRead(of path: Path, _ query: QuerySpec, _ session: Session, _ step: inout Step) {
        if path.isRoot, query.loadsEverything { note(.readAll, of: session, &step) }
    }
}
