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
    /// `judgeHeld` has come to them. `oldRoot` is what they were last told of.
    func judgeAgain(
        touching changes: [Change],
        old oldRoot: Node,
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
        judgeAgain(touchedListens, told: oldRoot, writer: writer, now: now, &effects)
    }

    /// Judges all listens again, for instance under new rules.
    func judgeAllAgain(now: Timestamp, _ effects: inout [Effect]) {
        let all = listens.values.filter { !$0.session.identity.isAdmin }
        judgeAgain(all.sorted { $0.id < $1.id }, told: root, writer: nil, now: now, &effects)
    }

    /// Judges the listens of one session again, whose identity has changed.
    func judgeAgain(_ session: Session, now: Timestamp, _ effects: inout [Effect]) {
        for listen in session.sortedListens { judge(listen, now: now, &effects) }
    }

    private func judgeAgain(
        _ listens: [Listen],
        told root: Node,
        writer: Session?,
        now: Timestamp,
        _ effects: inout [Effect],
    ) {
        let isShort = listens.count <= Limits.verdictsAtOnce
        for listen in listens where listen.index != nil {
            if isShort || listen.session === writer {
                judge(listen, now: now, &effects)
            } else {
                let node = root.descendant(at: listen.path)
                listen.told = listen.view.shownChildren(of: node)
                listen.view.hold(listen)
                held.append(listen.id)
            }
        }
    }

    /// Judges up to `count` held listens; those allowed get the present value and go on.
    ///
    /// - Returns: how many it looked at.
    func judgeHeld(_ count: Int, now: Timestamp, _ effects: inout [Effect]) -> Int {
        let round = held.prefix(count)
        held.removeFirst(round.count)
        for id in round {
            guard let listen = listens[id], listen.index == nil else { continue }
            guard judge(listen, now: now, &effects) else { continue }
            listen.view.resume(listen)
            let told = listen.told
            listen.told = nil
            switch listen.view.encoding {
            case .wire, .serverSent: putPresent(listen, &effects)
            case .events: tellPresent(listen, since: told, &effects)
            }
        }
        return round.count
    }

    /// Sends a listen of the wire protocol, or an event stream, all that it shows now.
    func putPresent(_ listen: Listen, _ effects: inout [Effect]) {
        let shown = shown(by: listen.view)
        let message: OutgoingMessage
        if case .serverSent(let isExport) = listen.view.encoding {
            message = .serverSent(.put(.root, shown), isExport: isExport)
        } else {
            let place = WriteTarget(path: listen.path, isPriority: false)
            message = .put(place, shown, tag: listen.number)
        }
        emit(.send(message, to: [listen.session.connection]), &effects)
    }

    /// Whether `listen` may go on; if not it is ended and its client told.
    @discardableResult
    private func judge(_ listen: Listen, now: Timestamp, _ effects: inout [Effect]) -> Bool {
        if isStillAllowed(listen, now: now) { return true }
        remove(listen)
        let connection = listen.session.connection
        switch listen.name {
        case .target(let target):
            emit(.send(.text(ServerMessage.cancel(target).encoded()), to: [connection]), &effects)
        case .observer(let observer):
            let error = EventError(.permissionDenied, "The rules no longer allow it.")
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
    func isStillAllowed(_ listen: Listen, now: Timestamp) -> Bool {
        let identity = listen.session.identity
        let decision = judgeRead(listen.path, listen.query, as: identity, now: now)
        guard decision?.isAllowed ?? true else { return false }
        setLookedAt(decision?.lookedAt ?? [], of: listen)
        return true
    }
}
