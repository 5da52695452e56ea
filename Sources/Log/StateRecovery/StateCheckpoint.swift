package import DatabaseCore
package import WriteAheadLog

/// A checkpoint of snapshots on its way to the disk, written part by part and read back at its end.
///
/// Used by one thread at a time. A failure leaves the log and older checkpoints whole.
package struct StateCheckpoint {
    private let writer: CheckpointWriter
    private var encoder: CheckpointEncoder
    private var bytes: [UInt8] = []

    /// Begins a checkpoint; `snapshots` hold every commit up to `position`, and `heads` name their last ones.
    ///
    /// - Throws: as `DataFolder.beginCheckpoint`.
    package init(
        of snapshots: [DatabaseSnapshot],
        at position: LogPosition,
        heads: [LogHead],
        in folder: DataFolder
    ) throws(LogError) {
        writer = try folder.beginCheckpoint(at: position, heads: heads)
        encoder = CheckpointEncoder(snapshots)
    }

    /// Writes the next bytes, about as many as asked for.
    ///
    /// - Returns: whether there are more.
    /// - Throws: as `CheckpointWriter.write`; then only `abandon` makes sense.
    package mutating func advance(atLeast byteCount: Int) throws(LogError) -> Bool {
        var isMore = true
        while isMore, bytes.count < byteCount {
            isMore = encoder.next(into: &bytes, atLeast: byteCount)
        }
        for start in stride(from: 0, to: bytes.count, by: LogLimits.chunkByteCount) {
            let end = min(start + LogLimits.chunkByteCount, bytes.count)
            try bytes[start..<end].withUnsafeBufferPointer { chunk throws(LogError) in
                try writer.write(chunk)
            }
        }
        bytes.removeAll(keepingCapacity: true)
        return isMore
    }

    /// Makes it durable, reads it back as a start would, and lets it count.
    ///
    /// - Throws: as `CheckpointWriter.commit`.
    package func finish() throws(LogError) -> CheckpointReceipt {
        try writer.commit(appendedThrough: writer.position, readBackBy: StateChecker().take)
    }

    /// Cancels it and removes its files.
    package func abandon() throws(LogError) { try writer.abandon() }
}
