import JSONTree
import SecurityRules

/// Explains the values in a request's rules: their locations, and why they are null.
struct ReasonContext {
    let isSignedIn: Bool
    /// Nil when it is not known.
    let newRoot: Node?

    /// The note on an operand's value: the location it was read from, or why it is null.
    func location(
        of expression: Expression,
        _ value: ObservedValue,
        in observed: ObservedExpression
    ) -> String? {
        switch expression.kind {
        case .name("auth"): return value == .null && !isSignedIn ? "the caller is signed out" : nil
        case .name("now"): return "the time of the request"
        case .member(let base, _, _), .index(let base, _):
            guard value == .null else { return nil }
            if base.isAuth {
                return isSignedIn ? "auth has no such member" : "the caller is signed out"
            }
            return base.isQuery ? "the request has no such part in its query" : nil
        case .call(let callee, _):
            guard case .member(let base, let name, _) = callee.kind else { return nil }
            if name == "val" || name == "getPriority" {
                return snapshotLocation(base, isNull: value == .null, in: observed)
            }
            return note(on: expression, value, in: observed)
        default: return nil
        }
    }

    /// The note on a boolean of a snapshot: the snapshot's location and value.
    func note(
        on expression: Expression,
        _ value: ObservedValue,
        in observed: ObservedExpression
    ) -> String? {
        guard case .call(let callee, let arguments) = expression.kind,
            case .member(let base, let name, _) = callee.kind,
            case .snapshot(let path, let isNew, let content) = observed.value(of: base)
        else { return nil }
        let location = path.map { " at " + ExplanationText.path($0) } ?? ""
        let after = isNew ? " after the write" : ""
        let words = content.isNull ? "nothing" : ExplanationText.words(content)
        let found = "\(words) is\(location)\(after)"
        switch name {
        case "exists", "isString", "isNumber", "isBoolean": return found
        case "hasChild", "hasChildren":
            if !content.isMap { return found }
            let missing = isNew ? missingChildren(arguments, below: path, in: observed) : []
            if value == .boolean(false), !missing.isEmpty {
                return "missing\(location): " + missing.joined(separator: ", ")
            }
            return location.isEmpty ? nil : found
        default: return nil
        }
    }

    private func snapshotLocation(
        _ base: Expression,
        isNull: Bool,
        in observed: ObservedExpression
    ) -> String? {
        guard case .snapshot(let path, let isNew, _) = observed.value(of: base) else { return nil }
        guard let path else { return isNull ? "no key can be named so" : nil }
        let location = ExplanationText.path(path)
        let after = isNew ? " after the write" : ""
        return isNull ? "nothing is at \(location)\(after)" : "at \(location)\(after)"
    }

    /// The tested children that are missing.
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
            guard case .string(let text, false) = observed.value(of: name) else { return nil }
            var child = node
            for key in childKeys(Array(text.utf8)) {
                child = isPossible(key) ? child.descendant(at: Path([key])) : .absent
            }
            return child.isAbsent ? ExplanationText.quoted(text) : nil
        }
    }
}
