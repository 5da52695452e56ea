package import DatabaseCore
package import JSONTree
package import WriteAheadLog

/// The bytes of an archive of snapshots, from start to end, made piece by piece.
///
/// The content is that of a checkpoint: data, rules of its own, settings and on-disconnect writes of
/// every database. Pure; any thread may ask for the next piece. Memory: one piece.
package struct ArchivePieces: Sendable {
    private enum State { case header, content, trailer, end }

    private var content: CheckpointEncoder
    private var archive: ArchiveWriter
    private var state = State.header

    /// Begins an archive; `position` is the last record of the log whose effect the snapshots hold.
    package init(
        _ snapshots: [DatabaseSnapshot],
        at position: LogPosition,
        time: Timestamp,
        id: UInt64
    ) throws(LogError) {
        var heads: [LogHead] = []
        for snapshot in snapshots {
            let name = try LogDatabaseName(snapshot.database.name)
            heads.append(LogHead(database: name, commit: snapshot.number.value))
        }
        // An empty log has no position; 1 is the least that an archive can have.
        let header = ArchiveHeader(
            id: id,
            time: time.milliseconds,
            position: max(position, LogPosition.start.next),
        )
        archive = try ArchiveWriter(header, heads: heads)
        content = CheckpointEncoder(snapshots)
    }

    /// Appends the next bytes, about as many as asked for; false when there are no more after them.
    package mutating func next(into bytes: inout [UInt8], atLeast byteCount: Int) -> Bool {
        switch state {
        case .header:
            archive.appendHeader(to: &bytes)
            state = .content
        case .content:
            var payload: [UInt8] = []
            while payload.count < byteCount, content.next(into: &payload, atLeast: byteCount) {}
            if payload.isEmpty { state = .trailer }
            for start in stride(from: 0, to: payload.count, by: LogLimits.chunkByteCount) {
                let end = min(start + LogLimits.chunkByteCount, payload.count)
                archive.append(payload[start..<end], to: &bytes)
            }
        case .trailer:
            archive.appendTrailer(to: &bytes)
            state = .end
        case .end: break
        }
        return state != .end
    }
}
