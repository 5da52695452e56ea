package import DatabaseCore
package import WriteAheadLog

/// Finds out which databases a data folder holds, and which rules of their own they have: from what a
/// recovery reads, without their data.
package final class RulesReader {
    private var found: [DatabaseID: OwnRules] = [:]
    /// nil without a checkpoint.
    private var decoder: CheckpointDecoder?

    /// The version of its own rules that is in force in each database, nil where it has none, by the databases' names.
    ///
    /// Takes no lock and changes nothing. Reads the checkpoint without its data, and the whole log
    /// after it. Throws: as `LogLook.run`.
    package static func read(
        _ storage: any LogStorage
    ) throws(LogError) -> [(database: DatabaseID, version: RulesVersion?)] {
        let reader = RulesReader()
        try LogLook.run(storage, needs: reader.needs, reader.take)
        return reader.found.sorted { $0.key < $1.key }
            .map { ($0.key, $0.value.inForce) }
    }

    private func needs(_ start: UnsafeRawBufferPointer, byteCount: Int) -> Bool {
        decoder?.needs(Array(start), byteCount: byteCount) ?? false
    }

    private func take(_ step: RecoveryStep) throws(RecoveryRefusal) {
        do throws(CommitDecodingError) {
            switch step {
            case .checkpointBegan(let info):
                found = [:]
                decoder = info == nil ? nil : CheckpointDecoder(.passingOver)
            case .chunk(let chunk):
                // The decoder is not part of what the closure changes.
                var snapshots: [DatabaseSnapshot] = []
                try decoder?.feed(Array(chunk)) { snapshots.append($0) }
                for snapshot in snapshots { found[snapshot.database] = OwnRules(snapshot) }
            case .checkpointEnded: try decoder?.finish()
            case .skip: break
            case .record(let record):
                try found[DatabaseID(record.database.description), default: OwnRules()]
                    .apply(payload: Array(record.payload))
            }
        } catch {
            throw RecoveryRefusal(error)
        }
    }
}
