import DatabaseCore
import WriteAheadLog

/// The checkpoint thread: writes snapshots to the disk while the loop goes on.
final class Checkpointer: Sendable {
    private struct Job: Sendable {
        let snapshots: [DatabaseSnapshot]
        let position: LogPosition
        let heads: [LogHead]
        let report: @Sendable (Result<CheckpointReceipt, LogError>) -> Void
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
        _ report: @escaping @Sendable (Result<CheckpointReceipt, LogError>) -> Void,
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

    private static func write(
        _ job: Job,
        to folder: DataFolder
    ) -> Result<CheckpointReceipt, LogError> {
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
                return .success(try writer.commit(appendedThrough: job.position))
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
