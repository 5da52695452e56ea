package import JSONTree

/// A node of a group that another one owns. Its sessions read and listen here; what would make a commit is decided by the
/// owner, in a session of the same name there, and comes back through the log.
///
///     put, update, on-disconnect ──► owner ──► log ──► enter: listens are notified
///                                      └────► answer, held back until this node has what it is about ──► client
///     listen, unlisten, get ──► here, behind every answer of the owner that the session still waits for
///     auth, unauth          ──► here, and on to the owner where the session is known there
extension DatabaseEngine {
    /// Begins to follow: what recovery found may be shown, and commits come by `enter`.
    package func beginFollowing() {
        isFollowing = true
        for database in sortedDatabases { database.recovered() }
    }

    /// Makes the commits itself from here on. Sessions that have something at the owner end, as with it.
    func endFollowing(_ step: inout Step) {
        for session in sessions.values.sorted(by: { $0.connection < $1.connection })
        where session.atOwner.isKnown {
            close(session.connection, .ownerLost, &step)
        }
        isFollowing = false
        step.makesCommits = true
    }

    /// Takes a commit of the owner, which is durable, and notifies the listens at its time.
    ///
    /// - Returns: the locations that it wrote to; none for a commit that is in the tree already.
    @discardableResult
    package func enter(
        _ record: CommitRecord,
        effects: inout [Effect]
    ) throws(CommitDecodingError) -> [WriteTarget] {
        let database = recovering(record.database)
        let before = NotifiedTree(root: database.root, number: database.number)
        let operations = try database.apply(record)
        inStep(at: record.time, &effects) { step in
            database.notify(of: operations, since: before, &step)
        }
        return operations.compactMap { if case .write(let target, _) = $0 { target } else { nil } }
    }

    // MARK: - Requests

    /// Begins the session at the owner where it ends one that has on-disconnect writes: what the client asks here waits
    /// until these are done.
    func follow(_ last: SessionID?, _ session: Session, _ step: inout Step) {
        guard isFollowing, let last, session.database.disconnects[last] != nil else { return }
        session.atOwner.isKnown = true
        forward([], .beginning, of: session, &step)
    }

    /// Does a request of a session here, or has the owner do it.
    func follow(_ request: SessionRequest, of session: Session, _ step: inout Step) {
        switch request.operation {
        case .put, .update, .storeOnDisconnect, .cancelOnDisconnect:
            if !session.atOwner.isKnown {
                session.atOwner.isKnown = true
                if let credential = session.atOwner.credential {
                    forward(credential, .credential, of: session, &step)
                }
            }
            forward(request.text, .request, of: session, &step)
            return
        // It says nothing about data, and in the wire protocol it is no request.
        case .ping where session.dialect == .wire: break
        case _ where session.atOwner.owesAnswer:
            session.waiting = .owner
            session.parked.insert(request, at: session.parked.startIndex)
            return
        case .authenticate: session.atOwner.shownCredential = request.text
        case .signOut:
            session.atOwner.credential = nil
            if session.atOwner.isKnown { forward(request.text, .credential, of: session, &step) }
        default: break
        }
        perform(request.operation, for: .session(session, number: request.number), &step)
    }

    /// Shows the owner the credential that a session has just got here.
    func passCredential(of session: Session, _ step: inout Step) {
        guard isFollowing, let text = session.atOwner.shownCredential else { return }
        session.atOwner.credential = text
        session.atOwner.shownCredential = nil
        if session.atOwner.isKnown { forward(text, .credential, of: session, &step) }
    }

    private func forward(
        _ text: [UInt8],
        _ kind: OwnerSide.Owed,
        of session: Session,
        _ step: inout Step
    ) {
        session.atOwner.owed.append(kind)
        step.effects.append(.forward(text, from: session.connection))
    }

    // MARK: - Answers

    /// Takes what the owner says; this node has the commits that it is about.
    func take(_ message: OwnerMessage, for connection: ConnectionID, _ step: inout Step) {
        guard isFollowing, let session = sessions[connection] else { return }
        switch message {
        case .began:
            guard session.atOwner.owed.first == .beginning else { return }
            session.atOwner.owed.removeFirst()
            answered(session, &step)
        case .advice(let text): send(text, to: session, &step)
        case .lost: close(connection, .ownerLost, &step)
        case .answer(let text, let isOK):
            switch session.atOwner.owed.popFirst() {
            case .request:
                session.database.decideAwaiting(of: session, &step)
                send(text, to: session, &step)
            case .credential where isOK: break
            // It counts here and not there, or nothing was asked: the client begins anew.
            case .beginning, .credential, nil: return close(connection, .ownerLost, &step)
            }
            answered(session, &step)
        }
    }

    /// Goes on with what has waited for the owner.
    private func answered(_ session: Session, _ step: inout Step) {
        if session.atOwner.owed.isEmpty { session.atOwner.owed = [] }
        guard case .owner = session.waiting, !session.atOwner.owesAnswer else { return }
        session.waiting = nil
        receiveParked(session, &step)
    }

    private func send(_ text: [UInt8], to session: Session, _ step: inout Step) {
        session.database.emit(.send(.text(text), to: [session.connection]), &step)
    }
}

/// What the owner of the group has of a session of a node that follows.
struct OwnerSide {
    /// What the owner is to answer.
    enum Owed {
        /// That the session has begun.
        case beginning
        /// A request, whose answer is the client's.
        case request
        /// A credential, which the client has been answered here.
        case credential
    }

    /// Whether the owner has a session of the same name.
    var isKnown = false
    /// In the order in which they were sent.
    var owed: ArraySlice<Owed> = []
    /// The message with the credential that counts here; nil for none.
    var credential: [UInt8]?
    /// The one that is being checked here.
    var shownCredential: [UInt8]?

    /// Whether the client waits for the owner.
    var owesAnswer: Bool { owed.contains { $0 != .credential } }
}

extension Database {
    /// Notifies listens of a commit that is in the tree and durable.
    fileprivate func notify(
        of operations: [CommitOperation],
        since before: NotifiedTree,
        _ step: inout Step
    ) {
        flushed(through: number, &step)
        if operations.isEmpty { return }
        var changes: [Change] = []
        var hasOtherRules = false
        var hasOtherSettings = false
        for operation in operations {
            switch operation {
            case .write(let target, let node):
                changes.append(Change(target: target, old: before.root.node(at: target), new: node))
            case .setRules, .detachRules: hasOtherRules = true
            case .setting: hasOtherSettings = true
            case .identify, .onDisconnect, .cancelOnDisconnect, .endSession: break
            }
        }
        if hasOtherRules || hasOtherSettings { renewShadow(now: step.now) }
        if hasOtherRules {
            reauthorizeAll(&step)
            step.effects.append(.note(.rulesReplaced(id, rulesVersions.last)))
        }
        if rechecksOnData {
            reauthorizeDependents(on: changes, notified: before, writer: nil, &step)
        }
        push(changes, base: changes.commonBase, old: before.root, &step)
        for change in changes where change.old.isLarge(from: Limits.nodesReleasedAtOnce) {
            step.effects.append(.release(change.old))
        }
    }
}

extension [Change] {
    /// Where an update that makes these changes would begin: the deepest node that has them all below it; nil for one
    /// change, which is a put.
    fileprivate var commonBase: Path? {
        guard count > 1 else { return nil }
        var base = self[0].target.path
        for target in map(\.target) {
            while let parent = base.parent, !target.isBelow(base) { base = parent }
        }
        return base
    }
}

extension WriteTarget {
    /// Whether it can be an entry of an update that begins at `base`.
    fileprivate func isBelow(_ base: Path) -> Bool {
        base.isPrefix(of: path) && (isPriority || path.keyCount > base.keyCount)
    }
}
