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

    private struct Job: Sendable {
        let snapshots: [DatabaseSnapshot]
        let position: LogPosition
        let heads: [LogHead]
        let report: @Sendable (Outcome) -> Void
    }

    /// Bytes handed to the disk at a time.
    private static let chunkByteCount = 1 << 20

    private let mailbox: Mailbox<Job>
    private let thread: WorkThread

    init(_ folder: DataFolder) {
        let mailbox = Mailbox<Job>(limit: 1)
        self.mailbox = mailbox
        thread = WorkThread {
            var jobs: [Job] = []
            while mailbox.takeAll(&jobs) {
                for job in jobs { job.report(Checkpointer.write(job, to: folder)) }
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
        _ = mailbox.post(
            Job(snapshots: snapshots, position: position, heads: heads, report: report)
        )
    }

    /// Finishes the checkpoint under way and ends the thread.
    func stop() {
        mailbox.close()
        thread.join()
    }

    private static func write(_ job: Job, to folder: DataFolder) -> Outcome {
        do throws(LogError) {
            let writer = try folder.beginCheckpoint(at: job.position, heads: job.heads)
            do throws(LogError) {
                var encoder = CheckpointEncoder(job.snapshots)
                var bytes: [UInt8] = []
                while encoder.next(into: &bytes, atLeast: chunkByteCount) {
                    if bytes.count < chunkByteCount { continue }
                    try write(&bytes, to: writer)
                }
                if !bytes.isEmpty { try write(&bytes, to: writer) }
                let written = ContinuousClock.now
                let receipt = try writer.commit(
                    appendedThrough: job.position,
                    readBackBy: StateChecker().take,
                )
                return .success(
                    FinishedCheckpoint(
                        receipt: receipt,
                        readBackTime: ContinuousClock.now - written,
                    )
                )
            } catch {
                try writer.abandon()
                throw error
            }
        } catch {
            return .failure(error)
        }
    }

    /// Hands `bytes` over, in pieces that one chunk can hold, and empties it.
    private static func write(
        _ bytes: inout [UInt8],
        to writer: CheckpointWriter
    ) throws(LogError) {
        for start in stride(from: 0, to: bytes.count, by: LogLimits.chunkByteCount) {
            let end = min(start + LogLimits.chunkByteCount, bytes.count)
            try bytes[start..<end].withUnsafeBufferPointer { chunk throws(LogError) in
                try writer.write(chunk)
            }
        }
        bytes.removeAll(keepingCapacity: true)
    }
}
