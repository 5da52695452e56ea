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
    /// `judgeHeld` has come to them.
    func judgeAgain(
        touching changes: [Change],
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
        judgeAgain(touchedListens, writer: writer, now: now, &effects)
    }

    /// Judges all listens again, for instance under new rules.
    func judgeAllAgain(now: Timestamp, _ effects: inout [Effect]) {
        let all = listens.values.filter { !$0.session.identity.isAdmin }
        judgeAgain(all.sorted { $0.id < $1.id }, writer: nil, now: now, &effects)
    }

    /// Judges the listens of one session again, whose identity has changed.
    func judgeAgain(_ session: Session, now: Timestamp, _ effects: inout [Effect]) {
        for listen in session.sortedListens { judge(listen, now: now, &effects) }
    }

    private func judgeAgain(
        _ listens: [Listen],
        writer: Session?,
        now: Timestamp,
        _ effects: inout [Effect]
    ) {
        let isShort = listens.count <= Limits.verdictsAtOnce
        for listen in listens where listen.index != nil {
            if isShort || listen.session === writer {
                judge(listen, now: now, &effects)
            } else {
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
            let node = root.descendant(at: listen.target.path)
            let shown = listen.view.window?.result(in: node) ?? node
            let place = WriteTarget(path: listen.target.path, isPriority: false)
            let message = OutgoingMessage.put(place, shown, tag: listen.tag)
            emit(.send(message, to: [listen.session.connection]), &effects)
        }
        return round.count
    }

    /// Whether `listen` may go on; if not it is ended and its client told.
    @discardableResult
    private func judge(_ listen: Listen, now: Timestamp, _ effects: inout [Effect]) -> Bool {
        let session = listen.session
        let target = listen.target
        let decision = judgeRead(target.path, target.query, as: session.identity, now: now)
        guard let decision else {
            setLookedAt([], of: listen)
            return true
        }
        if decision.isAllowed {
            setLookedAt(decision.lookedAt, of: listen)
            return true
        }
        remove(listen)
        let message = ServerMessage.cancel(listen.target).encoded()
        emit(.send(.text(message), to: [session.connection]), &effects)
        return false
    }
}
