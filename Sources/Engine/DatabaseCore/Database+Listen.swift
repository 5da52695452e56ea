import EventProtocol
import JSONTree
import Queries
import SecurityRules
import WireProtocol

/// The outcome of asking to read once.
enum ReadOutcome {
    case value(Node)
    case denied
    /// The query orders by something that the rules do not index.
    case notIndexed(String)
    /// The index that the query walks must be built first.
    case mustWait(IndexNeed)
    /// The query selects more of these children than can be collected here. The rules allow it, and it is noted.
    case mustSelect(OrderedChildren)
}

/// The outcome of asking to listen.
enum ListenOutcome {
    /// It is registered. The caller sends the client the present state.
    case registered(Listen, isIndexed: Bool)
    case denied
    case refused(String)
    /// The query orders by something that the rules do not index, and the listen needs that they do.
    case notIndexed(String)
    /// The index that the query walks must be built first.
    case mustWait(IndexNeed)
}

extension Database {
    /// What a client asks to listen to.
    struct ListenRequest {
        let name: Listen.Name
        let path: Path
        let query: QuerySpec
        let number: Int64?
        let encoding: View.Encoding

        /// Whether the node itself is shown, and its children are not followed one by one.
        var showsNode: Bool {
            switch encoding {
            case .wire, .serverSent: query.loadsEverything
            case .events: false
            }
        }
    }

    /// Registers a listen. Its view and the decision are of the present tree: the caller must send the client the
    /// present state before the next commit. `requester` asks the rules.
    func register(
        _ request: ListenRequest,
        _ session: Session,
        id: ListenID,
        for requester: Requester,
        _ step: inout Step,
    ) -> ListenOutcome {
        if session.listens.count >= Limits.listensPerSession {
            return .refused("More than \(Limits.listensPerSession) listens on one connection")
        }
        if listens.count >= Limits.listensPerDatabase {
            return .refused("More than \(Limits.listensPerDatabase) listens on one database")
        }
        let read = Read(path: request.path, query: request.query, requester: requester)
        let decision = authorize(read, &step)
        guard decision?.isAllowed ?? true else { return .denied }
        let outcome = add(request, session, id: id, decision, now: step.now)
        if case .mustWait = outcome { return outcome }
        noteRead(decision, read, &step)
        return outcome
    }

    /// Registers a listen that the rules allow.
    private func add(
        _ request: ListenRequest,
        _ session: Session,
        id: ListenID,
        _ decision: Decision?,
        now: Timestamp
    ) -> ListenOutcome {
        let isIndexed = isIndexed(request.query.index, at: request.path)
        if case .serverSent = request.encoding, !isIndexed,
            let text = request.query.missingIndexText(at: request.path)
        {
            // To clients of REST a stream is a read, which is refused; other listens are but warned.
            return .notIndexed(text)
        }
        switch view(for: request, now: now) {
        case .mustWait(let need): return .mustWait(need)
        case .refused(let text): return .refused(text)
        case .found(let view):
            let listen = Listen(
                id: id,
                name: request.name,
                number: request.number,
                session: session,
                view: view
            )
            view.add(listen)
            listens[id] = listen
            session.listens[request.name] = listen
            setLookedAt(decision?.lookedAt ?? [], of: listen)
            return .registered(listen, isIndexed: isIndexed)
        }
    }

    /// The value at a path as one request sees it.
    func readOnce(_ read: Read, _ step: inout Step) -> ReadOutcome {
        let decision = authorizeOnce(read, &step)
        if let decision, !decision.isAllowed { return .denied }
        let outcome = value(at: read.path, read.query, now: step.now)
        if case .mustWait = outcome { return outcome }
        noteRead(decision, read, &step)
        return outcome
    }

    /// The value at a path whose read is allowed.
    private func value(at path: Path, _ query: QuerySpec, now: Timestamp) -> ReadOutcome {
        if !isIndexed(query.index, at: path), let text = query.missingIndexText(at: path) {
            return .notIndexed(text)
        }
        let node = root.descendant(at: path)
        if query.loadsEverything { return .value(node) }
        if !query.usesIndex { return select(query, OrderedChildren(node, index: nil)) }
        let need = IndexNeed(path: path, order: query.index)
        switch index(need, now: now) {
        case .mustWait: return .mustWait(need)
        case .refused: return .notIndexed(query.tooManyUndeclaredText(at: path))
        case .ready(let kept):
            let outcome = select(query, OrderedChildren(node, index: kept.ready))
            if indexes.count > Limits.keptIndexes, kept.isIdle { drop(kept) }
            return outcome
        }
    }

    private func select(_ query: QuerySpec, _ children: OrderedChildren) -> ReadOutcome {
        let limit = bounds.childrenSelectedAtOnce
        let result = QueryView.result(of: query, in: children, atMost: limit)
        return result.map { .value($0) } ?? .mustSelect(children)
    }

    /// Ends a listen; nothing more is sent for it.
    func remove(_ listen: Listen) {
        // A listen that ends with its session may have been refused before.
        guard listens.removeValue(forKey: listen.id) != nil else { return }
        let view = listen.view
        view.remove(listen)
        listen.session.listens[listen.name] = nil
        setLookedAt([], of: listen)
        guard view.isUnused else { return }
        viewCount -= 1
        view.node.remove(view)
        if let index = view.index {
            index.viewCount -= 1
            dropIfIdle(index)
        }
        forgetIfUnused(view.node)
    }

    /// Ends the listens of a session that is over: few at once, more in later ticks.
    func removeListens(of session: Session) {
        let listens = session.sortedListens
        if listens.count <= Limits.listensEndedAtOnce {
            for listen in listens { remove(listen) }
        } else {
            leaving.append((session, listens[...]))
        }
    }

    /// Ends up to `count` listens of sessions that are over, those of the oldest first.
    ///
    /// - Returns: how many it ended.
    func removeLeaving(_ count: Int) -> Int {
        var removedCount = 0
        while removedCount < count, let (_, listens) = leaving.first {
            let part = listens.prefix(count - removedCount)
            for listen in part { remove(listen) }
            removedCount += part.count
            leaving[0].listens = listens.dropFirst(part.count)
            if leaving[0].listens.isEmpty { leaving.removeFirst() }
        }
        return removedCount
    }

    /// Keeps the paths that the decision on `listen` depends on.
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

    // MARK: - Views

    private enum ViewOutcome {
        case found(View)
        case mustWait(IndexNeed)
        case refused(String)
    }

    /// The view that equal listens share, made if there is none.
    private func view(for request: ListenRequest, now: Timestamp) -> ViewOutcome {
        let key = ViewKey(query: request.query, encoding: request.encoding)
        if let view = watched[request.path]?.view(of: key) {
            return .found(view)
        }
        if viewCount >= Limits.viewsPerDatabase {
            return .refused(
                "More than \(Limits.viewsPerDatabase) different listens on one database"
            )
        }
        var kept: KeptIndex?
        if let order = request.encoding.indexOrder(of: request.query) {
            let need = IndexNeed(path: request.path, order: order)
            switch index(need, now: now) {
            case .mustWait: return .mustWait(need)
            case .refused: return .refused(request.query.tooManyUndeclaredText(at: request.path))
            case .ready(let index): kept = index
            }
        }
        kept?.viewCount += 1
        viewCount += 1
        let children = OrderedChildren(root.descendant(at: request.path), index: kept?.ready)
        let view = View(
            node: watch(request.path),
            query: request.query,
            encoding: request.encoding,
            window: request.showsNode ? nil : QueryView(request.query, children),
            index: kept,
        )
        view.node.add(view)
        return .found(view)
    }
}

extension View.Encoding {
    /// The order of the index that a view of a query walks; nil when it needs none.
    fileprivate func indexOrder(of query: QuerySpec) -> QuerySpec.Index? {
        if query.index == .key { return nil }
        switch self {
        case .wire, .serverSent: return query.usesIndex ? query.index : nil
        case .events(let events, _):
            let isOrdered = !events.isDisjoint(with: .children)
            return query.usesIndex || isOrdered ? query.index : nil
        }
    }
}

extension QuerySpec {
    fileprivate func tooManyUndeclaredText(at path: Path) -> String {
        "Too much is queried without an index. " + (missingIndexText(at: path) ?? "")
    }
}
