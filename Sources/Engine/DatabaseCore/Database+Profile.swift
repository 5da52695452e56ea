import JSONTree
import Queries
import WireProtocol

/// Reports what is done to the profiler. While it is off each of these looks at one flag and returns.
extension Database {
    /// The bytes and values sent to listeners of one path by one commit.
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

    func profileOperation(_ name: OperationRecord.Name, _ path: Path, _ step: inout Step) {
        guard isProfiled else { return }
        step.effects.append(.profiled(id, OperationRecord(name: name, path: path)))
    }

    func profileRead(
        _ name: OperationRecord.Name,
        _ path: Path,
        _ query: QuerySpec,
        _ outcome: ReadOutcome,
        _ step: inout Step
    ) {
        guard isProfiled else { return }
        var record = OperationRecord(name: name, path: path)
        switch outcome {
        case .value(let node): record.values = [.init(node: node, count: 1)]
        case .denied: record.isAllowed = false
        case .notIndexed: record.missingIndex = query.index
        // It is performed again when the index is there, or has no value yet.
        case .mustWait, .mustSelect: return
        }
        step.effects.append(.profiled(id, record))
    }

    func profileListen(_ request: ListenRequest, _ outcome: ListenOutcome, _ step: inout Step) {
        guard isProfiled else { return }
        var record = OperationRecord(name: .listen, path: request.path)
        switch outcome {
        case .registered(let listen, let isIndexed):
            record.values = [.init(node: shown(by: listen.view), count: 1)]
            if !isIndexed { record.missingIndex = request.query.index }
        case .denied: record.isAllowed = false
        case .notIndexed: record.missingIndex = request.query.index
        case .refused, .mustWait: return
        }
        step.effects.append(.profiled(id, record))
    }

    func profileWrite(_ write: Write, _ outcome: WriteOutcome, _ step: inout Step) {
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
        var record = OperationRecord(name: name, path: write.base ?? write.entries[0].target.path)
        switch outcome {
        case .done(let changes): record.values = changes.map { .init(node: $0.new, count: 1) }
        case .denied: record.isAllowed = false
        case .refused, .stale, .mustCompare, .mustDecide: return
        }
        step.effects.append(.profiled(id, record))
    }

    /// Reports what listeners of `path` received since `tally` was empty.
    func profileBroadcast(_ path: Path, _ step: inout Step) {
        guard let found = tally, !found.isEmpty else { return }
        tally = BroadcastTally()
        var record = OperationRecord(name: .broadcast, path: path)
        record.textByteCount = found.textByteCount
        if found.valueReceiverCount > 0 {
            // The whole value: its bytes are known only when it has been written.
            let node = root.descendant(at: path)
            record.values = [.init(node: node, count: found.valueReceiverCount)]
        }
        step.effects.append(.profiled(id, record))
    }
}
