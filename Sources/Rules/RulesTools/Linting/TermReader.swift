import SecurityRules

/// Reads terms out of the expressions of one rule.
struct TermReader {
    /// Keys and wildcards of the rule's own location, from the root down.
    let keys: [String]

    /// Keys of a location beyond which it is not followed; a text may nest 100 levels, data 32.
    private static let keyLimit = RulesLimits.textNesting

    /// What `data` is.
    var data: Term { Term(base: .old, path: keys) }
    /// What `newData` is.
    var newData: Term { Term(base: .new, path: keys) }

    /// Whether a name is a wildcard of the rule's path.
    func isCapture(_ name: String) -> Bool { name.hasPrefix("$") }

    /// The location of a snapshot expression; nil when the text alone does not determine it.
    func snapshot(_ expression: Expression) -> Term? {
        switch expression.kind {
        case .name("data"): return data
        case .name("newData"): return newData
        case .name("root"): return Term(base: .old, path: [])
        case .call(let callee, let arguments):
            guard case .member(let base, let name, _) = callee.kind,
                let location = snapshot(base)
            else { return nil }
            switch name {
            case "child" where arguments.count == 1:
                return child(of: location, arguments[0])
            case "parent":
                // What a computed key adds may be several keys, or none.
                guard let last = location.path.last, !isComputed(last) else { return nil }
                return Term(base: location.base, path: Array(location.path.dropLast()))
            default: return nil
            }
        default: return nil
        }
    }

    /// The location below another that the argument of `child()` names; nil for the empty path.
    func child(of location: Term, _ argument: Expression) -> Term? {
        let components = components(argument)
        let isFar = location.path.count + components.count > TermReader.keyLimit
        return components.isEmpty || isFar
            ? nil : Term(base: location.base, path: location.path + components)
    }

    /// The term of an expression that is not a literal.
    func term(_ expression: Expression) -> Term {
        if let auth = authPath(expression) { return Term(base: .auth, path: auth) }
        if case .call(let callee, _) = expression.kind,
            case .member(let base, "val", _) = callee.kind, let location = snapshot(base)
        {
            return location
        }
        return Term(base: .other(text(expression)), path: [])
    }

    /// The members from `auth` down to an expression; nil when it is nothing of `auth`.
    func authPath(_ expression: Expression) -> [String]? {
        switch expression.kind {
        case .name("auth"): return []
        case .member(let base, let name, _): return authPath(base).map { $0 + [name] }
        case .index(let base, let argument):
            return authPath(base).map { $0 + [computed(text(argument))] }
        default: return nil
        }
    }

    private func components(_ argument: Expression) -> [String] {
        switch argument.kind {
        case .string(let literal):
            return literal.split(separator: "/").map { piece in
                // No wildcard: a key that begins so does not exist.
                piece.hasPrefix("$") ? computed(String(piece)) : String(piece)
            }
        case .name(let name) where isCapture(name): return [name]
        case .binary(.add, _, _):
            guard let pieces = plainPieces(argument) else { return [computed(text(argument))] }
            return pieces
        default: return [computed(text(argument))]
        }
    }

    /// The keys that a sum of literals, wildcards and `auth.uid` joins; nil when it holds anything else, or one of these
    /// is only a part of a key.
    private func plainPieces(_ sum: Expression) -> [String]? {
        var keys: [String] = []
        var open = ""
        var openIsCapture = false
        for operand in summands(sum) {
            switch operand.kind {
            case .string(let literal):
                let parts = literal.split(separator: "/", omittingEmptySubsequences: false)
                for (index, part) in parts.enumerated() {
                    if index > 0 {
                        if !open.isEmpty { keys.append(open) }
                        (open, openIsCapture) = ("", false)
                    }
                    if part.isEmpty { continue }
                    if openIsCapture || part.hasPrefix("$") { return nil }
                    open += part
                }
            case .name(let name) where isCapture(name) && open.isEmpty:
                (open, openIsCapture) = (name, true)
            case .member where open.isEmpty && authPath(operand) == Term.uid.path:
                (open, openIsCapture) = (TermReader.ownKey, true)
            default: return nil
            }
        }
        if !open.isEmpty { keys.append(open) }
        return keys
    }

    private func summands(_ expression: Expression) -> [Expression] {
        var operands: [Expression] = []
        var rest = expression
        while case .binary(.add, let left, let right) = rest.kind {
            operands.append(right)
            rest = left
        }
        return [rest] + operands.reversed()
    }

    /// The component of a path for the key `auth.uid`.
    static let ownKey = "\u{0}auth.uid"

    private func computed(_ text: String) -> String { "\u{0}" + text }

    private func isComputed(_ component: String) -> Bool { component.hasPrefix("\u{0}") }

    // MARK: Text

    /// An expression as text in which equal pieces are spelled equally.
    func text(_ expression: Expression) -> String {
        switch expression.kind {
        case .null: return "null"
        case .boolean(let value): return "\(value)"
        case .number(let value): return "\(value)"
        case .string(let value): return value.debugDescription
        case .pattern(let body, let flags):
            // Two patterns are never taken for one.
            return "/\(body.lowerBound)/\(flags)"
        case .array(let elements): return "[\(list(elements))]"
        case .name(let name):
            return snapshot(expression).map(locationText) ?? name
        case .member(let base, let name, _): return "\(text(base)).\(name)"
        case .index(let base, let argument): return "\(text(base))[\(text(argument))]"
        case .call(let callee, let arguments):
            if let location = snapshot(expression) { return locationText(location) }
            return "\(text(callee))(\(list(arguments)))"
        case .not(let operand): return "!\(text(operand))"
        case .negate(let operand): return "-\(text(operand))"
        case .binary(let symbol, let left, let right):
            let sides = [text(left), text(right)]
            let sorted = symbol == .equal || symbol == .notEqual ? sides.sorted() : sides
            return "(\(sorted[0]) \(symbol.rawValue) \(sorted[1]))"
        case .logic(let symbol, let operands):
            return "(\(operands.map { text($0) }.joined(separator: " \(symbol.rawValue) ")))"
        case .ternary(let condition, let yes, let no):
            return "(\(text(condition)) ? \(text(yes)) : \(text(no)))"
        }
    }

    private func locationText(_ location: Term) -> String {
        "\(location.base == .old ? "old" : "new"):/\(location.path.joined(separator: "/"))"
    }

    private func list(_ expressions: [Expression]) -> String {
        expressions.map { text($0) }.joined(separator: ", ")
    }
}
