/// What other nodes said last.
struct HeardNodes {
    private struct Heard {
        let beat: Beat
        let time: Duration
    }

    private var nodes: [NodeID: Heard] = [:]

    /// What every node said last, of those heard since some time, by node.
    func beats(since time: Duration) -> [Beat] {
        nodes.filter { $0.value.time >= time }.sorted { $0.key < $1.key }.map(\.value.beat)
    }

    mutating func take(_ beat: Beat, at now: Duration) {
        nodes[beat.sender.node] = Heard(beat: beat, time: now)
    }

    /// The beats since some time of nodes that follow a log, or none yet. A node that knows no log believes all.
    private func beats(since time: Duration, of logID: UInt64) -> [Beat] {
        nodes.values.filter { $0.time >= time && $0.beat.follows(logID) }.map(\.beat)
    }

    /// How far the one is that is furthest.
    func furthest(since time: Duration, of logID: UInt64) -> LogProgress? {
        beats(since: time, of: logID).map(\.progress).max()
    }

    /// The owner of the highest epoch that was heard.
    func owner(since time: Duration, of logID: UInt64) -> Beat? {
        beats(since: time, of: logID).filter { $0.role == .owning }
            .max { $0.progress < $1.progress }
    }

    /// The lowest entry that a checkpoint of a node covers; one that cannot follow needs none.
    func lowestCheckpoint(since time: Duration, of logID: UInt64) -> UInt64? {
        beats(since: time, of: logID).filter { $0.role != .stopped }.map(\.checkpointed).min()
    }
}

extension Beat {
    /// Whether the sender may follow the log of this id.
    func follows(_ logID: UInt64) -> Bool {
        self.logID == logID || self.logID == 0 || logID == 0
    }
}
