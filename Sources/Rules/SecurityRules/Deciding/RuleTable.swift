import JSONTree
import Queries

/// All rules of a ruleset as rows that refer to each other by index, so that a walk counts no references.
///
/// Immutable.
final class RuleTable: Sendable {
    struct RuleIndex: Sendable {
        fileprivate let number: Int32
    }

    struct RowIndex: Sendable {
        fileprivate let number: Int32
    }

    /// A row: the rules for one location of the tree.
    struct Row: Sendable {
        let read: RuleIndex?
        let write: RuleIndex?
        let validate: RuleIndex?
        /// Named children: a range of the table's literals, in key order.
        let literals: Range<Int32>
        /// The child for every other key.
        let wildcard: RowIndex?
        /// Whether a `.validate` stands below the wildcard.
        let wildcardValidates: Bool
        /// Whether a `.validate` stands anywhere below.
        let validatesBelow: Bool

        /// Whether a `.validate` stands here or anywhere below; a write skips rows without one.
        var validatesHereOrBelow: Bool { validatesBelow || validate != nil }
    }

    /// The rules for the root.
    let top: Row

    /// Every rule, in no particular order.
    let rules: [Rule]
    private let rows: [Row]
    /// By row, the declarations of `.indexOn`.
    private let indexes: [[QuerySpec.Index]]
    /// By literal, its key, borrowed from `keys`, and its row.
    private let literalKeys: [BorrowedNode]
    private let literalRows: [RowIndex]
    private let keys: [Node]

    init(_ top: RuleNode) {
        var builder = RuleTableBuilder()
        let index = builder.addNode(top)
        rules = builder.rules
        rows = builder.rows
        indexes = builder.indexes
        keys = builder.keys
        literalKeys = builder.keys.map { BorrowedNode($0) }
        literalRows = builder.literalRows
        self.top = builder.rows[Int(index.number)]
    }

    subscript(index: RuleIndex) -> Rule { rules[Int(index.number)] }

    /// The rules for a child: a name beats the wildcard, without backtracking.
    func child(of row: Row, _ key: Bytes) -> Row? { rowIndex(row, key).map { self[$0] } }

    /// The rules for every child key without a row of its own.
    func wildcardChild(of row: Row) -> Row? { row.wildcard.map { self[$0] } }

    /// Some `.validate` at or below a row that has one.
    func anyValidation(from start: Row) -> Rule? {
        var row = start
        while row.validatesHereOrBelow {
            if let index = row.validate { return self[index] }
            let children =
                row.literals.map { literal($0).row }
                + [wildcardChild(of: row)].compactMap(\.self)
            guard let next = children.first(where: \.validatesHereOrBelow) else { return nil }
            row = next
        }
        return nil
    }

    /// The key of one of a row's `literals`, and its rules.
    func literal(_ index: Int32) -> (key: Bytes, row: Row) {
        (literalKeys[Int(index)].text, self[literalRows[Int(index)]])
    }

    /// The `.indexOn` declarations for the children of a location; empty when there are none.
    func indexes(at path: Path) -> [QuerySpec.Index] {
        var index = RowIndex(number: Int32(rows.count - 1))
        for depth in 0..<path.keyCount {
            guard let next = path.withKey(at: depth, { rowIndex(self[index], $0) }) else {
                return []
            }
            index = next
        }
        return indexes[Int(index.number)]
    }

    private subscript(index: RowIndex) -> Row { rows[Int(index.number)] }

    private func rowIndex(_ row: Row, _ key: Bytes) -> RowIndex? {
        if row.literals.count <= 4 {
            for literal in row.literals where literalKeys[Int(literal)].text == key {
                return literalRows[Int(literal)]
            }
            return row.wildcard
        }
        var low = row.literals.lowerBound
        var high = row.literals.upperBound
        while low < high {
            let middle = (low + high) / 2
            let order = Key.compare(literalKeys[Int(middle)].text, key)
            if order == 0 { return literalRows[Int(middle)] }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return row.wildcard
    }
}

/// A table under construction. Children come before their parents, so the root is the last row.
private struct RuleTableBuilder {
    var rules: [Rule] = []
    var rows: [RuleTable.Row] = []
    var indexes: [[QuerySpec.Index]] = []
    var keys: [Node] = []
    var literalRows: [RuleTable.RowIndex] = []

    /// Adds the rules of a location and of all below it. Recursion is bounded by the nesting of the text.
    mutating func addNode(_ node: RuleNode) -> RuleTable.RowIndex {
        let children = node.literals.map { addNode($0.node) }
        let wildcard = node.wildcard.map { addNode($0) }
        let first = Int32(keys.count)
        keys += node.literals.map { literal in literal.key.withBytes { Node(text: $0) } }
        literalRows += children
        let wildcardValidates = wildcard.map(validates) ?? false
        let row = RuleTable.Row(
            read: addRule(node.rules[.read]),
            write: addRule(node.rules[.write]),
            validate: addRule(node.rules[.validate]),
            literals: first..<Int32(keys.count),
            wildcard: wildcard,
            wildcardValidates: wildcardValidates,
            validatesBelow: wildcardValidates || children.contains(where: validates)
        )
        rows.append(row)
        indexes.append(node.indexes)
        return RuleTable.RowIndex(number: Int32(rows.count - 1))
    }

    private func validates(_ index: RuleTable.RowIndex) -> Bool {
        rows[Int(index.number)].validatesHereOrBelow
    }

    private mutating func addRule(_ rule: Rule?) -> RuleTable.RuleIndex? {
        guard let rule else { return nil }
        rules.append(rule)
        return RuleTable.RuleIndex(number: Int32(rules.count - 1))
    }
}
