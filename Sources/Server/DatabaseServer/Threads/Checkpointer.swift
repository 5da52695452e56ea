import DatabaseCore
import StateRecovery
import WriteAheadLog

/// A checkpoint that was written and read back.
struct FinishedCheckpoint: Sendable {
    let receipt: CheckpointReceipt
    /// From the last byte written to the last one read back.
    let readBackTime: Duration
}

/// The checkpoint thread: writes snapshots to the disk while the loop goes on, and reads them back.
final class Checkpointer: Sendable {
    typealias Outcome = Result<FinishedCheckpoint, LogError>

    /// Bytes handed to the disk at a time.
    private static let chunkByteCount = 1 << 20

    private let folder: DataFolder
    private let mailbox: Mailbox<@Sendable () -> Void>
    private let thread: WorkThread

    init(_ folder: DataFolder) {
        self.folder = folder
        let mailbox = Mailbox<@Sendable () -> Void>(limit: 1)
        self.mailbox = mailbox
        thread = WorkThread {
            var jobs: [@Sendable () -> Void] = []
            while mailbox.takeAll(&jobs) {
                for job in jobs { job() }
            }
        }
    }

    /// Writes a checkpoint of `snapshots`, which hold every commit up to `position`.
    ///
    /// `report` is called on the checkpoint thread. A failure leaves log and older checkpoints whole.
    func write(
        _ snapshots: [DatabaseSnapshot],
        at position: LogPosition,
        heads: [LogHead],
        _ report: @escaping @Sendable (Outcome) -> Void,
    ) {
        _ = mailbox.post { [folder] in
            report(
                Result { () throws(LogError) in
                    let checkpoint = try StateCheckpoint(
                        of: snapshots,
                        at: position,
                        heads: heads,
                        in: folder
                    )
                    return try Checkpointer.perform(checkpoint)
                }
            )
        }
    }

    /// Finishes the checkpoint under way and ends the thread.
    func stop() {
        mailbox.close()
        thread.join()
    }

    private static func perform(
        _ checkpoint: consuming StateCheckpoint
    ) throws(LogError) -> FinishedCheckpoint {
        do throws(LogError) {
            while try checkpoint.advance(atLeast: chunkByteCount) {}
            let written = ContinuousClock.now
            let receipt = try checkpoint.finish()
            let readBackTime = ContinuousClock.now - written
            return FinishedCheckpoint(receipt: receipt, readBackTime: readBackTime)
        } catch {
            try checkpoint.abandon()
            throw error
        }
    }
}
