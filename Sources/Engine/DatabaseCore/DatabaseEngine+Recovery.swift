package import JSONTree
import Queries

/// Before the first client, the state comes back from checkpoint and log.
extension DatabaseEngine {
    /// Puts one database back as a checkpoint has it.
    package func restore(_ snapshot: DatabaseSnapshot) throws(CommitDecodingError) {
        try recovering(snapshot.database).restore(snapshot)
    }

    /// Applies one commit of the log; those that the checkpoint already holds are passed over.
    package func apply(_ record: CommitRecord) throws(CommitDecodingError) {
        try recovering(record.database).apply(record)
    }

    /// Passes over commits that a salvage left out: the next one of the log follows `number`.
    package func skip(_ database: DatabaseID, through number: CommitNumber) {
        recovering(database).skip(through: number)
    }

    /// Ends recovery: the on-disconnect writes of sessions that died with the last process, or with the owner of the group
    /// that this node followed, run now.
    package func recovered(now: Timestamp, effects: inout [Effect]) {
        inStep(at: now, &effects) { step in
            endFollowing(&step)
            for database in sortedDatabases {
                database.recovered()
                database.renewShadow(now: now)
                for session in database.disconnects.keys.sorted() {
                    runOnDisconnect(session, in: database, &step)
                }
            }
        }
    }

    /// Every database that holds anything, reserved ones too, in order of names, as of now.
    package func snapshots() -> [DatabaseSnapshot] {
        sortedDatabases.filter { $0.number > .zero }.map(\.snapshot)
    }

    /// The same without reserved ones: what may be shown and exported.
    package func shownSnapshots() -> [DatabaseSnapshot] {
        snapshots().filter { !isReserved($0.database) }
    }

    /// A summary of each database that is not reserved, for people and metrics.
    package func summaries() -> [DatabaseSummary] {
        sortedDatabases.filter { !isReserved($0.id) }.map { database in
            DatabaseSummary(
                database: database.id,
                number: database.number,
                listenCount: database.listens.count,
                viewCount: database.viewCount,
                indexCount: database.indexes.count,
                indexEntryCount: database.indexes.values.reduce(0) {
                    $0 + ($1.ready?.entryCount ?? 0)
                },
                ownRules: database.ownRules == nil ? nil : database.rulesVersions.last,
                shadow: database.shadow?.report.totals ?? ShadowTotals(),
                refusalCounts: database.refusalCounts,
            )
        }
    }

    /// A database found on disk exists, whatever the configuration names.
    func recovering(_ id: DatabaseID) -> Database {
        if let database = databases[id] { return database }
        let database = makeDatabase(id)
        databases[id] = database
        return database
    }
}

/// One line about a database.
package struct DatabaseSummary: Sendable {
    package let database: DatabaseID
    package let number: CommitNumber
    package let listenCount: Int
    /// Different listens: path, query and encoding.
    package let viewCount: Int
    package let indexCount: Int
    package let indexEntryCount: Int
    /// The version of its own rules that is in force; nil when it has none.
    package let ownRules: RulesVersion?
    /// The totals of the shadow rules, if there are any.
    package let shadow: ShadowTotals
    /// How often the rules have refused what.
    package let refusalCounts: [DecisionRecord.Operation: Int]
}
