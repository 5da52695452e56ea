package import JSONTree

extension Ruleset {
    /// The first rule of a kind below a location that could grant: one that is not just `false`. Names come before the
    /// wildcard, nearer rules before deeper ones of the same child.
    package func firstRule(_ kind: RuleKind, below path: Path) -> Rule? {
        var row = table.top
        for depth in 0..<path.keyCount {
            guard let next = path.withKey(at: depth, { table.child(of: row, $0) }) else {
                return nil
            }
            row = next
        }
        return table.firstRule(kind, belowRow: row)
    }

    /// Whether there is a rule of a kind at a location or above it, with any content.
    package func hasRule(_ kind: RuleKind, along path: Path) -> Bool {
        var row = table.top
        for depth in 0...path.keyCount {
            if table.rule(kind, of: row) != nil { return true }
            guard depth < path.keyCount,
                let next = path.withKey(at: depth, { table.child(of: row, $0) })
            else { return false }
            row = next
        }
        return false
    }
}

extension RuleTable {
    fileprivate func rule(_ kind: RuleKind, of row: Row) -> Rule? {
        let index =
            switch kind {
            case .read: row.read
            case .write: row.write
            case .validate: row.validate
            }
        return index.map { self[$0] }
    }

    /// Recursion is bounded by the nesting of the text.
    fileprivate func firstRule(_ kind: RuleKind, belowRow row: Row) -> Rule? {
        let children =
            row.literals.map { literal($0).row } + [wildcardChild(of: row)].compactMap(\.self)
        for child in children {
            if let rule = rule(kind, of: child), !rule.isFalse { return rule }
            if let rule = firstRule(kind, belowRow: child) { return rule }
        }
        return nil
    }
}

extension Rule {
    fileprivate var isFalse: Bool {
        if case .constant(false) = body { true } else { false }
    }
}
