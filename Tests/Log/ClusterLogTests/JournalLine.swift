@testable import ClusterLog

extension MemberInput {
    /// Its line in the journal of a world; nil for a tick and for beats, which are many.
    var line: String? {
        switch self {
        case .news(.entry(let sequence, let bytes)): "entry \(sequence) \(entryLine(bytes))"
        case .news(.beat), .tick: nil
        case .news(let news): "\(news)"
        case .commits(let records): "\(records.count) commits"
        case .checkpointed(let sequence): "checkpointed \(sequence)"
        case .leave: "leave"
        }
    }
}

extension MemberEffect {
    /// Its line in the journal of a world; nil for beats.
    var line: String? {
        switch self {
        case .append(let bytes, let number, let last):
            "append \(number) after \(last): \(entryLine(bytes))"
        case .tail(let sequence): "tail from \(sequence)"
        case .purge(let sequence): "purge through \(sequence)"
        case .beat: nil
        case .committed(let records, let mark):
            "\(records.count) commits at \(mark.sequence): \(mark.progress)"
        case .owned(let mark): "owned at \(mark.sequence)"
        case .deposed: "deposed"
        case .left: "left"
        case .stalled(let isStalled): "stalled \(isStalled)"
        case .stopped(let fault): "stopped: \(fault)"
        }
    }
}

private func entryLine(_ bytes: [UInt8]) -> String {
    guard let entry = try? LogEntry(decoding: bytes) else { return "damaged" }
    return "\(entry.kind) of node \(entry.writer.node), epoch \(entry.epoch), base \(entry.base)"
}
