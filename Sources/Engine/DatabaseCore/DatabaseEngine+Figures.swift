package import JSONTree
package import Queries

/// What one session is and does, for administrators.
package struct SessionFigures: Sendable {
    package let database: DatabaseID
    package let identity: Identity
    /// Listens and observers.
    package let listenCount: Int
    /// The first of them in order of registration.
    package let listens: [(path: Path, query: QuerySpec)]
    /// Messages that wait behind one that is not answered.
    package let parkedCount: Int
}

/// What one database holds and costs, for administrators.
package struct DatabaseFigures: Sendable {
    package let summary: DatabaseSummary
    /// Its tree, to be measured away from the loop.
    package let root: Node
    /// In order of their paths.
    package let indexes: [IndexFigures]

    /// What one index costs.
    package struct IndexFigures: Sendable {
        package let path: Path
        package let order: QuerySpec.Index
        /// Children in it; nil until it is built.
        package let entryCount: Int?
        /// Different listens that walk it.
        package let viewCount: Int
        /// Whether the rules declare it.
        package let isDeclared: Bool
    }
}

/// Looks at sessions and databases; changes nothing.
extension DatabaseEngine {
    /// What a connection's session is and does; nil when it has none.
    ///
    /// O(n log n) for n listens.
    package func figures(of connection: ConnectionID, listenLimit: Int) -> SessionFigures? {
        guard let session = sessions[connection] else { return nil }
        return SessionFigures(
            database: session.database.id,
            identity: session.identity,
            listenCount: session.listens.count,
            listens: session.sortedListens.prefix(listenLimit).map { ($0.path, $0.query) },
            parkedCount: session.parked.count
        )
    }

    /// Whose session a connection has, where; nil when it has none.
    package func owner(
        of connection: ConnectionID
    ) -> (database: DatabaseID, identity: Identity, listenCount: Int)? {
        sessions[connection].map { ($0.database.id, $0.identity, $0.listens.count) }
    }

    /// Whether a connection listens at a path of which `isMeant` is true. O(listens).
    package func listens(_ connection: ConnectionID, where isMeant: (Path) -> Bool) -> Bool {
        sessions[connection]?.listens.values.contains { isMeant($0.path) } ?? false
    }

    /// What each database holds and costs, but reserved ones, in order of names.
    package func databaseFigures() -> [DatabaseFigures] {
        summaries().map { summary in
            let database = databases[summary.database]
            let indexes = database?.indexes.values.map { kept in
                DatabaseFigures.IndexFigures(
                    path: kept.need.path,
                    order: kept.need.order,
                    entryCount: kept.ready?.entryCount,
                    viewCount: kept.viewCount,
                    isDeclared: kept.isDeclared
                )
            }
            return DatabaseFigures(
                summary: summary,
                root: root(of: summary.database),
                indexes: (indexes ?? []).sorted {
                    ($0.path.description, "\($0.order)") < ($1.path.description, "\($1.order)")
                }
            )
        }
    }
}
