import JSONTree

/// Where a rule stands.
struct RulePlace {
    /// Such as `/parties/$party`.
    let path: String
    let line: Int
    let column: Int
}

extension Ruleset {
    /// The first rule of a kind that stands below a place and could grant: one that is not just `false`.
    /// Names come before the wildcard, nearer rules before deeper ones of the same child.
    func firstRule(_ kind: RuleKind, below path: Path) -> RulePlace? {
        table.firstRule(kind, below: path).map {
            RulePlace(path: $0.path, line: $0.line, column: $0.column)
        }
    }
}

extension Ruleset {
    /// Whether a rule of a kind stands at a place or above it, whatever it says.
    func hasRule(_ kind: RuleKind, along path: Path) -> Bool {
        table.hasRule(kind, along: path)
    }
}

extension RuleTable {
    fileprivate func hasRule(_ kind: RuleKind, along path: Path) -> Bool {
        var spot = top
        for depth in 0...path.keyCount {
            if index(of: kind, spot) != nil { return true }
            guard depth < path.keyCount,
                let next = path.withKey(at: depth, { child(of: spot, $0) })
            else { return false }
            spot = next
        }
        return false
    }

    private func index(of kind: RuleKind, _ spot: Spot) -> RuleIndex? {
        switch kind {
        case .read: spot.read
        case .write: spot.write
        case .validate: spot.validate
        }
    }

    /// See `Ruleset.firstRule`. Recursion is bounded by the nesting of the text.
    fileprivate func firstRule(_ kind: RuleKind, below path: Path) -> Rule? {
        var spot = top
        for depth in 0..<path.keyCount {
            guard let next = path.withKey(at: depth, { child(of: spot, $0) }) else { return nil }
            spot = next
        }
        return firstRule(kind, below: spot)
    }

    private func firstRule(_ kind: RuleKind, below spot: Spot) -> Rule? {
        for literal in spot.literals {
            let child = self.literal(literal).spot
            if let rule = rule(kind, of: child) ?? firstRule(kind, below: child) { return rule }
        }
        guard let child = wildcardChild(of: spot) else { return nil }
        return rule(kind, of: child) ?? firstRule(kind, below: child)
    }

    private func rule(_ kind: RuleKind, of spot: Spot) -> Rule? {
        let index = index(of: kind, spot)
        guard let rule = index.map({ self[$0] }) else { return nil }
        if case .constant(false) = rule.body { return nil }
        return rule
    }
}
