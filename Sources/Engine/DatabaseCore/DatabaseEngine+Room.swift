/// What sessions have committed that cannot be refused: on-disconnect writes that run, and a new identity for those stored.
///
///     log                  these commits
///     ready                are made
///     disk low             are made, up to `EnginePolicy.removalByteCount` together with removals
///     disk full, behind    wait
///
/// They wait in the order in which they came, and clients' writes are refused until they are made. A process that dies
/// meanwhile leaves them to the next start: what is stored is in the log, with the last identity that found room there.
extension DatabaseEngine {
    /// What waits for room in the log.
    enum RoomWaiter {
        /// A session that has ended runs what it stored.
        case end(SessionID, Database)
        /// A session has another identity than its stored writes have in the log.
        case identity(Session)
    }

    /// Why writes are refused now; nil while they are taken.
    var writeRefusal: RequestRefusal? {
        logCondition.refusal ?? (roomWaiters.isEmpty ? nil : .noSpace)
    }

    /// Runs what a session has stored, at once or when there is room.
    func runOnDisconnect(_ session: SessionID, in database: Database, _ step: inout Step) {
        if database.disconnects[session] != nil { takeRoom(for: .end(session, database), &step) }
    }

    /// Keeps on whose behalf the stored writes run in step with the session's identity.
    func identityChanged(of session: Session, _ step: inout Step) {
        guard let stored = session.database.disconnects[session.id],
            stored.identity != session.identity
        else { return }
        takeRoom(for: .identity(session), &step)
    }

    /// Makes the commits that wait and have room, some of them; the rest in later ticks.
    func makeWaiting(_ step: inout Step) {
        for _ in 0..<Limits.roomWaitersAtOnce {
            guard let first = roomWaiters.first, hasRoom(for: first) else { return }
            roomWaiters.removeFirst()
            make(first, &step)
        }
        if roomWaiters.isEmpty {
            // The slice's storage keeps what was removed until it is released.
            roomWaiters = []
        } else {
            portions.append(.room)
        }
    }

    /// Counts the commits of a step as bytes that the log has taken beyond what it should.
    func countRoom(from firstEffect: Int, _ step: Step) {
        if logCondition == .ready { return }
        for case .append(let commit) in step.effects[firstEffect...] {
            takenByteCount += CommitRecord.overheadByteCount + commit.payloadByteCount
        }
    }

    private func takeRoom(for waiter: RoomWaiter, _ step: inout Step) {
        // The owner of the group does it.
        if isFollowing { return }
        if roomWaiters.isEmpty, hasRoom(for: waiter) { return make(waiter, &step) }
        if case .identity(let session) = waiter {
            if session.awaitsRoom { return }
            session.awaitsRoom = true
        }
        roomWaiters.append(waiter)
    }

    private func hasRoom(for waiter: RoomWaiter) -> Bool {
        switch logCondition {
        case .ready: true
        case .diskLow: takenByteCount + byteCount(of: waiter) <= policy.removalByteCount
        case .diskFull, .behind: false
        }
    }

    /// About as many bytes as its commit has.
    private func byteCount(of waiter: RoomWaiter) -> Int {
        switch waiter {
        case .end(let session, let database):
            CommitRecord.overheadByteCount + (database.disconnects[session]?.byteCount ?? 0)
        case .identity(let session):
            CommitEncoder.encode([.identify(session.id, session.identity)]).count
        }
    }

    private func make(_ waiter: RoomWaiter, _ step: inout Step) {
        let firstEffect = step.effects.count
        switch waiter {
        case .end(let session, let database): database.runOnDisconnect(session, &step)
        case .identity(let session):
            session.awaitsRoom = false
            session.database.identityChanged(of: session, &step)
        }
        countRoom(from: firstEffect, step)
    }
}
