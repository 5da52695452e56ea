package import SecurityRules

/// How the engine is configured.
package struct EnginePolicy: Sendable {
    /// Databases that exist from the start, whether or not they hold anything.
    package var databases: [DatabaseID]
    /// Databases that the server keeps for itself: no client can name them, and no list shows them.
    package var reserved: [DatabaseID]
    /// Whether naming an unknown database makes it (`--dev`).
    package var createsDatabases: Bool
    /// The rules of databases that have none of their own.
    package var defaultRules: Ruleset
    /// Rules that name single databases; they replace the default ones there.
    package var rulesByDatabase: [DatabaseID: Ruleset]
    /// Whether live listens are authorized again when data that their rule looked at changes.
    package var rechecksOnData: Bool
    /// Which decisions of the rules are reported, at the start.
    package var inspection: InspectionLevel
    /// Whether clients get the reason when the rules refuse them (`--dev`), while refusals are inspected.
    package var explainsRefusals: Bool
    /// Bytes of the commits that only remove data, and of on-disconnect writes that run, while the disk is low.
    package var removalByteCount = Limits.removalByteCount
    /// What one step may take.
    package var bounds = Bounds()

    /// What is larger is refused, or done elsewhere.
    package struct Bounds: Sendable {
        /// Bytes of one commit; a larger one is refused.
        package var commitByteCount = Limits.commitByteCount
        /// Children of the largest node whose index is built within the step that needs it.
        package var childrenIndexedAtOnce = Limits.childrenIndexedAtOnce
        /// Children that a query selects within the step that asks for them.
        package var childrenSelectedAtOnce = Limits.childrenSelectedAtOnce
        /// Nodes of the largest value that is hashed or compared within the step that needs it.
        package var nodesHashedAtOnce = Limits.nodesHashedAtOnce
        /// Paths and server values of the largest write that is decided within the step that brings it.
        package var pathsDecidedAtOnce = Limits.pathsDecidedAtOnce
        /// Nodes of the largest write that is decided and made within the step that brings it.
        package var nodesDecidedAtOnce = Limits.nodesDecidedAtOnce
    }

    package init(
        databases: [DatabaseID],
        reserved: [DatabaseID] = [],
        createsDatabases: Bool,
        defaultRules: Ruleset,
        rulesByDatabase: [DatabaseID: Ruleset] = [:],
        rechecksOnData: Bool = true,
        inspection: InspectionLevel = .off,
        explainsRefusals: Bool = false,
    ) {
        self.databases = databases
        self.reserved = reserved
        self.createsDatabases = createsDatabases
        self.defaultRules = defaultRules
        self.rulesByDatabase = rulesByDatabase
        self.rechecksOnData = rechecksOnData
        self.inspection = inspection
        self.explainsRefusals = explainsRefusals
    }
}
