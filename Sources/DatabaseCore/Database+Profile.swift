import JSONTree
import Queries
import WireProtocol

/// Telling whoever watches what is done. Without anybody each of these looks at one flag and returns.
extension Database {
    /// What was sent to listeners of one path since the last look.
    struct BroadcastTally {
        var textByteCount = 0
        /// Receivers of a value that is written from its snapshot.
        var valueReceiverCount = 0
        var isEmpty: Bool { textByteCount == 0 && valueReceiverCount == 0 }

        mutating func note(_ effect: Effect) {
            switch effect {
            case .send(.text(let text), let receivers):
                textByteCount += text.count * receivers.count
            case .send(_, let receivers): valueReceiverCount += receivers.count
            case .sendNumbered(let text, let receivers):
                textByteCount += (text.text.count + text.ending.count) * receivers.count
            default: break
            }
        }
    }

    func profile(_ name: OperationRecord.Name, _ path: Path, _ effects: inout [Effect]) {
        guard isProfiled else { return }
        effects.append(.profiled(id, OperationRecord(name, path)))
    }

    func profile(
        _ name: OperationRecord.Name,
        _ path: Path,
        _ query: QuerySpec,
        _ outcome: ReadOutcome,
        _ effects: inout [Effect]
    ) {
        guard isProfiled else { return }
        var record = OperationRecord(name, path)
        switch outcome {
        case .value(let node): record.values = [.init(node: node, count: 1)]
        case .denied: record.isAllowed = false
        case .notIndexed: record.missingIndex = query.index
        // It is asked again when the index is there.
        case .mustWait: return
        }
        effects.append(.profiled(id, record))
    }

    func profile(_ request: ListenRequest, _ outcome: ListenOutcome, _ effects: inout [Effect]) {
        guard isProfiled else { return }
        var record = OperationRecord(.listen, request.path)
        switch outcome {
        case .registered(let listen, let isIndexed):
            record.values = [.init(node: shown(by: listen.view), count: 1)]
            if !isIndexed { record.missingIndex = request.query.index }
        case .denied: record.isAllowed = false
        case .notIndexed: record.missingIndex = request.query.index
        case .refused, .mustWait: return
        }
        effects.append(.profiled(id, record))
    }

    func profile(_ write: Write, _ outcome: WriteOutcome, _ effects: inout [Effect]) {
        guard isProfiled else { return }
        let isUpdate = write.base != nil
        let name: OperationRecord.Name =
            if write.writer == nil {
                isUpdate ? .restUpdate : .restWrite
            } else if write.isTransaction {
                .transaction
            } else {
                isUpdate ? .update : .write
            }
        var record = OperationRecord(name, write.base ?? write.entries[0].target.path)
        switch outcome {
        case .done(let changes): record.values = changes.map { .init(node: $0.new, count: 1) }
        case .denied: record.isAllowed = false
        case .refused, .stale, .mustCompare, .mustDecide: return
        }
        effects.append(.profiled(id, record))
    }

    /// Tells what listeners of `path` were told since `tally` was empty.
    func profileBroadcast(_ path: Path, _ effects: inout [Effect]) {
        guard let found = tally, !found.isEmpty else { return }
        tally = BroadcastTally()
        var record = OperationRecord(.broadcast, path)
        record.textByteCount = found.textByteCount
        if found.valueReceiverCount > 0 {
            // The whole value: what of it was told is known only when it has been written.
            let node = root.descendant(at: path)
            record.values = [.init(node: node, count: found.valueReceiverCount)]
        }
        effects.append(.profiled(id, record))
    }
}
