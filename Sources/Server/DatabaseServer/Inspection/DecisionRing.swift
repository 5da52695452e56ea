import DatabaseCore
import JSONTree
import SecurityRules

/// The newest decisions on requests to one database.
///
/// Invariant: the numbers of what is kept follow on one another without a gap, and `byteCount` is the
/// sum of their `byteCount`s.
struct DecisionRing: Sendable {
    /// A record, and the memory that it may hold on to.
    private struct Entry {
        let record: DecisionRecord
        let byteCount: Int
    }

    private var entries: [UInt64: Entry] = [:]
    /// Of the newest; they count up from 1.
    private(set) var lastNumber: UInt64 = 0
    private(set) var byteCount = 0
    private let countLimit: Int
    private let byteLimit: Int
    /// The rules of the newest.
    private var rules: Ruleset?

    /// Decisions that are kept of one database.
    static let standardCountLimit = 1_000
    /// Bytes that they may take, as `weight` counts them.
    static let standardByteLimit = 8 << 20

    init(
        countLimit: Int = DecisionRing.standardCountLimit,
        byteLimit: Int = DecisionRing.standardByteLimit
    ) {
        self.countLimit = countLimit
        self.byteLimit = byteLimit
    }

    var count: Int { entries.count }

    /// Keeps a record, and drops the oldest ones that have no room beside it.
    mutating func add(_ record: DecisionRecord) {
        lastNumber += 1
        let entry = Entry(record: record, byteCount: weight(of: record))
        rules = record.rules
        entries[lastNumber] = entry
        byteCount += entry.byteCount
        while entries.count > countLimit || byteCount > byteLimit { dropOldest() }
    }

    /// Drops one, if there is any.
    mutating func dropOldest() {
        let oldest = lastNumber - UInt64(entries.count) + 1
        guard let entry = entries.removeValue(forKey: oldest) else { return }
        byteCount -= entry.byteCount
        if entries.isEmpty { rules = nil }
    }

    /// Drops all; numbers go on.
    mutating func removeAll() {
        entries = [:]
        byteCount = 0
        rules = nil
    }

    /// The records that a filter lets through, the newest first.
    func records(_ filter: RequestFilter) -> [(number: UInt64, record: DecisionRecord)] {
        if let number = filter.number {
            return entries[number].map { [(number, $0.record)] } ?? []
        }
        var found: [(number: UInt64, record: DecisionRecord)] = []
        var number = lastNumber
        while found.count < filter.limit, number > filter.after, let entry = entries[number] {
            if filter.accepts(entry.record) { found.append((number, entry.record)) }
            number -= 1
        }
        return found
    }

    // MARK: - Sizes

    /// Bytes of memory that a record may hold on to: at least its texts.
    ///
    /// Rules that are in force no longer live on for those who show by them: they count for the first
    /// record under them, as many times their text as they are thought to take.
    private func weight(of record: DecisionRecord) -> Int {
        var sum = 512 + record.target.path.wireByteCount + (record.explanation?.utf8.count ?? 0)
        for target in record.targets { sum += 32 + target.path.wireByteCount }
        if let auth = record.auth { sum += auth.value.encodingByteCount }
        if let query = record.query { sum += query.byteCount }
        for outcome in record.decision.trace { sum += outcome.heldByteCount }
        if record.rules !== rules { sum += record.rules.text.utf8.count * Self.rulesWeight }
        return sum
    }

    private static let rulesWeight = 8
}

/// What is kept of all databases.
struct DecisionRings {
    private var rings: [DatabaseID: DecisionRing] = [:]
    private(set) var byteCount = 0
    private let byteLimit: Int

    /// Bytes of the decisions of all databases.
    static let standardByteLimit = 64 << 20

    init(byteLimit: Int = DecisionRings.standardByteLimit) {
        self.byteLimit = byteLimit
    }

    subscript(database: DatabaseID) -> DecisionRing { rings[database] ?? DecisionRing() }

    /// Keeps a record; when all databases have too many, the one with the most loses its oldest.
    mutating func add(_ record: DecisionRecord, of database: DatabaseID) {
        change(database) { $0.add(record) }
        while byteCount > byteLimit,
            let fullest = rings.max(by: { $0.value.byteCount < $1.value.byteCount })
        {
            change(fullest.key) { $0.dropOldest() }
        }
    }

    mutating func removeAll(of database: DatabaseID) {
        change(database) { $0.removeAll() }
    }

    private mutating func change(_ database: DatabaseID, _ body: (inout DecisionRing) -> Void) {
        let before = rings[database]?.byteCount ?? 0
        body(&rings[database, default: DecisionRing()])
        byteCount += (rings[database]?.byteCount ?? 0) - before
    }
}
