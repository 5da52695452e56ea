import JSONTree
import Queries
import SecurityRules
import WireProtocol

/// The outcome of asking to listen or to read once.
enum ReadOutcome {
    case value(Node)
    case denied
    /// The query orders by something that the rules do not index.
    case notIndexed(String)
}

extension Database {
    /// Registers a listen, sends its first data unless the client has it already, then the answer.
    ///
    /// The data, the registration and the rules all see the same tree: no commit falls in between.
    func listen(
        _ target: ListenTarget,
        tag: Int64?,
        hash: String?,
        request: Int64,
        session: Session,
        id: ListenID,
        now: Timestamp,
        _ effects: inout [Effect],
    ) {
        if let replaced = session.listens[target] { remove(replaced) }
        if session.listens.count >= Limits.listensPerSession {
            let text = "More than \(Limits.listensPerSession) listens on one connection"
            reply(request, .refused(.failed, text), to: session, &effects)
            return
        }
        let decision = judgeRead(target.path, target.query, as: session.identity, now: now)
        guard decision?.isAllowed ?? true else {
            reply(request, .refused(.permissionDenied, "Permission denied"), to: session, &effects)
            return
        }
        let node = root.descendant(at: target.path)
        let shown = target.query.loadsEverything ? node : node.filtered(by: target.query)
        if !hasSame(hash, shown) {
            let place = WriteTarget(path: target.path, isPriority: false)
            emit(.send(.put(place, shown, tag: tag), to: [session.connection]), &effects)
        }
        let view = view(for: target, node: node)
        let listen = Listen(id: id, target: target, tag: tag, session: session, view: view)
        add(listen, lookedAt: decision?.lookedAt ?? [])
        let warnings = isIndexed(target.query, at: target.path) ? [] : ["no_index"]
        reply(request, .listening(warnings: warnings), to: session, &effects)
    }

    /// The value at a path as one request sees it.
    func read(
        _ path: Path,
        _ query: QuerySpec,
        as identity: Identity,
        now: Timestamp
    ) -> ReadOutcome {
        if let decision = judgeRead(path, query, as: identity, now: now), !decision.isAllowed {
            return .denied
        }
        if !isIndexed(query, at: path), let text = query.missingIndexText(at: path) {
            return .notIndexed(text)
        }
        let node = root.descendant(at: path)
        return .value(query == .everything ? node : node.filtered(by: query))
    }

    /// Ends a listen; nothing more is sent for it.
    func remove(_ listen: Listen) {
        listen.view.remove(listen)
        listens[listen.id] = nil
        listen.session.listens[listen.target] = nil
        setLookedAt([], of: listen)
        if listen.view.isUnused {
            views.edit(listen.view.path) { found in
                found?.removeAll { $0 === listen.view }
                if found?.isEmpty == true { found = nil }
            }
        }
    }

    /// The rules' verdict on a read; nil for an admin, whom they do not concern.
    func judgeRead(
        _ path: Path,
        _ query: QuerySpec,
        as identity: Identity,
        now: Timestamp
    ) -> Decision? {
        if identity.isAdmin { return nil }
        let request = RulesRequest(root: root, auth: identity.auth, now: commitTime(now))
        let query = query == .everything ? nil : query
        return rules.decideRead(path, query: query, request, recording: .paths)
    }

    /// Remembers which paths the verdict on `listen` rests on.
    func setLookedAt(_ paths: [Path], of listen: Listen) {
        if listen.lookedAt == paths { return }
        for path in listen.lookedAt {
            dependents.edit(path) { found in
                found?.remove(listen.id)
                if found?.isEmpty == true { found = nil }
            }
        }
        listen.lookedAt = paths
        for path in paths {
            dependents.edit(path) { found in
                if found == nil { found = [] }
                found?.insert(listen.id)
            }
        }
    }

    private func add(_ listen: Listen, lookedAt: [Path]) {
        listen.view.add(listen)
        listens[listen.id] = listen
        listen.session.listens[listen.target] = listen
        setLookedAt(lookedAt, of: listen)
    }

    private func view(for target: ListenTarget, node: Node) -> View {
        if let view = views[target.path]?.first(where: { $0.query == target.query }) { return view }
        let window =
            target.query.loadsEverything ? nil : QueryView(target.query, node: node)
        let view = View(path: target.path, query: target.query, window: window)
        views.edit(target.path) { $0 = ($0 ?? []) + [view] }
        return view
    }

    /// Whether the client that sent `hash` has the data already. The hash of a very large value is
    /// not worked out: sending it again is cheaper.
    private func hasSame(_ hash: String?, _ shown: Node) -> Bool {
        guard let hash else { return false }
        if hash.isEmpty || shown.isAbsent { return hash.isEmpty && shown.isAbsent }
        let limit = Limits.nodesHashedForListen
        guard let own = shown.hash(.priority, stepLimit: limit) else { return false }
        return own == hash || shown.hash(.key, stepLimit: limit) == hash
    }

    private func isIndexed(_ query: QuerySpec, at path: Path) -> Bool {
        switch query.index {
        case .key, .priority: true
        case .value, .child: rules.indexes(at: path).contains(query.index)
        }
    }
}
