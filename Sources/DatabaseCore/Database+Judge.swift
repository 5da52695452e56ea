import EventProtocol
import JSONTree
import Queries
import SecurityRules
import WireProtocol

/// Judging listens again: a listen that its rule no longer allows ends before it hears of the
/// commit that revoked it.
extension Database {
    /// Judges again the listens whose rule looked at a changed place, before the commit is pushed.
    ///
    /// Of more than `Limits.verdictsAtOnce`, only those of the writer's own connection are judged
    /// here, so that its answer comes after its cancels. The others receive nothing until
    /// `judgeHeld` has come to them. `told` is what they were last told of.
    func judgeAgain(
        touching changes: [Change],
        told: ToldTree,
        writer: Session?,
        now: Timestamp,
        _ effects: inout [Effect]
    ) {
        if dependents.isEmpty { return }
        var touched: Set<ListenID> = []
        for change in changes {
            dependents.visit(around: change.target.path) { touched.formUnion($0) }
        }
        if touched.isEmpty { return }
        let touchedListens = touched.sorted().compactMap { listens[$0] }
        judgeAgain(touchedListens, told: told, writer: writer, now: now, &effects)
    }

    /// Judges all listens again, for instance under new rules.
    func judgeAllAgain(now: Timestamp, _ effects: inout [Effect]) {
        let all = listens.values.filter { !$0.session.identity.isAdmin }
        let told = ToldTree(root: root, number: number)
        judgeAgain(all.sorted { $0.id < $1.id }, told: told, writer: nil, now: now, &effects)
    }

    /// Judges the listens of one session again, whose identity has changed.
    func judgeAgain(_ session: Session, now: Timestamp, _ effects: inout [Effect]) {
        var shared = SharedVerdicts()
        for listen in session.sortedListens { judge(listen, &shared, now: now, &effects) }
    }

    private func judgeAgain(
        _ listens: [Listen],
        told: ToldTree,
        writer: Session?,
        now: Timestamp,
        _ effects: inout [Effect],
    ) {
        let isShort = listens.count <= Limits.verdictsAtOnce
        var shared = SharedVerdicts()
        var states: [ObjectIdentifier: ToldState] = [:]
        for listen in listens where listen.index != nil {
            if isShort || listen.session === writer {
                judge(listen, &shared, now: now, &effects)
                continue
            }
            let view = ObjectIdentifier(listen.view)
            let state = states[view] ?? ToldState(listen.view, told)
            states[view] = state
            listen.told = state
            listen.view.hold(listen)
            held.append(listen.id)
        }
    }

    /// Judges up to `count` held listens; those allowed go on, and are told the present if it is
    /// another than what they were told before.
    ///
    /// - Returns: how many it looked at.
    func judgeHeld(_ count: Int, now: Timestamp, _ effects: inout [Effect]) -> Int {
        let round = held.prefix(count)
        held = round.endIndex == held.endIndex ? [] : held[round.endIndex...]
        var shared = SharedVerdicts()
        var places: [ObjectIdentifier: Int] = [:]
        var resumed: [(told: ToldState, listens: [Listen])] = []
        for id in round {
            guard let listen = listens[id], listen.index == nil, let told = listen.told,
                judge(listen, &shared, now: now, &effects)
            else { continue }
            listen.view.resume(listen)
            listen.told = nil
            if let place = places[ObjectIdentifier(told)] {
                resumed[place].listens.append(listen)
            } else {
                places[ObjectIdentifier(told)] = resumed.count
                resumed.append((told, [listen]))
            }
        }
        for (told, listens) in resumed { tellPresent(listens, told, &effects) }
        return round.count
    }

    /// Tells listens of one view, who were told the same before, what there is now: made once for all.
    private func tellPresent(
        _ listens: [Listen],
        _ told: ToldState,
        _ effects: inout [Effect]
    ) {
        // Every commit at, above or below the node leaves its number there.
        let view = told.view
        if view.node.visitedBy <= told.number { return }
        if case .events = view.encoding {
            tellPresent(view, since: told.shown, listens.compactMap(\.numberedReceiver), &effects)
            return
        }
        let shown = shown(by: view)
        if let before = told.shown, before.result == shown { return }
        put(shown, of: view, listens, &effects)
    }

    /// Sends a listen of the wire protocol, or an event stream, all that it shows now.
    func putPresent(_ listen: Listen, _ effects: inout [Effect]) {
        put(shown(by: listen.view), of: listen.view, [listen], &effects)
    }

    /// Sends what a view shows to some of its listens.
    private func put(
        _ shown: Node,
        of view: View,
        _ listens: [Listen],
        _ effects: inout [Effect]
    ) {
        if case .serverSent(let isExport) = view.encoding {
            let message = OutgoingMessage.serverSent(.put(.root, shown), isExport: isExport)
            emit(.send(message, to: listens.map(\.session.connection)), &effects)
            return
        }
        let place = WriteTarget(path: view.node.path, isPriority: false)
        let plain = listens.filter { $0.number == nil }.map(\.session.connection)
        if !plain.isEmpty { emit(.send(.put(place, shown, tag: nil), to: plain), &effects) }
        let numbered = NumberedReceiver.byNumber(listens.compactMap(\.numberedReceiver))
        for (tag, connections) in numbered {
            emit(.send(.put(place, shown, tag: tag), to: connections), &effects)
        }
    }

    /// Whether `listen` may go on; if not it is ended and its client told.
    @discardableResult
    private func judge(
        _ listen: Listen,
        _ shared: inout SharedVerdicts,
        now: Timestamp,
        _ effects: inout [Effect]
    ) -> Bool {
        if isStillAllowed(listen, &shared, now: now, &effects) { return true }
        remove(listen)
        let connection = listen.session.connection
        switch listen.name {
        case .target(let target):
            emit(.send(.text(shared.cancelText(target)), to: [connection]), &effects)
        case .observer(let observer):
            let error = EventError(
                .permissionDenied,
                listen.session.takeExplanation() ?? "The rules no longer allow it."
            )
            let text = ObserverEvent.cancelled(error).encoded(observer: observer, isExport: false)
            emit(.send(.text(text), to: [connection]), &effects)
        case .stream:
            emit(.send(.serverSent(.cancel, isExport: false), to: [connection]), &effects)
            // Its session ends when the connection does.
            emit(.close(connection, .permissionDenied), &effects)
        }
        return false
    }

    /// The rules' verdict on a listen as things are now.
    func isStillAllowed(_ listen: Listen, now: Timestamp, _ effects: inout [Effect]) -> Bool {
        var shared = SharedVerdicts()
        return isStillAllowed(listen, &shared, now: now, &effects)
    }

    private func isStillAllowed(
        _ listen: Listen,
        _ shared: inout SharedVerdicts,
        now: Timestamp,
        _ effects: inout [Effect]
    ) -> Bool {
        if !listen.session.identity.isAdmin, let lookedAt = shared[listen.view] {
            setLookedAt(lookedAt, of: listen)
            return true
        }
        let requester = Requester(listen.session, .recheck)
        let decision = judgeRead(listen.path, listen.query, for: requester, now: now, &effects)
        guard decision?.isAllowed ?? true else { return false }
        noteRead(decision, listen.path, listen.query, for: requester, now: now, &effects)
        setLookedAt(decision?.lookedAt ?? [], of: listen)
        // What inspects decisions sees each of them.
        if let decision, inspection != .all, shadow == nil { shared.add(decision, listen.view) }
        return true
    }
}

/// What one step has worked out for one listen and that holds for others too, whoever they are of.
struct SharedVerdicts {
    /// By view, the paths that an allowing verdict rests on.
    private var lookedAt: [ObjectIdentifier: [Path]] = [:]

    /// The last cancel that was written: those of a crowd are all the same.
    private var cancel: (target: ListenTarget, text: [UInt8])?

    /// What tells a client that its listen has ended.
    mutating func cancelText(_ target: ListenTarget) -> [UInt8] {
        if let cancel, cancel.target == target { return cancel.text }
        let text = ServerMessage.cancel(target).encoded()
        cancel = (target, text)
        return text
    }

    subscript(view: View) -> [Path]? {
        lookedAt.isEmpty ? nil : lookedAt[ObjectIdentifier(view)]
    }

    /// Keeps a verdict that lets the listens of `view` go on, and with them the view.
    mutating func add(_ decision: Decision, _ view: View) {
        precondition(decision.isAllowed, "a refusal is told to each with its reasons")
        if !decision.lookedAtAuth { lookedAt[ObjectIdentifier(view)] = decision.lookedAt }
    }
}

/// A state of the tree that listens were told of.
struct ToldTree {
    let root: Node
    /// The commit that left it so.
    let number: CommitNumber
}

/// What the listens of one view were last told that came to be held at once.
final class ToldState {
    let view: View
    /// The last commit that they were told of.
    let number: CommitNumber
    /// The children that were in sight; nil for a view of the node itself.
    let shown: ShownChildren?

    init(_ view: View, _ told: ToldTree) {
        self.view = view
        number = told.number
        shown =
            view.window == nil
            ? nil : view.shownChildren(of: told.root.descendant(at: view.node.path))
    }
}

extension Listen {
    /// Where it receives what differs by its number; nil for one without.
    fileprivate var numberedReceiver: NumberedReceiver? {
        number.map { NumberedReceiver(connection: session.connection, number: $0) }
    }
}
