import JSONTree
import Queries
import WireProtocol

/// The events of event streams.
///
/// A write at or below the path of a stream is sent as it was made: a put with its exact path, an update as one
/// patch. A write above is sent as a put of the whole value, if that changed. Under a query, each child that enters,
/// leaves or changes is sent whole: after a put one event for each, those that leave first, so that never more are in
/// sight than the limit; after an update one patch, since it was one change.
extension Database {
    /// Sends an event to the streams of a view without a window.
    func pushServerSentNode(_ view: View, _ round: EventRound, _ step: inout Step) {
        guard case .serverSent(let isExport) = view.encoding, !view.plain.isEmpty else { return }
        guard let event = round.event(for: view, isExport: isExport) else { return }
        let message = OutgoingMessage.serverSent(event, isExport: isExport)
        emit(.send(message, to: view.plain.all), &step)
    }

    /// Sends the streams of a filtered view what one step changed in it.
    func pushServerSentChildren(
        _ view: View,
        _ changes: [ViewChange],
        _ round: EventRound,
        _ step: inout Step
    ) {
        guard case .serverSent(let isExport) = view.encoding, !view.plain.isEmpty else { return }
        if changes.isEmpty { return }
        let events: [ServerSentEvent]
        if round.replaces(view.node.path) {
            events = [.put(.root, shown(by: view))]
        } else if round.isUpdate {
            events = [.patch(at: .root, changes.map { (Path([$0.key]), $0.new) })]
        } else {
            let inOrder = changes.filter(\.new.isAbsent) + changes.filter { !$0.new.isAbsent }
            events = inOrder.map { .put(Path([$0.key]), $0.new) }
        }
        var text: [UInt8] = []
        for event in events {
            switch OutgoingMessage.serverSent(event, isExport: isExport) {
            case .serverSent(let next):
                text.append(contentsOf: next)
            case let large:
                sendServerSent(&text, view, &step)
                emit(.send(large, to: view.plain.all), &step)
            }
        }
        sendServerSent(&text, view, &step)
    }

    private func sendServerSent(_ text: inout [UInt8], _ view: View, _ step: inout Step) {
        if text.isEmpty { return }
        emit(.send(.serverSent(text), to: view.plain.all), &step)
        text = []
    }
}

extension EventRound {
    /// Whether the commit was an update of several paths, and not one put.
    var isUpdate: Bool { base != nil }

    /// Whether a change carries the whole value at `path`.
    func replaces(_ path: Path) -> Bool {
        let first = firstIndex(atOrAfter: path)
        if first < changes.count, changes[first].target.path == path {
            return !changes[first].target.isPriority
        }
        return first > 0 && isReplacement(changes[first - 1], of: path)
    }

    /// The event for a stream without a window; nil when nothing changed that it shows.
    func event(for view: View, isExport: Bool) -> ServerSentEvent? {
        let path = view.node.path
        if let base, path.isPrefix(of: base) {
            return update(changes[...], at: base, view, isExport)
        }
        if base == nil, path.isPrefix(of: changes[0].target.path) {
            let target = changes[0].target
            // Plain values have no priorities; an exported leaf has its own within, so all of it is sent.
            if target.isPriority, !isExport { return nil }
            return put(target.path, view)
        }
        let first = firstIndex(atOrAfter: path)
        if first < changes.count, path.isPrefix(of: changes[first].target.path) {
            if !isReplacement(changes[first], of: path) {
                let below = changes[first...].prefix { path.isPrefix(of: $0.target.path) }
                return update(below, at: path, view, isExport)
            }
        } else if first == 0 || !isReplacement(changes[first - 1], of: path) {
            return nil
        }
        return old.descendant(at: path) == new.descendant(at: path) ? nil : put(path, view)
    }

    /// Changes at and below `base`, which is at or below the path of the view.
    private func update(
        _ changes: ArraySlice<Change>,
        at base: Path,
        _ view: View,
        _ isExport: Bool
    ) -> ServerSentEvent? {
        var entries: [(path: Path, node: Node)] = []
        for change in changes where isExport || !change.target.isPriority {
            let path = change.target.path
            // A patch cannot name the priority of its own path.
            if path == base { return put(base, view) }
            let relative = path.dropFirst(base.keyCount)
            // A priority and a value of one path are one entry, of the state after both.
            if entries.last?.path == relative { continue }
            entries.append((relative, new.descendant(at: path)))
        }
        if entries.isEmpty { return nil }
        return .patch(at: base.dropFirst(view.node.path.keyCount), entries)
    }

    /// The value now at `path`, which is at or below the path of the view.
    private func put(_ path: Path, _ view: View) -> ServerSentEvent {
        .put(path.dropFirst(view.node.path.keyCount), new.descendant(at: path))
    }
}

extension OutgoingMessage {
    /// An event for streams: as text, or from snapshots when its values are large.
    static func serverSent(_ event: ServerSentEvent, isExport: Bool) -> OutgoingMessage {
        let form: Node.JSONForm = isExport ? .export : .value
        if event.isLarge { return .serverSentStream(StreamedServerSentEvent(event, form)) }
        return .serverSent(event.encoded(form))
    }
}

extension ServerSentEvent {
    /// Whether its values are better encoded as sockets drain.
    fileprivate var isLarge: Bool {
        switch self {
        case .put(_, let node): node.isLarge(from: Limits.nodesEncodedAtOnce)
        case .patch(_, let entries): Node.areLarge(entries.lazy.map(\.node))
        case .keepAlive, .cancel, .authRevoked: false
        }
    }
}
