import EventProtocol
import JSONTree
import Queries
import SecurityRules
import WireProtocol

/// Authorizes listens again: a listen that its rule no longer allows ends before the commit that revoked it is sent.
///
/// Thousands of decisions at once would block the loop, so many listens await theirs:
///
///     commit: /members changes                  12,000 listens have a rule that looked at /members
///       ├─ all up to 1,000, or the writer's     decided in the same step: cancels precede the answer
///       └─ the others                           suspended: off the receivers of their view, they receive nothing
///            │                                  commits go on; other listens of the view are notified
///          later ticks, 100 decisions each      in the order in which they were suspended
///            ├─ still allowed                   back to the receivers; sent the present state, if it is new to them
///            └─ refused                         a cancel, and nothing of the commits in between
///
/// `View` suspends and resumes listens. `Input.longWork` is the room that a tick gives to such work.
extension Database {
    /// Authorizes again the listens whose rule looked at a changed path, before the commit is pushed.
    ///
    /// Of more than `Limits.decisionsAtOnce` only those of the writer's own connection are decided here.
    /// `notified` is the tree that they were last notified of.
    func reauthorizeDependents(
        on changes: [Change],
        notified: NotifiedTree,
        writer: Session?,
        _ step: inout Step
    ) {
        if dependents.isEmpty { return }
        var touched: Set<ListenID> = []
        for change in changes {
            dependents.visit(around: change.target.path) { touched.formUnion($0) }
        }
        if touched.isEmpty { return }
        let touchedListens = touched.sorted().compactMap { listens[$0] }
        reauthorizeOrWait(touchedListens, notified: notified, writer: writer, &step)
    }

    /// Authorizes all listens again, for instance under new rules.
    func reauthorizeAll(_ step: inout Step) {
        let all = listens.values.filter { !$0.session.identity.isAdmin }
        let notified = NotifiedTree(root: root, number: number)
        reauthorizeOrWait(all.sorted { $0.id < $1.id }, notified: notified, writer: nil, &step)
    }

    /// Authorizes the listens of one session again, whose identity has changed.
    func reauthorizeListens(of session: Session, _ step: inout Step) {
        var shared = SharedDecisions()
        for listen in session.sortedListens { reauthorize(listen, &shared, &step) }
    }

    private func reauthorizeOrWait(
        _ listens: [Listen],
        notified: NotifiedTree,
        writer: Session?,
        _ step: inout Step,
    ) {
        let isShort = listens.count <= Limits.decisionsAtOnce
        var shared = SharedDecisions()
        var states: [ObjectIdentifier: NotifiedState] = [:]
        for listen in listens where listen.index != nil {
            if isShort || listen.session === writer {
                reauthorize(listen, &shared, &step)
                continue
            }
            let view = ObjectIdentifier(listen.view)
            let state = states[view] ?? NotifiedState(listen.view, notified)
            states[view] = state
            listen.notified = state
            listen.view.suspend(listen)
            undecided.append(listen.id)
        }
    }

    /// Decides up to `count` suspended listens. Those allowed resume, and are sent the present state if it differs from
    /// the one that they know.
    ///
    /// - Returns: how many it looked at.
    func reauthorizeWaiting(_ count: Int, _ step: inout Step) -> Int {
        let round = undecided.prefix(count)
        let rest = undecided[round.endIndex...]
        undecided = rest.isEmpty ? [] : rest
        decide(round, &step)
        return round.count
    }

    /// Decides the suspended listens of a session that is about to receive an answer.
    func decideAwaiting(of session: Session, _ step: inout Step) {
        if undecided.isEmpty { return }
        // Once decided, they stay in `undecided` until their turn comes.
        let suspended = session.listens.values.filter { $0.notified != nil }
        decide(suspended.map(\.id).sorted()[...], &step)
    }

    private func decide(_ suspended: ArraySlice<ListenID>, _ step: inout Step) {
        var shared = SharedDecisions()
        var indexes: [ObjectIdentifier: Int] = [:]
        var resumed: [(notified: NotifiedState, listens: [Listen])] = []
        for id in suspended {
            guard let listen = listens[id], listen.index == nil, let notified = listen.notified,
                reauthorize(listen, &shared, &step)
            else { continue }
            listen.view.resume(listen)
            listen.notified = nil
            if let index = indexes[ObjectIdentifier(notified)] {
                resumed[index].listens.append(listen)
            } else {
                indexes[ObjectIdentifier(notified)] = resumed.count
                resumed.append((notified, [listen]))
            }
        }
        for (notified, listens) in resumed { sendPresent(to: listens, notified, &step) }
    }

    /// Sends the present state to listens of one view that know the same state: made once for all.
    private func sendPresent(to listens: [Listen], _ notified: NotifiedState, _ step: inout Step) {
        // Every commit at, above or below the node leaves its number there.
        let view = notified.view
        if view.node.visitedBy <= notified.number { return }
        if case .events = view.encoding {
            let receivers = listens.compactMap(\.numberedReceiver)
            sendObservers(of: view, since: notified.shown, receivers, &step)
            return
        }
        let shown = shown(by: view)
        if let before = notified.shown, before.result == shown { return }
        putWhole(shown, of: view, toListens: listens, &step)
    }

    /// Sends what a view of the wire protocol or of event streams shows to some of its listens.
    func putWhole(_ shown: Node, of view: View, toListens listens: [Listen], _ step: inout Step) {
        let plain = listens.filter { $0.number == nil }.map(\.session.connection)
        let numbered = listens.compactMap(\.numberedReceiver)
        putWhole(shown, of: view, to: View.byTag(plain, numbered), &step)
    }

    /// Sends what such a view shows to receivers, by their tags.
    func putWhole(
        _ shown: Node,
        of view: View,
        to receivers: [(tag: Int64?, connections: [ConnectionID])],
        _ step: inout Step
    ) {
        for (tag, connections) in receivers {
            let message: OutgoingMessage =
                if case .serverSent(let isExport) = view.encoding {
                    .serverSent(.put(.root, shown), isExport: isExport)
                } else {
                    .put(WriteTarget(path: view.node.path), shown, tag: tag)
                }
            emit(.send(message, to: connections), &step)
        }
    }

    /// Whether `listen` may go on; if not, ends it and sends its client a cancel.
    @discardableResult
    private func reauthorize(
        _ listen: Listen,
        _ shared: inout SharedDecisions,
        _ step: inout Step
    ) -> Bool {
        if isStillAllowed(listen, &shared, &step) { return true }
        remove(listen)
        let connection = listen.session.connection
        switch listen.name {
        case .target(let target):
            emit(.send(.text(shared.cancelText(target)), to: [connection]), &step)
        case .observer(let observer):
            let error = EventError(
                .permissionDenied,
                listen.session.takeExplanation() ?? "The rules no longer allow it."
            )
            let text = ObserverEvent.cancelled(error).encoded(observer: observer, .value)
            emit(.send(.text(text), to: [connection]), &step)
        case .stream:
            emit(.send(.serverSent(.cancel, isExport: false), to: [connection]), &step)
            // Its session ends when the connection does.
            emit(.close(connection, .permissionDenied), &step)
        }
        return false
    }

    /// Whether the rules allow a listen now.
    func isStillAllowed(_ listen: Listen, _ step: inout Step) -> Bool {
        var shared = SharedDecisions()
        return isStillAllowed(listen, &shared, &step)
    }

    private func isStillAllowed(
        _ listen: Listen,
        _ shared: inout SharedDecisions,
        _ step: inout Step
    ) -> Bool {
        if !listen.session.identity.isAdmin, let lookedAt = shared[listen.view] {
            setLookedAt(lookedAt, of: listen)
            return true
        }
        let requester = Requester(listen.session, .recheck)
        let read = Read(path: listen.path, query: listen.query, requester: requester)
        let decision = authorize(read, &step)
        guard decision?.isAllowed ?? true else { return false }
        noteRead(decision, read, &step)
        setLookedAt(decision?.lookedAt ?? [], of: listen)
        // Inspection and shadow rules see each decision.
        if let decision, inspection != .all, shadow == nil { shared.add(decision, listen.view) }
        return true
    }
}

/// Decisions of one step that are the same for several listens.
struct SharedDecisions {
    /// By view, the paths that a decision to allow depends on.
    private var lookedAt: [ObjectIdentifier: [Path]] = [:]

    /// The last cancel that was encoded: those of a crowd are all the same.
    private var cancel: (target: ListenTarget, text: [UInt8])?

    /// The message that ends a listen.
    mutating func cancelText(_ target: ListenTarget) -> [UInt8] {
        if let cancel, cancel.target == target { return cancel.text }
        let text = ServerMessage.cancel(target).encoded()
        cancel = (target, text)
        return text
    }

    subscript(view: View) -> [Path]? {
        lookedAt.isEmpty ? nil : lookedAt[ObjectIdentifier(view)]
    }

    /// Keeps a decision that allows the listens of `view`.
    mutating func add(_ decision: Decision, _ view: View) {
        precondition(decision.isAllowed, "each refusal has its own reasons")
        if !decision.lookedAtAuth { lookedAt[ObjectIdentifier(view)] = decision.lookedAt }
    }
}

/// A tree that listens were notified of.
struct NotifiedTree {
    let root: Node
    /// The commit that left it so.
    let number: CommitNumber
}

/// The state that listens of one view know which were suspended together.
final class NotifiedState {
    let view: View
    /// The last commit that they were notified of.
    let number: CommitNumber
    /// The children that were in sight; nil for a view of the node itself.
    let shown: ShownChildren?

    init(_ view: View, _ notified: NotifiedTree) {
        self.view = view
        number = notified.number
        shown =
            view.window == nil
            ? nil : view.shownChildren(of: notified.root.descendant(at: view.node.path))
    }
}

extension Listen {
    /// Where it receives what differs by its number; nil for one without.
    fileprivate var numberedReceiver: NumberedReceiver? {
        number.map { NumberedReceiver(connection: session.connection, number: $0) }
    }
}
