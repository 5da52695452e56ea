import SecurityRules

/// Lints of the shape of data.
extension Lint {
    static let shapeLints = [optionalChild, counterFirstWrite, comparedObject]

    /// A child with a `.validate` of its own under a node that is written whole, when (a) no rule on the way names any child of that node, or
    /// (b) the child's rule is about the caller or the time and no other rule names or requires the child.
    ///
    /// A parent that names some children has chosen; the others count as optional on purpose.
    private static let optionalChild = Lint(
        code: .optionalChild,
        summary: "A child is checked when it is there, but may be left out.",
        reason: """
            '.validate' is only asked about what is written. A client that leaves a child out, or deletes it later, gets past its rule: a message \
            without a sender, a post without a time. The parent has to ask for its children.
            """,
        wrong: """
            /posts/$post .write auth != null && !data.exists()
            /posts/$post/author .validate newData.val() == auth.uid
            /posts/$post/text .validate newData.isString()
            """,
        right: """
            /posts/$post .write auth != null && !data.exists()
            /posts/$post .validate newData.hasChildren(['author', 'text'])
            /posts/$post/author .validate newData.val() == auth.uid
            /posts/$post/text .validate newData.isString()
            """,
        find: { tree in
            tree.nodes.flatMap { node -> [Finding] in
                let above = [node] + node.ancestors
                guard node.parent != nil,
                    above.contains(where: { !($0.write?.isNeverTrue ?? true) })
                else { return [] }
                let checked = node.children.filter { $0.isChecked }
                let named = above.flatMap(\.rules).flatMap(\.writtenLocations)
                let location = Term(base: .new, path: node.keys)
                guard let first = checked.first, let rule = first.validate else { return [] }
                if !named.contains(where: { $0 != location && $0.isWithin(location) }) {
                    let list = checked.compactMap(\.key).map { "'\($0)'" }.joined(separator: ", ")
                    return [
                        rule.finding(
                            "No rule asks '\(node.path)' for \(list): a client that leaves it out gets past this check.",
                            "Ask for it in '\(node.path)': \".validate\": \"newData.hasChildren(["
                                + "\(list)])\"."
                        )
                    ]
                }
                return checked.compactMap { child in
                    guard let rule = child.validate,
                        rule.expression.names("auth") || rule.expression.names("now"),
                        !node.namesWritten(child)
                    else { return nil }
                    return rule.finding(
                        "No rule asks '\(node.path)' for '\(child.key ?? "")': a client that leaves it out gets past "
                            + "this check of who or when.",
                        "Add it to hasChildren([...]) in the .validate of '\(node.path)'."
                    )
                }
            }
        }
    )

    /// A comparison of `newData` with `data` at the same location, through arithmetic or an order, in a rule that can
    /// never hold where nothing exists yet. No warning when the rule explicitly wants existing data.
    private static let counterFirstWrite = Lint(
        code: .counterFirstWrite,
        summary: "A counter that refuses its first write.",
        reason: """
            Where nothing is yet, 'data.val()' is null, and 'null + 1' or 'x > null' fails and ends the rule. So the first write is always refused, and \
            no later one can come.
            """,
        wrong: """
            /count .write auth != null
            /count .validate newData.val() == data.val() + 1
            """,
        right: """
            /count .write auth != null
            /count .validate data.exists() ? newData.val() == data.val() + 1 : newData.val() == 1
            """,
        find: eachRule { rule in
            guard rule.kind != .read, !rule.isNeverTrue,
                let (piece, location) = rule.comparedWithBefore,
                !rule.node.asksForExisting(location)
            else { return nil }
            var facts = rule.facts
            facts.noteMissing(location)
            rule.flow.learn(rule.expression, true, into: &facts)
            guard facts.isContradictory else { return nil }
            return rule.finding(
                at: piece,
                "Fails where nothing is yet, since data.val() is null: the first write is always refused.",
                "Say what the first value may be: data.exists() ? ... : newData.val() == 1."
            )
        }
    )

    /// `val()` of a location that has rules for children, compared with anything but null.
    private static let comparedObject = Lint(
        code: .comparedObject,
        summary: "The value of a node with children is compared, which never holds.",
        reason: """
            'val()' of a node with children is no map and equals nothing, not even itself. Compare its children, or ask hasChild().
            """,
        wrong: """
            /profiles/$uid .write auth != null && auth.uid == $uid
            /profiles/$uid .validate newData.val() == data.val() || newData.hasChildren(['name'])
            /profiles/$uid/name .validate newData.isString()
            """,
        right: """
            /profiles/$uid .write auth != null && auth.uid == $uid
            /profiles/$uid .validate newData.child('name').val() == data.child('name').val() || newData.hasChildren(['name'])
            /profiles/$uid/name .validate newData.isString()
            """,
        find: { tree in
            guard let top = tree.nodes.first else { return [] }
            return tree.rules.flatMap { rule in
                rule.expression.pieces.compactMap { piece -> Finding? in
                    guard case .binary(let symbol, let left, let right) = piece.kind,
                        symbol == .equal || symbol == .notEqual,
                        Literal(left) != .null, Literal(right) != .null
                    else { return nil }
                    for side in [left, right] {
                        let location = rule.flow.reader.term(side)
                        guard location.isSnapshot,
                            let node = top.node(at: location.path, from: top),
                            node.children.contains(where: { !$0.isClosed })
                        else { continue }
                        return rule.finding(
                            at: piece,
                            "'\(node.path)' has children, and the value of such a node equals nothing: this is "
                                + (symbol == .equal ? "never true." : "always true."),
                            "Compare a child, as child('name').val(), or ask exists()."
                        )
                    }
                    return nil
                }
            }
        }
    )
}

extension LintNode {
    /// Whether it is a literal key whose `.validate` asks something.
    fileprivate var isChecked: Bool {
        guard let validate, !isWildcard else { return false }
        return !validate.isNeverTrue && !validate.isAlwaysTrue
    }

    /// Whether a rule here, above, or of another child names what is written at a child.
    fileprivate func namesWritten(_ child: LintNode) -> Bool {
        let location = Term(base: .new, path: child.keys)
        let others = children.filter { $0 !== child }
        let rules =
            ([self] + ancestors).flatMap(\.rules)
            + others.flatMap { [$0] + $0.descendants }.flatMap(\.rules)
        return rules.contains { $0.writtenLocations.contains { $0.isWithin(location) } }
    }

    /// Whether a rule here or above explicitly wants existing data at a location or above it.
    fileprivate func asksForExisting(_ location: Term) -> Bool {
        ([self] + ancestors).contains { node in
            [node.write, node.validate].compactMap { $0 }.contains { $0.asksForExisting(location) }
        }
    }
}

extension LintRule {
    /// The locations of the new tree that it names anywhere.
    fileprivate var writtenLocations: [Term] {
        var named: [Term] = []
        for piece in expression.pieces {
            if let location = flow.reader.snapshot(piece), location.base == .new {
                named.append(location)
            }
            guard case .call(let callee, let arguments) = piece.kind,
                case .member(let base, let name, _) = callee.kind,
                name == "hasChild" || name == "hasChildren",
                let location = flow.reader.snapshot(base), location.base == .new
            else { continue }
            for argument in arguments {
                var names = [argument]
                if case .array(let elements) = argument.kind { names = elements }
                named += names.compactMap { flow.reader.child(of: location, $0) }
            }
        }
        return named
    }

    /// The first comparison of a written value with the one before it, and the location before it.
    fileprivate var comparedWithBefore: (Expression, Term)? {
        for piece in expression.pieces {
            guard case .binary(let symbol, let left, let right) = piece.kind else { continue }
            for (side, other) in [(left, right), (right, left)] {
                let written = flow.reader.term(side)
                guard written.base == .new else { continue }
                let before = Term(base: .old, path: written.path)
                switch symbol {
                case .equal, .notEqual:
                    guard case .binary(let arithmetic, _, _) = other.kind,
                        arithmetic == .add || arithmetic == .subtract
                    else { continue }
                case .less, .lessOrEqual, .greater, .greaterOrEqual: break
                case .add, .subtract, .multiply, .divide, .remainder: continue
                }
                if other.contains(where: { flow.reader.term($0) == before }) {
                    return (piece, before)
                }
            }
        }
        return nil
    }

    /// Whether it holds only where data exists at a location or above it, by a condition of its own.
    fileprivate func asksForExisting(_ location: Term) -> Bool { asks(expression, for: location) }

    private func asks(_ piece: Expression, for location: Term) -> Bool {
        switch piece.kind {
        case .not(let operand): return asks(operand, for: location)
        case .logic(.and, let operands): return operands.contains { asks($0, for: location) }
        case .logic(.or, let operands): return operands.allSatisfy { asks($0, for: location) }
        case .ternary(let condition, _, _): return asks(condition, for: location)
        case .call(let callee, _):
            guard case .member(let base, let name, _) = callee.kind,
                ["exists", "hasChild", "hasChildren", "isNumber", "isString"].contains(name),
                let asked = flow.reader.snapshot(base)
            else { return false }
            return location.isWithin(asked)
        case .binary(_, let left, let right):
            return Literal(right) == .null && location.isWithin(flow.reader.term(left))
                || Literal(left) == .null && location.isWithin(flow.reader.term(right))
        default: return false
        }
    }
}
