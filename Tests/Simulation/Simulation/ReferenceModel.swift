package import WriteAheadLog

/// A database done naively: every state kept, every view worked out from scratch.
///
/// The twin of the engine. It takes the same inputs in the same order and says what clients must be
/// sent; it knows nothing of logs, frames, views or shared encodings.
package struct ReferenceModel: Sendable {
    /// Everything durable at one commit.
    package struct State: Sendable {
        package var root = NaiveNode.absent
        /// Of the commit, in milliseconds.
        package var time: Int64 = 0
        /// On-disconnect writes by session.
        package var disconnects: [String: NaiveDisconnect] = [:]
        /// The database's own; nil for the default ones.
        package var ownRules: SimulatedRules?
        /// All that were in force while this was the newest commit, the last one now.
        var rules: [SimulatedRules]
    }

    /// What a session has done and the log has no room for.
    package struct Waiting: Sendable {
        let session: String
        /// Whom its stored writes run for from then on; nil when it has ended and they run.
        var identity: SimulatedIdentity?
    }

    /// What one connection must be sent, in this order.
    package enum Expectation: Sendable {
        case hello(session: String, commit: Int)
        /// `live` are the listens of the connection once this reply is out; all of them then show
        /// the state of `commit`.
        case reply(Int, status: String, value: NaiveNode?, commit: Int, live: [NaiveListen])
        case cancel(NaiveListen, commit: Int)
        /// Its credential is revoked or has expired. In the wire protocol it hears nothing more.
        case signedOut(status: String, commit: Int)
    }

    /// A credential that was accepted.
    package struct Credential: Equatable, Sendable {
        package let identity: SimulatedIdentity
        /// Its number among all that were issued.
        package let issued: Int64
        /// When it expires, in milliseconds; nil for never.
        package let expiry: Int64?
    }

    struct Session: Sendable {
        let id: String
        /// Whether it speaks the plain event protocol, and so outlives its credential.
        let isEvents: Bool
        var identity = SimulatedIdentity.nobody
        /// What `identity` comes from; nil for a signed-out client.
        var credential: Credential?
        /// The identities it ever had, each with the newest commit when it took it on.
        var history: [(commit: Int, identity: SimulatedIdentity)]
        /// In order of registration, each with its place among all listens.
        var listens: [(order: Int, listen: NaiveListen)] = []
        /// The request and the identity that a credential check is about; nil without one.
        var checking: (request: Int, identity: SimulatedIdentity)?
        var parked: [(request: Int, SimulatedRequest)] = []

        init(id: String, isEvents: Bool, commit: Int) {
            self.id = id
            self.isEvents = isEvents
            history = [(commit, .nobody)]
        }
    }

    /// State `n` is what commit `n` left; 0 is the empty database.
    package private(set) var states: [State]
    /// What clients must be sent since this was last taken.
    package var expectations: [(connection: UInt64, Expectation)] = []
    private(set) var sessions: [UInt64: Session] = [:]
    /// The rules of a database that has none of its own.
    private(set) var defaultRules: SimulatedRules
    /// Room on the disk: with little, writes are refused but for removals; with none, all are.
    package private(set) var space = SpaceState.ok
    /// What sessions stored and may not run, or run for another, before there is room: in the order of its commits.
    package private(set) var waiting: [Waiting] = []
    private var listenCount = 0

    package init(rules: SimulatedRules) {
        defaultRules = rules
        states = [State(rules: [rules])]
    }

    /// The rules in force.
    package var rules: SimulatedRules { current.ownRules ?? defaultRules }

    /// The number of the newest commit.
    package var commit: Int { states.count - 1 }

    /// The newest state.
    package var current: State { states[commit] }

    /// Whether the rules let one of the identities that a session had at a commit read there.
    func couldRead(_ path: NaivePath, _ connection: UInt64, at commit: Int) -> Bool {
        guard let history = sessions[connection]?.history else { return true }
        let before = history.last { $0.commit < commit }
        let during = history.filter { $0.commit == commit }
        let identities = (before.map { [$0] } ?? []) + during
        let state = states[commit]
        return identities.contains { identity in
            state.rules.contains { $0.canRead(path, identity.identity, state.root) }
        }
    }

    // MARK: - Inputs

    /// A session begins, after the one that it replaces ended.
    package mutating func connect(
        _ connection: UInt64,
        session: String,
        isEvents: Bool = false,
        replacing last: UInt64?,
        now: Int64
    ) {
        if let last { disconnect(last, now: now) }
        sessions[connection] = Session(id: session, isEvents: isEvents, commit: commit)
        expectations.append((connection, .hello(session: session, commit: commit)))
    }

    /// A session ends and what it stored runs.
    package mutating func disconnect(_ connection: UInt64, now: Int64) {
        guard let session = sessions.removeValue(forKey: connection) else { return }
        if current.disconnects[session.id] != nil { wait(Waiting(session: session.id), now) }
    }

    /// The log says how much room there is.
    package mutating func spaceChanged(_ space: SpaceState, now: Int64) {
        self.space = space
        while space != .full, !waiting.isEmpty { make(waiting.removeFirst(), now) }
    }

    /// Does at once, or once there is room, what a session cannot be refused.
    private mutating func wait(_ waiter: Waiting, _ now: Int64) {
        if space == .full { waiting.append(waiter) } else { make(waiter, now) }
    }

    private mutating func make(_ waiter: Waiting, _ now: Int64) {
        let id = waiter.session
        guard let identity = waiter.identity else { return runOnDisconnect(id, now: now) }
        change(now) { state in
            if state.disconnects[id]?.identity == identity { return false }
            state.disconnects[id]?.identity = identity
            return true
        }
    }

    /// A request arrives; behind an unanswered credential it waits.
    package mutating func receive(
        _ request: SimulatedRequest,
        number: Int,
        from connection: UInt64,
        now: Int64
    ) {
        guard var session = sessions[connection] else { return }
        if session.checking != nil {
            session.parked.append((number, request))
            sessions[connection] = session
        } else {
            perform(request, number, connection, now)
        }
    }

    /// The credential of a session, which is the one issued as number `issued`, has been checked.
    package mutating func verified(
        _ connection: UInt64,
        issued: Int64,
        until expiry: Int64? = nil,
        now: Int64
    ) {
        guard let check = sessions[connection]?.checking else { return }
        let parked = sessions[connection]?.parked ?? []
        sessions[connection]?.checking = nil
        sessions[connection]?.parked = []
        if check.identity == .nobody {
            reply(check.request, "invalid_token", to: connection)
        } else {
            let credential = Credential(
                identity: check.identity,
                issued: issued,
                expiry: expiry
            )
            become(check.identity, by: credential, connection, now)
            reply(check.request, "ok", to: connection)
        }
        for (number, request) in parked {
            receive(request, number: number, from: connection, now: now)
        }
    }

    /// What was issued to `identity` before number `end` no longer counts: its sessions end, one after the other.
    ///
    /// - Returns: the connections of these sessions.
    package mutating func revoke(
        _ identity: SimulatedIdentity,
        before end: Int64,
        now: Int64
    ) -> [UInt64] {
        signOut("invalid_token", now: now) { $0.identity == identity && $0.issued < end }
    }

    /// Time has passed: sessions whose credential has expired end.
    ///
    /// - Returns: the connections of these sessions.
    package mutating func expire(now: Int64) -> [UInt64] {
        signOut("expired_token", now: now) { $0.expiry.map { $0 <= now } ?? false }
    }

    private mutating func signOut(
        _ status: String,
        now: Int64,
        _ isOver: (Credential) -> Bool
    ) -> [UInt64] {
        let ended = sessions.filter { $0.value.credential.map(isOver) ?? false }
        let connections = ended.keys.sorted()
        for connection in connections {
            expectations.append((connection, .signedOut(status: status, commit: commit)))
            if sessions[connection]?.isEvents == true {
                become(.nobody, by: nil, connection, now)
            } else {
                disconnect(connection, now: now)
            }
        }
        return connections
    }

    /// Whose credentials sessions have shown, session by session.
    var signedIn: [SimulatedIdentity] {
        sessions.keys.sorted().compactMap { sessions[$0]?.credential?.identity }
    }

    /// Sessions that have shown a credential.
    package var signedInCount: Int { sessions.values.count { $0.credential != nil } }

    /// An administrator's write over REST.
    ///
    /// - Returns: whether it is done.
    package mutating func adminPut(
        _ target: NaiveTarget,
        _ draft: NaiveNode,
        now: Int64
    ) -> Bool {
        let write = NaiveWrite(target: target, node: draft)
        if !hasRoom(for: [write]) { return false }
        self.write([write], now: now)
        return true
    }

    /// The database gets rules of its own, or with nil the default ones; the same again is no commit.
    ///
    /// - Returns: whether it is done.
    package mutating func putRules(_ rules: SimulatedRules?, now: Int64) -> Bool {
        if space != .ok { return false }
        change(now) { state in
            if rules == state.ownRules { return false }
            state.ownRules = rules
            return true
        }
        reauthorizeListens()
        return true
    }

    /// The rules of databases that have none of their own change.
    package mutating func setDefaultRules(_ rules: SimulatedRules) {
        defaultRules = rules
        if current.ownRules == nil { states[commit].rules.append(rules) }
        reauthorizeListens()
    }

    /// Everything after `commit` is lost and so are all sessions; what those that were known then
    /// had stored runs, in order of their names.
    package mutating func recover(to commit: Int, now: Int64) {
        states.removeSubrange((commit + 1)...)
        states[commit].rules = [rules]
        sessions = [:]
        expectations = []
        (space, waiting) = (.ok, [])
        for session in current.disconnects.keys.sorted() { runOnDisconnect(session, now: now) }
    }

    // MARK: - Requests

    private mutating func perform(
        _ request: SimulatedRequest,
        _ number: Int,
        _ connection: UInt64,
        _ now: Int64
    ) {
        guard let session = sessions[connection] else { return }
        var status = "ok"
        var value: NaiveNode?
        switch request {
        case .put, .merge, .push, .onDisconnectPut, .onDisconnectMerge, .onDisconnectCancel:
            let hasRoom = hasRoom(for: request.immediateWrites)
            status = hasRoom ? write(request, session, now) : "unavailable"
        case .listen(let listen, _):
            if rules.canRead(listen.path, session.identity, current.root) {
                listenCount += 1
                sessions[connection]?.listens.append((listenCount, listen))
            } else {
                status = "permission_denied"
            }
        case .unlisten(let listen):
            let isThere = session.listens.contains { $0.listen == listen }
            // It was cancelled while this was on its way.
            if !isThere, session.isEvents { status = "unknown_observer" }
            sessions[connection]?.listens.removeAll { $0.listen == listen }
        case .get(let listen):
            if rules.canRead(listen.path, session.identity, current.root) {
                value = listen.view(of: current.root)
            } else {
                status = "permission_denied"
            }
        case .auth(let identity):
            sessions[connection]?.checking = (number, identity)
            return
        case .unauth: become(.nobody, by: nil, connection, now)
        case .other: break
        }
        reply(number, status, value, to: connection)
    }

    /// Does what needs room on the disk, and returns its status.
    private mutating func write(
        _ request: SimulatedRequest,
        _ session: Session,
        _ now: Int64
    ) -> String {
        switch request {
        case .put(let target, let draft, let hash):
            // Rules first. None of them looks at data of the place that they refuse.
            let entry = NaiveWrite(target: target, node: draft)
            let isStale = hash.map { $0 != SimulatedRequest.hash(of: current.root[target.path]) }
            if isStale == true, mayWrite([entry], session.identity) {
                // Who may not read is not shown what is there.
                let maySee = rules.canRead(target.path, session.identity, current.root)
                return maySee || !session.isEvents ? "datastale" : "permission_denied"
            }
            return decidedWrite([entry], session.identity, now)
        case .merge(_, let writes): return decidedWrite(writes, session.identity, now)
        case .push(let path, let key, let draft):
            let entry = NaiveWrite(target: NaiveTarget(path: path + [key]), node: draft)
            return decidedWrite([entry], session.identity, now)
        case .onDisconnectPut(let target, let draft):
            return store([NaiveWrite(target: target, node: draft)], session, now)
        case .onDisconnectMerge(_, let writes): return store(writes, session, now)
        case .onDisconnectCancel(let target):
            change(now) { state in
                guard state.disconnects[session.id] != nil else { return false }
                state.disconnects[session.id]?.forget(target)
                if state.disconnects[session.id]?.writes.isEmpty == true {
                    state.disconnects[session.id] = nil
                }
                return true
            }
            return "ok"
        case .listen, .unlisten, .get, .auth, .unauth, .other: return "ok"
        }
    }

    private mutating func reply(
        _ number: Int,
        _ status: String,
        _ value: NaiveNode? = nil,
        to connection: UInt64
    ) {
        let live = sessions[connection]?.listens.map(\.listen) ?? []
        expectations.append(
            (connection, .reply(number, status: status, value: value, commit: commit, live: live))
        )
    }

    private mutating func become(
        _ identity: SimulatedIdentity,
        by credential: Credential?,
        _ connection: UInt64,
        _ now: Int64
    ) {
        guard let id = sessions[connection]?.id else { return }
        sessions[connection]?.identity = identity
        sessions[connection]?.credential = credential
        let newest = commit
        sessions[connection]?.history.append((newest, identity))
        if let index = waiting.firstIndex(where: { $0.session == id }) {
            waiting[index].identity = identity
        } else if let stored = current.disconnects[id], stored.identity != identity {
            wait(Waiting(session: id, identity: identity), now)
        }
        reauthorizeListens()
    }

    // MARK: - Writes

    private func hasRoom(for writes: [NaiveWrite]?) -> Bool {
        switch space {
        case .ok: true
        case .low: writes?.allSatisfy { $0.node == .absent } ?? false
        case .full: false
        }
    }

    private mutating func decidedWrite(
        _ writes: [NaiveWrite],
        _ identity: SimulatedIdentity,
        _ now: Int64
    ) -> String {
        guard mayWrite(writes, identity) else { return "permission_denied" }
        write(writes, now: now)
        return "ok"
    }

    private func mayWrite(_ writes: [NaiveWrite], _ identity: SimulatedIdentity) -> Bool {
        writes.allSatisfy { rules.canWrite($0.target.path, identity, current.root) }
    }

    /// All server values read the tree before. The writes act as one: what is set comes first, then
    /// removals, then priorities, so that no map vanishes in between and their order is nothing.
    private mutating func write(_ writes: [NaiveWrite], ending session: String? = nil, now: Int64) {
        let old = current
        change(now) { state in
            let resolved = writes.map { write in
                let existing = old.root[write.target.path]
                let place = write.target.isPriority ? NaiveNode(existing.priority) : existing
                let node = write.node.resolved(existing: place, now: state.time)
                return NaiveWrite(target: write.target, node: node)
            }
            let nodes = resolved.filter { !$0.target.isPriority }
            let priorities = resolved.filter(\.target.isPriority)
            for write in nodes where !write.node.isAbsent { state.root.write(write) }
            for write in nodes where write.node.isAbsent { state.root.write(write) }
            for write in priorities { state.root.write(write) }
            if let session { state.disconnects[session] = nil }
            return session != nil || state.root != old.root
        }
        reauthorizeListens()
    }

    /// Makes a commit of what `body` does, unless it returns false.
    private mutating func change(_ now: Int64, _ body: (inout State) -> Bool) {
        var state = current
        state.time = max(now, state.time)
        guard body(&state) else { return }
        state.rules = [state.ownRules ?? defaultRules]
        states.append(state)
    }

    private mutating func store(
        _ writes: [NaiveWrite],
        _ session: Session,
        _ now: Int64
    ) -> String {
        guard mayWrite(writes, session.identity) else { return "permission_denied" }
        change(now) { state in
            var stored =
                state.disconnects[session.id] ?? NaiveDisconnect(identity: session.identity)
            stored.identity = session.identity
            for write in writes { stored.store(write) }
            state.disconnects[session.id] = stored
            return true
        }
        return "ok"
    }

    private mutating func runOnDisconnect(_ session: String, now: Int64) {
        guard let stored = current.disconnects[session] else { return }
        let allowed = stored.writes.filter { mayWrite([$0], stored.identity) }
        write(allowed, ending: session, now: now)
    }

    /// Every listen is authorized anew, whatever changed; those refused end with one cancel.
    private mutating func reauthorizeListens() {
        var refused: [(order: Int, connection: UInt64, listen: NaiveListen)] = []
        for (connection, session) in sessions {
            for (order, listen) in session.listens
            where !rules.canRead(listen.path, session.identity, current.root) {
                refused.append((order, connection, listen))
            }
        }
        for (order, connection, listen) in refused.sorted(by: { $0.order < $1.order }) {
            sessions[connection]?.listens.removeAll { $0.order == order }
            expectations.append((connection, .cancel(listen, commit: commit)))
        }
    }
}
