import SecurityRules

/// Lints of rules about queries.
extension Lint {
    static let queryLints = [missingIndex, limitWithoutOrder]

    /// A comparison of `query.orderByChild` with a literal, or `query.orderByValue`, in a rule of a node that has no such
    /// `.indexOn`, nor has any node below it.
    private static let missingIndex = Lint(
        code: .missingIndex,
        summary: "A rule asks for an order that has no index.",
        reason: """
            A query that the rule admits is sorted without an index: clients get a warning or a refusal, REST requests an error, and the \
            server works through the whole list each time.
            """,
        wrong: """
            /posts .read auth != null && query.orderByChild == 'owner' && query.equalTo == auth.uid
            """,
        right: """
            /posts .indexOn ["owner"]
            /posts .read auth != null && query.orderByChild == 'owner' && query.equalTo == auth.uid
            """,
        find: partsOfEachRule { rule in
            if rule.kind != .read { return [Finding]() }
            let declared = ([rule.node] + rule.node.descendants).flatMap(\.indexes)
            return rule.findings(rule.facts) { atom in
                guard let order = orderAsked(by: atom), !declared.contains(order) else {
                    return nil
                }
                return rule.finding(
                    at: atom.expression,
                    "'\(rule.node.path)' has no index on '\(order)', so every such query sorts the whole list or is refused.",
                    "Add \".indexOn\": [\"\(order)\"] beside this rule."
                )
            }
        }
    )

    /// The `.indexOn` that the queries of an atom need; nil when it is not about queries.
    private static func orderAsked(by atom: RuleFlow.Atom) -> String? {
        switch atom.expression.kind {
        case .member(let base, "orderByValue", _) where atom.outcome && base.isQuery:
            return ".value"
        case .binary(let symbol, let left, let right):
            guard symbol == (atom.outcome ? .equal : .notEqual) else { return nil }
            for (side, other) in [(left, right), (right, left)] {
                guard case .member(let base, "orderByChild", _) = side.kind, base.isQuery,
                    case .string(let path)? = Literal(other)
                else { continue }
                return path.split(separator: "/").joined(separator: "/")
            }
            return nil
        default: return nil
        }
    }

    /// A comparison with a `query.limitTo...` in a rule that names no order.
    private static let limitWithoutOrder = Lint(
        code: .limitWithoutOrder,
        summary: "A rule bounds how many children a query takes but not by which order.",
        reason: """
            Without a word on the order, a caller may ask for the first few by any child: that needs no index, so the server sorts the whole list \
            each time, and the caller learns the extremes of every field.
            """,
        wrong: "/scores .read query.limitToLast <= 10",
        right: """
            /scores .indexOn ["points"]
            /scores .read query.orderByChild == 'points' && query.limitToLast <= 10
            """,
        find: eachRule { rule in
            func uses(_ prefix: String, _ piece: Expression) -> Bool {
                guard case .member(let base, let name, _) = piece.kind else { return false }
                return base.isQuery && name.hasPrefix(prefix)
            }
            guard rule.kind == .read, !rule.expression.contains(where: { uses("orderBy", $0) })
            else { return nil }
            return rule.expression.pieces.first { uses("limitTo", $0) }.map {
                rule.finding(
                    at: $0,
                    "Callers choose the order: the server sorts the whole list for any field they name.",
                    "Name the order: query.orderByKey, or query.orderByChild == 'x' with an .indexOn."
                )
            }
        }
    )
}
