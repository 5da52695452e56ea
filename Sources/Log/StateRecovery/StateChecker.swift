package import DatabaseCore
package import WriteAheadLog

/// Decodes what a data folder holds as a start does, and keeps nothing of it.
///
/// Written checkpoints are read back by this before they count, and verified or salvaged data is
/// read by it. Memory: see `StateCheck`.
package final class StateChecker {
    private var info: CheckpointInfo?
    private var check = StateCheck()

    /// Begins before the first step.
    package init() {}

    /// Checks one step of what a recovery would read; refuses what a start would refuse.
    package func take(_ step: RecoveryStep) throws(RecoveryRefusal) {
        do throws(CommitDecodingError) {
            switch step {
            case .checkpointBegan(let info):
                self.info = info
                check = StateCheck()
            case .chunk(let chunk): try check.feed(Array(chunk))
            case .checkpointEnded: if info != nil { try check.finish() }
            case .skip: break
            case .record(let record): try StateCheck.check(payload: Array(record.payload))
            }
        } catch {
            throw RecoveryRefusal(error)
        }
        if case .checkpointEnded = step, let info, !check.holds(info.heads) {
            throw RecoveryRefusal(reason: "it holds other databases than its manifest says")
        }
    }
}

extension StateCheck {
    /// Whether the databases that were read, with their last commits, are these, in this order.
    package func holds(_ heads: [LogHead]) -> Bool {
        self.heads.map { "\($0.database.name) \($0.number.value)" }
            == heads.map { "\($0.database) \($0.commit)" }
    }
}
