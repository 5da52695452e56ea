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
            '.validate' is only asked about what is written. Whoever leaves a child out, or deletes it later, gets past its rule: a message \
            without a sender, a post without a time. The parent has to ask for its children.
            """,
        wrong: """
            {
              "rules": {
                "posts": {
                  "$post": {
                    ".write": "auth != null && !data.exists()",
                    "author": { ".validate": "newData.val() == auth.uid" },
                    "text": { ".validate": "newData.isString()" }
                  }
                }
              }
            }
            """,
        right: """
            {
              "rules": {
                "posts": {
                  "$post": {
                    ".write": "auth != null && !data.exists()",
                    ".validate": "newData.hasChildren(['author', 'text'])",
                    "author": { ".validate": "newData.val() == auth.uid" },
                    "text": { ".validate": "newData.isString()" }
                  }
                }
              }
            }
            """,
        find: { tree in
            tree.nodes.flatMap { node -> [Finding] in
                let above = [node] + node.ancestors
                guard node.parent != nil,
                    above.contains(where: { !($0.write?.isNeverTrue ?? true) })
                else { return [] }
                let checked = node.children.filter { $0.isChecked }
                let named = above.flatMap(\.rules).flatMap(\.writtenPlaces)
                let place = Term(base: .new, path: node.keys)
                guard let first = checked.first, let rule = first.validate else { return [] }
                if !named.contains(where: { $0 != place && $0.isWithin(place) }) {
                    let list = checked.compactMap(\.key).map { "'\($0)'" }.joined(separator: ", ")
                    return [
                        Finding(
                            rule.offset(of: rule.expression),
                            "No rule asks '\(node.path)' for \(list): whoever leaves it out gets past this check.",
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
                    return Finding(
                        rule.offset(of: rule.expression),
                        "No rule asks '\(node.path)' for '\(child.key ?? "")': whoever leaves it out gets past this check of who "
                            + "or when.",
                        "Add it to hasChildren([...]) in the .validate of '\(node.path)'."
                    )
                }
            }
        }
    )

    /// A comparison of `newData` with `data` at the same place, through arithmetic or an order, in a rule that can hold at no place where
    /// nothing is yet; quiet when the rule asks for existing data in so many words.
    private static let counterFirstWrite = Lint(
        code: .counterFirstWrite,
        summary: "A counter that refuses its first write.",
        reason: """
            Where nothing is yet, 'data.val()' is null, and 'null + 1' or 'x > null' fails and ends the rule. So the first write is always refused, and \
            no later one can come.
            """,
        wrong: """
            {
              "rules": {
                "count": {
                  ".write": "auth != null",
                  ".validate": "newData.val() == data.val() + 1"
                }
              }
            }
            """,
        right: """
            {
              "rules": {
                "count": {
                  ".write": "auth != null",
                  ".validate": "data.exists() ? newData.val() == data.val() + 1 : newData.val() == 1"
                }
              }
            }
            """,
        find: { tree in
            tree.rules.compactMap { rule in
                guard rule.kind != .read, !rule.isNeverTrue,
                    let (piece, place) = rule.comparedWithBefore,
                    !rule.node.asksForExisting(place)
                else { return nil }
                var facts = rule.facts
                facts.noteMissing(place)
                rule.flow.learn(rule.expression, true, into: &facts)
                guard facts.isContradictory else { return nil }
                return Finding(
                    rule.offset(of: piece),
                    "Fails where nothing is yet, since data.val() is null: the first write is always refused.",
                    "Say what the first value may be: data.exists() ? ... : newData.val() == 1."
                )
            }
        }
    )

    /// `val()` of a place that has rules for children, compared with anything but null.
    private static let comparedObject = Lint(
        code: .comparedObject,
        summary: "The value of a node with children is compared, which never holds.",
        reason: """
            'val()' of a node with children is no map and equals nothing, not even itself. Compare its children, or ask hasChild().
            """,
        wrong: """
            {
              "rules": {
                "profiles": {
                  "$uid": {
                    ".write": "auth != null && auth.uid == $uid",
                    ".validate": "newData.val() == data.val() || newData.hasChildren(['name'])",
                    "name": { ".validate": "newData.isString()" }
                  }
                }
              }
            }
            """,
        right: """
            {
              "rules": {
                "profiles": {
                  "$uid": {
                    ".write": "auth != null && auth.uid == $uid",
                    ".validate": "newData.child('name').val() == data.child('name').val() || newData.hasChildren(['name'])",
                    "name": { ".validate": "newData.isString()" }
                  }
                }
              }
            }
            """,
        find: { tree in
            guard let top = tree.nodes.first else { return [] }
            return tree.rules.flatMap { rule in
                var findings: [Finding] = []
                rule.expression.visit { piece in
                    guard case .binary(let symbol, let left, let right) = piece.kind,
                        symbol == .equal || symbol == .notEqual,
                        Literal(left) != .null, Literal(right) != .null
                    else { return }
                    for side in [left, right] {
                        let place = rule.flow.reader.term(side)
                        guard place.isSnapshot, let node = top.node(at: place.path, from: top),
                            node.children.contains(where: { !$0.isClosed })
                        else { continue }
                        findings.append(
                            Finding(
                                rule.offset(of: piece),
                                "'\(node.path)' has children, and the value of such a node equals nothing: this is "
                                    + (symbol == .equal ? "never true." : "always true."),
                                "Compare a child, as child('name').val(), or ask exists()."
                            )
                        )
                        return
                    }
                }
                return findings
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
        let place = Term(base: .new, path: child.keys)
        let others = children.filter { $0 !== child }
        let rules =
            ([self] + ancestors).flatMap(\.rules)
            + others.flatMap { [$0] + $0.descendants }.flatMap(\.rules)
        return rules.contains { $0.writtenPlaces.contains { $0.isWithin(place) } }
    }

    /// Whether a rule here or above asks in so many words for data that exists at a place or above it.
    fileprivate func asksForExisting(_ place: Term) -> Bool {
        ([self] + ancestors).contains { node in
            [node.write, node.validate].compactMap { $0 }.contains { $0.asksForExisting(place) }
        }
    }
}

extension LintRule {
    /// The places of the new tree that it names, wherever.
    fileprivate var writtenPlaces: [Term] {
        var places: [Term] = []
        expression.visit { piece in
            if let place = flow.reader.snapshot(piece), place.base == .new { places.append(place) }
            guard case .call(let callee, let arguments) = piece.kind,
                case .member(let base, let name, _) = callee.kind,
                name == "hasChild" || name == "hasChildren",
                let place = flow.reader.snapshot(base), place.base == .new
            else { return }
            for argument in arguments {
                var names = [argument]
                if case .array(let elements) = argument.kind { names = elements }
                places += names.compactMap { flow.reader.child(of: place, $0) }
            }
        }
        return places
    }

    /// The first comparison of a written value with the one before it, and the place before it.
    fileprivate var comparedWithBefore: (Expression, Term)? {
        var found: (Expression, Term)?
        expression.visit { piece in
            guard found == nil, case .binary(let symbol, let left, let right) = piece.kind else {
                return
            }
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
                    found = (piece, before)
                    return
                }
            }
        }
        return found
    }

    /// Whether it holds only where something exists at a place or above it, and says so in a condition of its own.
    fileprivate func asksForExisting(_ place: Term) -> Bool { asks(expression, for: place) }

    private func asks(_ piece: Expression, for place: Term) -> Bool {
        switch piece.kind {
        case .not(let operand): return asks(operand, for: place)
        case .logic(.and, let operands): return operands.contains { asks($0, for: place) }
        case .logic(.or, let operands): return operands.allSatisfy { asks($0, for: place) }
        case .ternary(let condition, _, _): return asks(condition, for: place)
        case .call(let callee, _):
            guard case .member(let base, let name, _) = callee.kind,
                ["exists", "hasChild", "hasChildren", "isNumber", "isString"].contains(name),
                let asked = flow.reader.snapshot(base)
            else { return false }
            return place.isWithin(asked)
        case .binary(_, let left, let right):
            return Literal(right) == .null && place.isWithin(flow.reader.term(left))
                || Literal(left) == .null && place.isWithin(flow.reader.term(right))
        default: return false
        }
    }
}
