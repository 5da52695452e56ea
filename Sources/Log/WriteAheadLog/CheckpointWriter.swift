/// Writes one checkpoint, chunk by chunk, while the log continues.
///
/// Used by one thread at a time. The checkpoint becomes visible whole in `commit` or not at all; until then a crash
/// leaves a `.partial` folder that the next start removes. Order of the steps: data and manifest written and synced,
/// their folder synced, everything read back, the log synced up to the position, the folder renamed, the rename synced;
/// only then older checkpoints and segments are removed.
package final class CheckpointWriter {
    /// Bytes after which the data is synced. A sync of the log waits for other dirty data of the
    /// file system, so little is kept dirty.
    private static let syncByteCount: UInt64 = 8 * 1024 * 1024

    /// The last record that the checkpoint covers.
    package let position: LogPosition
    private let folder: LogFolder
    private let heads: [LogHead]
    private let partial: String
    private let file: any LogFile
    private let buffer = ByteBuffer()
    private var chunkCount: UInt64 = 0
    private var byteCount: UInt64 = 0
    private var syncedByteCount: UInt64 = 0

    /// Creates the partial folder; replaces one that a failed attempt at the same position left.
    init(_ folder: LogFolder, _ position: LogPosition, heads: [LogHead]) throws(LogError) {
        self.folder = folder
        self.position = position
        self.heads = heads.sorted { $0.database < $1.database }
        partial = FolderLayout.checkpoint(position, FolderLayout.partialSuffix)
        let storage = folder.storage
        try CheckpointFolders.remove(partial, in: storage)
        try storage.createFolder(partial)
        file = try storage.create(FolderLayout.data(in: partial))
    }

    private var storage: any LogStorage { folder.storage }

    /// Appends a chunk; the reader returns it with the same bounds.
    ///
    /// Throws: `chunkTooLarge` above `LogLimits.chunkByteCount`; `disk` when it cannot be written,
    /// after which only `abandon` is useful. Such a failure does not affect the log.
    package func write(_ chunk: UnsafeBufferPointer<UInt8>) throws(LogError) {
        guard chunk.count <= LogLimits.chunkByteCount else {
            throw .chunkTooLarge(byteCount: chunk.count)
        }
        buffer.removeAll(keepingAtMost: 4 * 1024 * 1024)
        CheckpointChunk.append(
            UnsafeRawBufferPointer(chunk),
            index: chunkCount,
            salt: checksumSalt(folderID: folder.id, position: position),
            to: buffer,
        )
        try file.write(buffer.bytes, at: byteCount)
        chunkCount += 1
        byteCount += UInt64(buffer.count)
        if byteCount - syncedByteCount >= Self.syncByteCount {
            try file.sync()
            syncedByteCount = byteCount
        }
    }

    /// Makes the checkpoint durable, lets `reader` read it back from the disk as a start would, makes
    /// it visible, then removes superfluous checkpoints and segments.
    ///
    /// `appendedThrough` is the log's position as its writer reported it; the checkpoint must not
    /// be ahead of it. Memory: one chunk, and what `reader` keeps. Throws: `refused` or `damage` when
    /// it does not read back, after which it should be abandoned; `disk`; whether the checkpoint is
    /// visible is then decided by the next start. The log is whole in every case.
    package func commit(
        appendedThrough: LogPosition,
        readBackBy reader: RecoveryReader
    ) throws(LogError) -> CheckpointReceipt {
        precondition(position <= appendedThrough, "a checkpoint covers appended records only")
        try file.sync()
        file.close()
        let info = CheckpointInfo(
            position: position,
            heads: heads,
            chunkCount: chunkCount,
            byteCount: byteCount,
        )
        let manifest = try storage.create(FolderLayout.manifest(in: partial))
        let encoded = CheckpointManifest.encode(info, folderID: folder.id)
        try encoded.withBytes { bytes throws(LogError) in try manifest.write(bytes, at: 0) }
        try manifest.sync()
        manifest.close()
        try storage.syncFolder(partial)
        let written = LogFolder(storage: storage, id: folder.id)
        try CheckpointReader(written, position, suffix: FolderLayout.partialSuffix)
            .give(to: reader)
        try syncLog()
        try storage.rename(partial, to: FolderLayout.checkpoint(position))
        try storage.syncFolder(FolderLayout.checkpoints)
        let dropped = try CheckpointFolders.dropSuperfluous(in: storage)
        return CheckpointReceipt(
            info: info,
            droppedSegmentCount: dropped.segmentCount,
            droppedCheckpointCount: dropped.checkpointCount,
        )
    }

    /// Cancels the checkpoint and removes its files.
    package func abandon() throws(LogError) {
        file.close()
        try CheckpointFolders.remove(partial, in: storage)
    }

    /// Syncs the last segment, so that a visible checkpoint proves its records durable whatever the
    /// sync policy: a log that ends before a checkpoint is then damaged for certain. All other
    /// segments were synced when the next one began.
    private func syncLog() throws(LogError) {
        guard let last = try FolderLayout.segments(in: storage).last else { return }
        guard let segment = try storage.open(FolderLayout.segment(last)) else { return }
        try segment.sync()
        segment.close()
    }
}

/// The outcome of a checkpoint.
package struct CheckpointReceipt: Sendable, Equatable {
    /// The checkpoint on the disk.
    package let info: CheckpointInfo
    /// Segments removed because the older kept checkpoint covers them.
    package let droppedSegmentCount: Int
    /// Checkpoints removed because two newer ones are there.
    package let droppedCheckpointCount: Int
}

/// Keeps two checkpoints, and the segments that the older of them needs.
enum CheckpointFolders {
    /// Removes older checkpoints, then covered segments. A crash may lose each removal on its own:
    /// leftovers are not read, and are removed the next time.
    static func dropSuperfluous(
        in storage: any LogStorage
    ) throws(LogError) -> (segmentCount: Int, checkpointCount: Int) {
        let positions = try FolderLayout.checkpoints(in: storage)
        let superfluous = positions.dropLast(LogLimits.checkpointCount)
        for position in superfluous {
            // Renamed first, and durably: half a folder under its own name would pass for damage.
            let dropped = FolderLayout.checkpoint(position, FolderLayout.droppedSuffix)
            try remove(dropped, in: storage)
            try storage.rename(FolderLayout.checkpoint(position), to: dropped)
        }
        if !superfluous.isEmpty { try storage.syncFolder(FolderLayout.checkpoints) }
        for position in superfluous {
            try remove(FolderLayout.checkpoint(position, FolderLayout.droppedSuffix), in: storage)
        }
        let kept = positions.suffix(LogLimits.checkpointCount)
        guard kept.count == LogLimits.checkpointCount, let oldest = kept.first else {
            return (0, superfluous.count)
        }
        let segments = try FolderLayout.segments(in: storage)
        let covered = zip(segments, segments.dropFirst()).filter { $1 <= oldest.next }.map(\.0)
        for first in covered { try storage.remove(FolderLayout.segment(first)) }
        if !covered.isEmpty { try storage.syncFolder(FolderLayout.log) }
        return (covered.count, superfluous.count)
    }

    /// Removes a checkpoint's folder with everything in it; nothing happens without one.
    static func remove(_ folder: String, in storage: any LogStorage) throws(LogError) {
        guard try storage.hasFolder(folder) else { return }
        for name in try storage.list(folder) { try storage.remove("\(folder)/\(name)") }
        try storage.remove(folder)
    }

    /// Removes what crashes left half written or half removed; returns the names.
    static func removeLeftovers(in storage: any LogStorage) throws(LogError) -> [String] {
        let suffixes = [FolderLayout.partialSuffix, FolderLayout.droppedSuffix]
        let names = try storage.list(FolderLayout.checkpoints)
            .filter { name in suffixes.contains { name.hasSuffix($0) } }
            .map { "\(FolderLayout.checkpoints)/\($0)" }
        // The run before may have ended before the name of one on its way out was durable, and its files still would go.
        if !names.isEmpty { try storage.syncFolder(FolderLayout.checkpoints) }
        for name in names { try remove(name, in: storage) }
        return names
    }
}
