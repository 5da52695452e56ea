import JSONTree

/// What a request tells about the values of its rules: where they stand, and why they are null.
struct ReasonContext {
    let isSignedIn: Bool
    /// Nil when it is not known.
    let newRoot: Node?

    /// What stands beside the value of an operand: the place it was read from, or why it is null.
    func place(
        of expression: Expression,
        _ value: ObservedValue,
        in observed: ObservedExpression
    ) -> String? {
        switch expression.kind {
        case .name("auth"): return value == .null && !isSignedIn ? "nobody is signed in" : nil
        case .name("now"): return "the time of the request"
        case .member(let base, _, _), .index(let base, _):
            guard value == .null else { return nil }
            if base.isAuth {
                return isSignedIn ? "auth has no such member" : "nobody is signed in"
            }
            return isQuery(base) ? "the request has no such part in its query" : nil
        case .call(let callee, _):
            guard case .member(let base, let name, _) = callee.kind else { return nil }
            if name == "val" || name == "getPriority" {
                return snapshotPlace(base, isNull: value == .null, in: observed)
            }
            return note(on: expression, value, in: observed)
        default: return nil
        }
    }

    /// What stands beside a boolean that a snapshot gave: where the snapshot is, and what is there.
    func note(
        on expression: Expression,
        _ value: ObservedValue,
        in observed: ObservedExpression
    ) -> String? {
        guard case .call(let callee, let arguments) = expression.kind,
            case .member(let base, let name, _) = callee.kind,
            case .snapshot(let path, let isNew, let content) = observed.value(of: base)
        else { return nil }
        let place = path.map { " at " + ExplanationText.path($0) } ?? ""
        let after = isNew ? " after the write" : ""
        switch name {
        case "exists", "isString", "isNumber", "isBoolean":
            return content.isNull
                ? "nothing is\(place)\(after)"
                : "\(ExplanationText.words(content)) is\(place)\(after)"
        case "hasChild", "hasChildren":
            if content.isNull { return "nothing is\(place)\(after)" }
            if !content.isMap { return "\(ExplanationText.words(content)) is\(place)\(after)" }
            let missing = isNew ? missingChildren(arguments, below: path, in: observed) : []
            if value == .boolean(false), !missing.isEmpty {
                return "missing\(place): " + missing.joined(separator: ", ")
            }
            return place.isEmpty ? nil : "an object is\(place)\(after)"
        default: return nil
        }
    }

    private func snapshotPlace(
        _ base: Expression,
        isNull: Bool,
        in observed: ObservedExpression
    ) -> String? {
        guard case .snapshot(let path, let isNew, _) = observed.value(of: base) else { return nil }
        guard let path else { return isNull ? "no key can be named so" : nil }
        let place = ExplanationText.path(path)
        let after = isNew ? " after the write" : ""
        return isNull ? "nothing is at \(place)\(after)" : "at \(place)\(after)"
    }

    /// Which of the children asked for are not there.
    private func missingChildren(
        _ arguments: [Expression],
        below path: Path?,
        in observed: ObservedExpression
    ) -> [String] {
        guard let newRoot, let path, let argument = arguments.first else { return [] }
        let node = newRoot.descendant(at: path)
        var names: [Expression] = [argument]
        if case .array(let elements) = argument.kind { names = elements }
        return names.compactMap { name in
            let text: String? =
                if case .string(let literal) = name.kind { literal } else {
                    if case .string(let text, false) = observed.value(of: name) {
                        text
                    } else {
                        nil
                    }
                }
            guard let text else { return nil }
            var child = node
            for key in childKeys(Array(text.utf8)) {
                child = isPossible(key) ? child.descendant(at: Path([key])) : .absent
            }
            return child.isAbsent ? ExplanationText.quoted(text) : nil
        }
    }

    private func isQuery(_ expression: Expression) -> Bool {
        if case .name("query") = expression.kind { true } else { false }
    }
}
