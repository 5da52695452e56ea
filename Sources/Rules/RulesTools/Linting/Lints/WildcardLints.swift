import SecurityRules

/// Lints of `$` keys.
extension Lint {
    static let wildcardLints = [unusedWildcard, quotedWildcard, shadowedWildcard]

    /// A wildcard that no rule names although (a) nothing stands below it, or (b) it is named after a user and its own `.read` or
    /// `.write` certainly lets any signed-in user through.
    ///
    /// That no rule names a wildcard is by itself common and fine: `messages/$message`.
    private static let unusedWildcard = Lint(
        code: .unusedWildcard,
        summary: "A wildcard that no rule asks about, where one should.",
        reason: """
            '$uid' says that each key is a user, but only a rule such as 'auth.uid == $uid' makes it so. Without one, each signed-in user \
            reads or writes the data of all others. A wildcard with nothing below it has no effect.
            """,
        wrong: "/users/$uid .read auth != null",
        right: "/users/$uid .read auth != null && auth.uid == $uid",
        find: eachNode { node in
            guard node.isWildcard, let key = node.key else { return nil }
            let below = [node] + node.descendants
            if below.allSatisfy({ $0.rules.isEmpty && $0.indexes.isEmpty }) {
                return Finding(
                    node.offset,
                    "'\(key)' holds no rule, so it has no effect.",
                    "Remove it, or write the rules for its keys."
                )
            }
            if below.flatMap(\.rules).contains(where: { $0.expression.names(key) }) {
                return nil
            }
            let users = ["$uid", "$user", "$userid", "$user_id"]
            let open = [node.write, node.read].compactMap { $0 }.first {
                $0.admitsStrangers && $0.expression.names("auth")
            }
            guard users.contains(key.lowercased()), let open else { return nil }
            let what = open.kind == .read ? "read" : "write"
            return Finding(
                node.offset,
                "No rule asks who '\(key)' is: any signed-in user can \(what) every '\(node.path)'.",
                "Compare it with the user: auth.uid == \(key)."
            )
        }
    )

    /// A string literal that holds the name of a wildcard of the rule's own path.
    private static let quotedWildcard = Lint(
        code: .quotedWildcard,
        summary: "A wildcard inside quotes, where it is only text.",
        reason: """
            Nothing is put in place of '$uid' inside a string. No key can hold a '$', so what such a path names never exists and the \
            comparison never holds, or, negated, always does.
            """,
        wrong: """
            /rooms/$room .read auth != null && root.child('members/$room').child(auth.uid).exists()
            """,
        right: """
            /rooms/$room .read auth != null && root.child('members').child($room).child(auth.uid).exists()
            """,
        find: partsOfEachRule { rule in
            let captures = rule.node.keys.filter { $0.hasPrefix("$") }
            return rule.expression.pieces.compactMap { piece -> Finding? in
                guard case .string(let text) = piece.kind,
                    let name = captures.first(where: { text.holds($0) })
                else { return nil }
                return rule.finding(
                    at: piece,
                    "'\(name)' inside quotes is text, not the key: no key is called so, and this finds nothing.",
                    "Write it outside: root.child('a').child(\(name)), or 'a/' + \(name)."
                )
            }
        }
    )

    /// A literal key with rules of its own beside a wildcard whose `.read` or `.write` it does not have anywhere below. An empty
    /// literal is a way to shield its key, and meant.
    private static let shadowedWildcard = Lint(
        code: .shadowedWildcard,
        summary: "A literal key that does not get the grant of the wildcard beside it.",
        reason: """
            A literal key wins over the wildcard beside it, and there is no way back: none of the wildcard's rules hold for that key, \
            also where the literal says nothing. Users are refused there for no reason that they can see.
            """,
        wrong: """
            /rooms/$room .read auth != null
            /rooms/lobby .write auth.token.admin == true
            /rooms/lobby .validate newData.hasChildren(['topic'])
            """,
        right: """
            /rooms/$room .read auth != null
            /rooms/lobby .read auth != null
            /rooms/lobby .write auth.token.admin == true
            /rooms/lobby .validate newData.hasChildren(['topic'])
            """,
        find: { tree in
            tree.nodes.flatMap { node -> [Finding] in
                guard !node.isWildcard, let wildcard = node.parent?.wildcard else { return [] }
                let own = ([node] + node.descendants).flatMap(\.rules)
                if own.isEmpty { return [] }
                return [wildcard.read, wildcard.write].compactMap { $0 }.compactMap { rule in
                    let isGranted =
                        own.contains { $0.kind == rule.kind }
                        || node.ancestors.contains { $0.rule(rule.kind) != nil }
                    if rule.isNeverTrue || isGranted { return nil }
                    return Finding(
                        node.offset,
                        "\(rule.name) does not hold for '\(node.path)': a literal key gets nothing from the wildcard beside it.",
                        "Repeat the rule here, or write '.\(rule.kind.rawValue)': false to say that it is meant."
                    )
                }
            }
        }
    )
}

extension String {
    /// Whether it holds a wildcard's name that is not part of a longer name.
    fileprivate func holds(_ name: String) -> Bool {
        var rest = Substring(self)
        while let range = rest.firstRange(of: name) {
            let next = rest[range.upperBound...].first
            if !(next.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false) { return true }
            rest = rest[range.upperBound...]
        }
        return false
    }
}
