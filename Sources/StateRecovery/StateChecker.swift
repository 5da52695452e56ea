package import DatabaseCore
package import WriteAheadLog

/// Decodes what a data folder holds as a start does, and keeps nothing of it.
///
/// What is written is read back by this before it counts, and what is verified or salvaged is read by
/// it. Memory: see `StateCheck`.
package final class StateChecker {
    private var info: CheckpointInfo?
    private var check = StateCheck()

    /// Begins before the first step.
    package init() {}

    /// Takes one step of what a recovery would read; what a start would not take is refused.
    package func take(_ step: RecoveryStep) throws(RecoveryRefusal) {
        switch step {
        case .checkpointBegan(let info):
            self.info = info
            check = StateCheck()
        case .chunk(let chunk):
            try decoding { () throws(CommitDecodingError) in try check.feed(Array(chunk)) }
        case .checkpointEnded:
            if let info {
                try decoding { () throws(CommitDecodingError) in try check.finish() }
                guard check.holds(info.heads) else {
                    throw RecoveryRefusal(
                        reason: "it holds other databases than its manifest says"
                    )
                }
            }
        case .skip: break
        case .record(let record):
            try decoding { () throws(CommitDecodingError) in
                try StateCheck.check(payload: Array(record.payload))
            }
        }
    }

    private func decoding(
        _ body: () throws(CommitDecodingError) -> Void
    ) throws(RecoveryRefusal) {
        do throws(CommitDecodingError) { try body() } catch { throw RecoveryRefusal(error) }
    }
}

extension StateCheck {
    /// Whether the databases that were read, with their last commits, are these, in this order.
    package func holds(_ heads: [LogHead]) -> Bool {
        self.heads.map { "\($0.database.name) \($0.number.value)" }
            == heads.map { "\($0.database) \($0.commit)" }
    }
}
