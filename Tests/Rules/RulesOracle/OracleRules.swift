import TestSupport
/// A rule tree as the oracle holds it.
final class OracleRules {
    enum Kind: String, CaseIterable {
        case read, write, validate
    }

    /// As it is declared, such as `/a/$k`.
    let declaration: String
    var rules: [Kind: OracleExpression] = [:]
    var literals: [(key: String, rules: OracleRules)] = []
    /// With its `$`.
    var wildcard: (name: String, rules: OracleRules)?

    init(declaration: String) {
        self.declaration = declaration
    }

    /// A literal beats the wildcard, and there is no way back.
    func child(_ key: String) -> (rules: OracleRules, capture: String?)? {
        if let literal = literals.first(where: { $0.key == key }) { return (literal.rules, nil) }
        return wildcard.map { ($0.rules, $0.name) }
    }

    /// The rules file.
    func text(_ printer: inout OraclePrinter) -> String {
        let gaps = (printer.gap(), printer.gap(), printer.gap())
        return "\(gaps.0){\"rules\"\(gaps.1):\(node(&printer))}\(gaps.2)"
    }

    private func node(_ printer: inout OraclePrinter) -> String {
        var members: [String] = []
        for kind in Kind.allCases {
            guard let rule = rules[kind] else { continue }
            var text = printer.fileString(printer.text(rule))
            if case .boolean(let value) = rule, printer.random.index(2) == 0 { text = "\(value)" }
            members.append("\(printer.gap())\".\(kind.rawValue)\"\(printer.gap()):\(text)")
        }
        for (key, rules) in literals {
            members.append("\(printer.fileString(key)):\(printer.gap())\(rules.node(&printer))")
        }
        if let wildcard {
            members.append("\"\(wildcard.name)\":\(wildcard.rules.node(&printer))\(printer.gap())")
        }
        members.shuffle(using: &printer.random)
        return "{\(members.joined(separator: ","))}"
    }
}

/// One request of the oracle's world.
struct OracleRequest {
    enum Operation {
        case read
        /// One for a put, any number for an update.
        case write([OracleEntry], base: [String], isUpdate: Bool)
    }

    let operation: Operation
    let path: [String]
    /// Nil when signed out.
    let auth: OracleNode?
    let now: Double
    let query: OracleQuery?
    let plainReadsOrderByKey: Bool
}

/// One place that a write sets.
struct OracleEntry {
    let path: [String]
    let isPriority: Bool
    let draft: OracleDraft
}

/// What a rule came to.
enum OracleResult: String {
    case holds, fails, aborts
}

/// One rule that was consulted.
struct OracleOutcome: Equatable {
    let entry: Int
    let kind: String
    let declaration: String
    let place: [String]
    let result: OracleResult
}

/// The oracle's decision.
struct OracleDecision {
    var isAllowed: Bool
    var deciding: OracleOutcome?
    var deniedEntry: Int?
    var trace: [OracleOutcome] = []
    /// What a write would make of the tree.
    var newRoot: OracleNode?
}

/// Decides requests: security-rules.md 3 to 6, sentence by sentence.
struct OracleAuthorizer {
    let rules: OracleRules
    let root: OracleNode
    let request: OracleRequest
    private(set) var tally = OracleTally()
    private var newRoot: OracleNode?
    private var trace: [OracleOutcome] = []
    /// By kind and place, what was consulted before for another entry.
    private var known: [String: OracleOutcome] = [:]

    init(rules: OracleRules, root: OracleNode, request: OracleRequest) {
        self.rules = rules
        self.root = root
        self.request = request
    }

    mutating func decision() -> OracleDecision {
        var decision: OracleDecision
        switch request.operation {
        case .read:
            let grant = grant(.read, at: request.path, entry: 0)
            decision = OracleDecision(isAllowed: grant != nil, deciding: grant)
        case .write(let entries, _, _):
            newRoot = merged(entries)
            decision = decide(entries)
        }
        decision.trace = trace
        decision.newRoot = newRoot
        return decision
    }

    // MARK: Writes

    /// One tree of all entries: what is set, then what is removed, then what is only a priority.
    private func merged(_ entries: [OracleEntry]) -> OracleNode {
        let writes = entries.map { entry -> (OracleEntry, OracleNode) in
            var old = root.at(entry.path)
            if entry.isPriority { old = OracleNode(value: old.priority) }
            return (entry, entry.draft.resolved(old: old, now: request.now))
        }
        var tree = root
        for (entry, node) in writes where !entry.isPriority && !node.isAbsent {
            tree.set(node, at: entry.path[...])
        }
        for (entry, node) in writes where !entry.isPriority && node.isAbsent {
            tree.set(node, at: entry.path[...])
        }
        for (entry, node) in writes where entry.isPriority {
            tree.setPriority(node.value, at: entry.path[...])
        }
        return tree
    }

    /// Entries in path order; a node before its priority.
    private mutating func decide(_ entries: [OracleEntry]) -> OracleDecision {
        let order = entries.indices.sorted { comesBefore(entries[$0], entries[$1]) }
        var deciding: OracleOutcome?
        for index in order {
            let entry = entries[index]
            guard let grant = grant(.write, at: entry.path, entry: index) else {
                return OracleDecision(isAllowed: false, deniedEntry: index)
            }
            deciding = deciding ?? grant
            if let failed = invalid(entry, index) {
                return OracleDecision(isAllowed: false, deciding: failed, deniedEntry: index)
            }
        }
        return OracleDecision(isAllowed: true, deciding: deciding)
    }

    private func comesBefore(_ a: OracleEntry, _ b: OracleEntry) -> Bool {
        for (x, y) in zip(a.path, b.path) where x != y { return OracleNode.comesBefore(x, y) }
        if a.path.count != b.path.count { return a.path.count < b.path.count }
        return !a.isPriority && b.isPriority
    }

    /// The first `.validate` that does not hold: along the path, then below it.
    private mutating func invalid(_ entry: OracleEntry, _ index: Int) -> OracleOutcome? {
        var rows = matches(of: entry.path)
        for (depth, row) in rows.enumerated() {
            let failed = invalid(row, Array(entry.path.prefix(depth)), index)
            if failed != nil { return failed }
        }
        guard rows.count == entry.path.count + 1, !entry.isPriority else { return nil }
        return invalidBelow(rows.removeLast(), entry.path, index)
    }

    private mutating func invalidBelow(
        _ row: Row,
        _ place: [String],
        _ entry: Int
    ) -> OracleOutcome? {
        for key in newRoot?.at(place).sortedKeys ?? [] {
            guard let next = child(row, key) else { continue }
            let failed =
                invalid(next, place + [key], entry) ?? invalidBelow(next, place + [key], entry)
            if failed != nil { return failed }
        }
        return nil
    }

    private mutating func invalid(_ row: Row, _ place: [String], _ entry: Int) -> OracleOutcome? {
        if newRoot?.at(place).isAbsent ?? true { return nil }
        let outcome = consult(.validate, row, place, entry)
        return outcome?.result == .holds ? nil : outcome
    }

    // MARK: Walks

    private struct Row {
        let rules: OracleRules
        let captures: [String: String]
    }

    private func child(_ row: Row, _ key: String) -> Row? {
        guard let (rules, name) = row.rules.child(key) else { return nil }
        var captures = row.captures
        if let name { captures[name] = key }
        return Row(rules: rules, captures: captures)
    }

    /// The rules along a path, from the root as far down as there are any.
    private func matches(of path: [String]) -> [Row] {
        var rows = [Row(rules: rules, captures: [:])]
        for key in path {
            guard let next = child(rows[rows.count - 1], key) else { break }
            rows.append(next)
        }
        return rows
    }

    /// The first rule along the path that holds.
    private mutating func grant(
        _ kind: OracleRules.Kind,
        at path: [String],
        entry: Int
    ) -> OracleOutcome? {
        for (depth, row) in matches(of: path).enumerated() {
            let outcome = consult(kind, row, Array(path.prefix(depth)), entry)
            if let outcome, outcome.result == .holds { return outcome }
        }
        return nil
    }

    private mutating func consult(
        _ kind: OracleRules.Kind,
        _ row: Row,
        _ place: [String],
        _ entry: Int
    ) -> OracleOutcome? {
        guard let rule = row.rules.rules[kind] else { return nil }
        let name = kind.rawValue + ":" + place.joined(separator: "/")
        if let outcome = known[name] { return outcome }
        var evaluation = OracleEvaluation(
            request: request,
            oldRoot: root,
            newRoot: newRoot,
            place: place,
            captures: row.captures
        )
        let result: OracleResult
        do throws(OracleAbort) {
            result = try evaluation.holds(rule) ? .holds : .fails
        } catch {
            result = .aborts
        }
        tally.add(evaluation.tally)
        let outcome = OracleOutcome(
            entry: entry,
            kind: kind.rawValue,
            declaration: row.rules.declaration,
            place: place,
            result: result
        )
        trace.append(outcome)
        known[name] = outcome
        return outcome
    }
}
