import SecurityRules

/// Facts about an expression's value from its text alone.
extension Expression {
    /// The kind of every value that it can have; nil when that depends, or null is among them.
    var staticKind: ScalarKind? {
        switch kind {
        case .boolean, .not, .logic: return .boolean
        case .number, .negate: return .number
        case .string: return .string
        case .name(let name): return name == "now" ? .number : name.hasPrefix("$") ? .string : nil
        case .member(let base, let name, _):
            if base.isQuery, QueryProperty(rawValue: name)?.type == .boolean { return .boolean }
            return name == "length" && !base.isAuth ? .number : nil
        case .call(let callee, _):
            guard case .member(_, let name, _) = callee.kind else { return nil }
            switch name {
            case "val", "getPriority", "child", "parent": return nil
            case "replace", "toLowerCase", "toUpperCase": return .string
            default: return .boolean
            }
        case .binary(let symbol, let left, let right):
            switch symbol {
            case .add:
                if left.staticKind == .string || right.staticKind == .string { return .string }
                return left.staticKind == .number && right.staticKind == .number ? .number : nil
            case .subtract, .multiply, .divide, .remainder: return .number
            default: return .boolean
            }
        case .ternary(_, let yes, let no):
            return yes.staticKind == no.staticKind ? yes.staticKind : nil
        case .null, .pattern, .array, .index: return nil
        }
    }

    /// Whether it is the length of a text.
    var isTextLength: Bool {
        if case .member(let base, "length", _) = kind { !base.isAuth } else { false }
    }

    /// Whether its value is never null; an evaluation that fails has none.
    var isNeverNull: Bool {
        switch kind {
        case .binary: true
        case .ternary(_, let yes, let no): yes.isNeverNull && no.isNeverNull
        default: staticKind != nil
        }
    }

    /// Whether it is `auth` or something under it.
    var isAuth: Bool {
        switch kind {
        case .name("auth"): true
        case .member(let base, _, _), .index(let base, _): base.isAuth
        default: false
        }
    }

    /// Whether it is the variable `query`.
    var isQuery: Bool {
        if case .name("query") = kind { true } else { false }
    }

    /// This expression and everything in it, from the outside in and from left to right.
    var pieces: [Expression] {
        var pieces: [Expression] = []
        var rest = [self]
        while let piece = rest.popLast() {
            pieces.append(piece)
            rest += piece.operands.reversed()
        }
        return pieces
    }

    /// Whether anything in it is so.
    func contains(where isSo: (Expression) -> Bool) -> Bool {
        isSo(self) || operands.contains { $0.contains(where: isSo) }
    }

    /// Whether a variable is named anywhere in it.
    func names(_ variable: String) -> Bool {
        contains {
            if case .name(variable) = $0.kind { true } else { false }
        }
    }
}
