import SecurityRules

/// Lints of rights that are kept in the data.
extension Lint {
    static let rightLints = [selfGrantedRight]

    /// A rule that holds because of data in the caller's own location, whose name or value marks a right, where that
    /// caller certainly can write it: a `.write` on the path certainly lets the holder of the location through, and so
    /// do all `.validate` on the path, with exactly the value that the rule wants.
    ///
    /// Anything that depends on other data, or on a text that a pattern must match, counts as a guard. Of a text that
    /// tests more than 50 different rights, only the first 50 are checked.
    private static let selfGrantedRight = Lint(
        code: .selfGrantedRight,
        summary: "A right that its holder can write.",
        reason: """
            A role that decides what a user may do must stand where that user cannot write it. Under 'users/$uid' with '.write': 'auth.uid == $uid' \
            each user can make themselves an administrator, unless a '.validate' says who may. It warns where a rule asks the caller's own data for a name such as \
            role, admin or moderator, or for a value such as 'admin' or 'owner', and the rules there certainly let the caller write it.
            """,
        wrong: """
            /users/$uid .write auth != null && auth.uid == $uid
            /news .write auth != null && root.child('users').child(auth.uid).child('role').val() == 'editor'
            """,
        right: """
            /users/$uid .write auth != null && auth.uid == $uid
            /roles .write auth.token.admin == true
            /news .write auth != null && root.child('roles').child(auth.uid).val() == 'editor'
            """,
        find: { tree in
            guard let top = tree.nodes.first else { return [] }
            var known: [Right: Bool] = [:]
            return tree.rules.flatMap { rule in
                if !rule.expression.names("auth") { return [Finding]() }
                return rule.findings(rule.facts) { atom in
                    guard let right = rule.right(atom) else { return nil }
                    // Each is looked for in all rules on its way, which takes as long as they are.
                    if known[right] == nil, known.count == 50 { return nil }
                    let isWritable = known[right] ?? right.isWrittenByHolder(top)
                    known[right] = isWritable
                    guard isWritable else { return nil }
                    return rule.finding(
                        at: atom.expression,
                        "The user it is about can write '\(right.path)', and so gives this right to themselves.",
                        "Keep it where only administrators write, or have a '.validate' there say who may write it."
                    )
                }
            }
        }
    )
}

/// The data that a rule needs in the caller's own location.
private struct Right: Hashable {
    /// From the root down, with `TermReader.ownKey` for the caller's uid.
    let keys: [String]
    /// The value that is needed; null for any.
    let value: Literal

    /// As people write it.
    var path: String {
        let shown = keys.map { key in
            key == TermReader.ownKey ? "<uid>" : key.hasPrefix("\u{0}") ? "..." : key
        }
        return "/" + shown.joined(separator: "/")
    }

    /// Names that mark the data below them as a right, in lower case without marks between words.
    private static let names: Set<String> = [
        "role", "roles", "userrole", "admin", "admins", "isadmin", "administrator",
        "administrators", "superuser", "superadmin", "moderator", "moderators", "ismoderator",
        "staff", "isstaff", "permission", "permissions", "privilege", "privileges", "rights",
    ]

    /// Values that are rights, in lower case.
    private static let values: Set<String> = [
        "admin", "administrator", "superadmin", "superuser", "owner", "moderator", "editor",
        "staff", "root",
    ]

    /// Whether its name or value marks a right, not a fact about a person.
    var isNamed: Bool {
        if case .string(let text) = value, Right.values.contains(text.lowercased()) { return true }
        return keys.contains { key in
            Right.names.contains(key.lowercased().filter { $0 != "_" && $0 != "-" && $0 != " " })
        }
    }
}

extension LintRule {
    /// The data that a part of this rule needs in the caller's own location; nil when it tests something else.
    fileprivate func right(_ atom: RuleFlow.Atom) -> Right? {
        guard let (location, value) = asked(atom), location.base == .old else { return nil }
        let keys = location.path.map { key in
            let isOwn =
                key.hasPrefix("$") && atom.facts.areEqual(Term(base: .other(key), path: []), .uid)
            return isOwn ? TermReader.ownKey : key
        }
        let right = Right(keys: keys, value: value)
        return keys.contains(TermReader.ownKey) && right.isNamed ? right : nil
    }

    private func asked(_ atom: RuleFlow.Atom) -> (Term, Literal)? {
        switch atom.expression.kind {
        case .binary(let symbol, let left, let right):
            guard symbol == .equal || symbol == .notEqual else { return nil }
            let isEqual = (symbol == .equal) == atom.outcome
            for (side, other) in [(left, right), (right, left)] {
                guard let literal = Literal(other), isEqual == (literal != .null) else { continue }
                return (flow.reader.term(side), literal)
            }
            return nil
        case .call(let callee, let arguments):
            guard atom.outcome, case .member(let base, let name, _) = callee.kind,
                let location = flow.reader.snapshot(base)
            else { return nil }
            if name == "exists" { return (location, .null) }
            guard name == "hasChild", let argument = arguments.first else { return nil }
            return flow.reader.child(of: location, argument).map { ($0, .null) }
        default: return nil
        }
    }
}

extension Right {
    /// Whether the user whose data it is certainly can write it.
    func isWrittenByHolder(_ top: LintNode) -> Bool {
        // The nodes on the path, as far as there are rules, and the location as the last of them names it.
        var way = [top]
        var location: [String] = []
        var holder: (name: String, depth: Int)?
        for key in keys {
            let isComputed = key.hasPrefix("\u{0}")
            guard way.count == location.count + 1, let node = way.last,
                let next =
                    (isComputed ? nil : node.children.first { $0.key == key && !$0.isWildcard })
                    ?? node.wildcard
            else {
                location.append(key)
                continue
            }
            let name = next.key ?? key
            location.append(name)
            way.append(next)
            if key == TermReader.ownKey, holder == nil { holder = (name, location.count) }
        }
        guard let holder else { return false }
        return way.contains { node in
            guard let write = node.write else { return false }
            // A caller who creates a location with others' rights may grant them.
            let isOwn = node.keys.count >= holder.depth
            return (isOwn ? [false, true] : [false]).contains { isNew in
                ([write] + way.compactMap(\.validate)).allSatisfy { rule in
                    rule.admits(self.value, at: location, from: node, by: holder.name, isNew: isNew)
                }
            }
        }
    }
}

extension LintRule {
    /// Whether this rule certainly lets the holder of a location write a value there, being let through at `node`.
    fileprivate func admits(
        _ value: Literal,
        at location: [String],
        from node: LintNode,
        by holder: String,
        isNew: Bool
    ) -> Bool {
        let written = Term(base: .new, path: node.keys)
        let right = Term(base: .new, path: location)
        var world = World.holder(of: holder, written: written, isNew: isNew, self)
        world.facts.notePresent(flow.reader.newData)
        world.facts.note(right, value != .null, to: value)
        if world.facts.isContradictory || checksText(of: right) { return false }
        return flow.isReachable(expression, true, in: world)
    }

    /// Whether it tests the text or size of the data at a location, which may exclude the value that the rule wants.
    private func checksText(of location: Term) -> Bool {
        expression.contains { piece in
            switch piece.kind {
            case .call(let callee, _):
                guard case .member(let base, let name, _) = callee.kind,
                    StringMethod(rawValue: name) != nil
                else { return false }
                return base.contains { flow.reader.term($0) == location }
            case .binary(.less, let left, let right), .binary(.lessOrEqual, let left, let right),
                .binary(.greater, let left, let right),
                .binary(.greaterOrEqual, let left, let right):
                return [left, right].contains { flow.reader.term($0) == location }
            default: return false
            }
        }
    }
}
