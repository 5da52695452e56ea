package import SecurityRules

/// How the server was told to behave.
package struct EnginePolicy: Sendable {
    /// Databases that exist from the start, whether or not they hold anything.
    package var databases: [DatabaseID]
    /// Databases of the server's own: no client can name them, and no list does.
    package var reserved: [DatabaseID]
    /// Whether naming an unknown database makes it (`--dev`).
    package var createsDatabases: Bool
    /// The rules of databases that have none of their own.
    package var defaultRules: Ruleset
    /// Rules that name single databases; they stand in for the default ones there.
    package var rulesByDatabase: [DatabaseID: Ruleset]
    /// Whether live listens are judged again when data that their rule looked at changes.
    package var rechecksOnData: Bool
    /// Which decisions of the rules are told, at the start.
    package var inspection: InspectionLevel
    /// Whether clients are told why the rules refuse them (`--dev`), while refusals are inspected.
    package var explainsRefusals: Bool
    /// Bytes of one commit; a larger one is refused.
    package var commitByteCount: Int
    /// Bytes of the commits that only remove data and are taken while the disk is low.
    package var removalByteCount = Limits.removalByteCount
    /// Children of the largest node whose index is built within the step that needs it.
    package var childrenIndexedAtOnce: Int
    /// Nodes of the largest value that is hashed or compared within the step that needs it.
    package var nodesHashedAtOnce: Int
    /// Paths and server values of the largest write that is decided within the step that brings it.
    package var pathsDecidedAtOnce: Int

    package init(
        databases: [DatabaseID],
        reserved: [DatabaseID] = [],
        createsDatabases: Bool,
        defaultRules: Ruleset,
        rulesByDatabase: [DatabaseID: Ruleset] = [:],
        rechecksOnData: Bool = true,
        inspection: InspectionLevel = .off,
        explainsRefusals: Bool = false,
        commitByteCount: Int = Limits.commitByteCount,
        childrenIndexedAtOnce: Int = Limits.childrenIndexedAtOnce,
        nodesHashedAtOnce: Int = Limits.nodesHashedAtOnce,
        pathsDecidedAtOnce: Int = Limits.pathsDecidedAtOnce,
    ) {
        self.databases = databases
        self.reserved = reserved
        self.createsDatabases = createsDatabases
        self.defaultRules = defaultRules
        self.rulesByDatabase = rulesByDatabase
        self.rechecksOnData = rechecksOnData
        self.inspection = inspection
        self.explainsRefusals = explainsRefusals
        self.commitByteCount = commitByteCount
        self.childrenIndexedAtOnce = childrenIndexedAtOnce
        self.nodesHashedAtOnce = nodesHashedAtOnce
        self.pathsDecidedAtOnce = pathsDecidedAtOnce
    }
}
