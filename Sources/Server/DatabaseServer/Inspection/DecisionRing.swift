import DatabaseCore
import JSONTree
import SecurityRules

/// The decision on a request, of a database or for a file, as it is kept and shown.
protocol KeptDecision: Sendable {
    associatedtype Rules: AnyObject, Sendable

    /// When it was decided.
    var time: Timestamp { get }
    /// The rules that decided it.
    var rules: Rules { get }
    /// Bytes of memory that it may hold on to beside them: at least its texts.
    var byteCount: Int { get }
    /// Bytes of the text of its rules.
    var rulesByteCount: Int { get }
    /// One line: `refused set /a/b by "ann" over rest`.
    var summary: String { get }
    /// Why, in some lines for people.
    var words: String { get }

    /// Whether it is asked for.
    func isWanted(by filter: RequestFilter) -> Bool

    /// One object of `/.inspect/requests.json`.
    func json(number: UInt64) -> JSONValue
}

/// The newest decisions on requests to one database.
typealias DecisionRing = KeptDecisions<DecisionRecord>

/// The newest decisions on requests of one kind.
///
/// Invariant: the numbers of what is kept follow on one another without a gap, and `byteCount` is the
/// sum of their `byteCount`s.
struct KeptDecisions<Record: KeptDecision>: Sendable {
    /// A record, and the memory that it may hold on to.
    private struct Entry {
        let record: Record
        let byteCount: Int
    }

    private var entries: [UInt64: Entry] = [:]
    /// Of the newest; they count up from 1.
    private(set) var lastNumber: UInt64 = 0
    private(set) var byteCount = 0
    private let countLimit: Int
    private let byteLimit: Int
    /// The rules of the newest.
    private var rules: Record.Rules?

    /// Decisions that are kept of one database.
    static var standardCountLimit: Int { 1_000 }
    /// Bytes that they may take, as `weight` counts them.
    static var standardByteLimit: Int { 8 << 20 }

    init(
        countLimit: Int = Self.standardCountLimit,
        byteLimit: Int = Self.standardByteLimit
    ) {
        self.countLimit = countLimit
        self.byteLimit = byteLimit
    }

    var count: Int { entries.count }

    /// Keeps a record, and drops the oldest ones that have no room beside it.
    mutating func add(_ record: Record) {
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
    func records(_ filter: RequestFilter) -> [(number: UInt64, record: Record)] {
        if let number = filter.number {
            return entries[number].map { [(number, $0.record)] } ?? []
        }
        var found: [(number: UInt64, record: Record)] = []
        var number = lastNumber
        while found.count < filter.limit, number > filter.after, let entry = entries[number] {
            if entry.record.isWanted(by: filter) { found.append((number, entry.record)) }
            number -= 1
        }
        return found
    }

    // MARK: - Sizes

    /// Bytes of memory that a record may hold on to.
    ///
    /// Rules that are in force no longer live on for those who show by them: they count for the first
    /// record under them, as many times their text as they are thought to take.
    private func weight(of record: Record) -> Int {
        record.byteCount + (record.rules === rules ? 0 : record.rulesByteCount * Self.rulesWeight)
    }

    private static var rulesWeight: Int { 8 }
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
