import JSONTree
import Queries

/// All rules of a ruleset in the form in which they are walked: plain values that name each other by
/// their places, so that a walk counts no references.
///
/// Immutable.
final class RuleTable: Sendable {
    /// The place of a rule in its table.
    struct RuleIndex: Sendable {
        fileprivate let number: Int32
    }

    /// The place of a spot in its table.
    struct SpotIndex: Sendable {
        fileprivate let number: Int32
    }

    /// The rules for one place of the tree.
    struct Spot: Sendable {
        let read: RuleIndex?
        let write: RuleIndex?
        let validate: RuleIndex?
        /// Children with a name: which of the table's literals, in key order.
        let literals: Range<Int32>
        /// The child for every other key.
        let wildcard: SpotIndex?
        /// Whether a `.validate` stands below the wildcard.
        let wildcardValidates: Bool
        /// Whether a `.validate` stands anywhere below.
        let validatesBelow: Bool

        /// Whether a `.validate` stands here or anywhere below; a write skips what has none.
        var validatesHereOrBelow: Bool { validatesBelow || validate != nil }
    }

    /// The rules for the root.
    let top: Spot

    /// Every rule, in no order that means anything.
    let rules: [Rule]
    private let spots: [Spot]
    /// By spot, what `.indexOn` declares.
    private let indexes: [[QuerySpec.Index]]
    /// By literal, its key, lent from `keys`, and its spot.
    private let literalKeys: [LentNode]
    private let literalSpots: [SpotIndex]
    private let keys: [Node]

    init(_ top: RuleNode) {
        var builder = RuleTableBuilder()
        let index = builder.add(top)
        rules = builder.rules
        spots = builder.spots
        indexes = builder.indexes
        keys = builder.keys
        literalKeys = builder.keys.map { LentNode($0) }
        literalSpots = builder.literalSpots
        self.top = builder.spots[Int(index.number)]
    }

    /// The rule at an index of this table.
    subscript(index: RuleIndex) -> Rule { rules[Int(index.number)] }

    /// The rules for a child: a name beats the wildcard, and there is no way back.
    func child(of spot: Spot, _ key: Bytes) -> Spot? { spotIndex(spot, key).map { self[$0] } }

    /// The rules for every key of a place that has no name of its own.
    func wildcardChild(of spot: Spot) -> Spot? { spot.wildcard.map { self[$0] } }

    /// Some `.validate` at or below a spot that has one.
    func anyValidation(from start: Spot) -> Rule? {
        var spot = start
        while spot.validatesHereOrBelow {
            if let index = spot.validate { return self[index] }
            let children =
                spot.literals.map { literal($0).spot }
                + [wildcardChild(of: spot)].compactMap(\.self)
            guard let next = children.first(where: \.validatesHereOrBelow) else { return nil }
            spot = next
        }
        return nil
    }

    /// The key of one of the `literals` of a spot, and its rules.
    func literal(_ index: Int32) -> (key: Bytes, spot: Spot) {
        (literalKeys[Int(index)].text, self[literalSpots[Int(index)]])
    }

    /// The `.indexOn` declarations for the children of a place; empty when there are none.
    func indexes(at path: Path) -> [QuerySpec.Index] {
        var index = SpotIndex(number: Int32(spots.count - 1))
        for depth in 0..<path.keyCount {
            guard let next = path.withKey(at: depth, { spotIndex(self[index], $0) }) else {
                return []
            }
            index = next
        }
        return indexes[Int(index.number)]
    }

    private subscript(index: SpotIndex) -> Spot { spots[Int(index.number)] }

    private func spotIndex(_ spot: Spot, _ key: Bytes) -> SpotIndex? {
        if spot.literals.count <= 4 {
            for literal in spot.literals where literalKeys[Int(literal)].text == key {
                return literalSpots[Int(literal)]
            }
            return spot.wildcard
        }
        var low = spot.literals.lowerBound
        var high = spot.literals.upperBound
        while low < high {
            let middle = (low + high) / 2
            let order = Key.compare(literalKeys[Int(middle)].text, key)
            if order == 0 { return literalSpots[Int(middle)] }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return spot.wildcard
    }
}

/// A table under construction. Children come before their parents, so the root is the last spot.
private struct RuleTableBuilder {
    var rules: [Rule] = []
    var spots: [RuleTable.Spot] = []
    var indexes: [[QuerySpec.Index]] = []
    var keys: [Node] = []
    var literalSpots: [RuleTable.SpotIndex] = []

    /// Adds the rules of a place and of all below it. Recursion is bounded by the nesting of the text.
    mutating func add(_ node: RuleNode) -> RuleTable.SpotIndex {
        let children = node.literals.map { add($0.node) }
        let wildcard = node.wildcard.map { add($0) }
        let first = Int32(keys.count)
        keys += node.literals.map { literal in literal.key.withBytes { Node(text: $0) } }
        literalSpots += children
        let wildcardValidates = wildcard.map(validates) ?? false
        let spot = RuleTable.Spot(
            read: add(node.read),
            write: add(node.write),
            validate: add(node.validate),
            literals: first..<Int32(keys.count),
            wildcard: wildcard,
            wildcardValidates: wildcardValidates,
            validatesBelow: wildcardValidates || children.contains(where: validates)
        )
        spots.append(spot)
        indexes.append(node.indexes)
        return RuleTable.SpotIndex(number: Int32(spots.count - 1))
    }

    private func validates(_ index: RuleTable.SpotIndex) -> Bool {
        spots[Int(index.number)].validatesHereOrBelow
    }

    private mutating func add(_ rule: Rule?) -> RuleTable.RuleIndex? {
        guard let rule else { return nil }
        rules.append(rule)
        return RuleTable.RuleIndex(number: Int32(rules.count - 1))
    }
}
