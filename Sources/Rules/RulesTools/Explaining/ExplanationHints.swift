import JSONTree
import SecurityRules

/// Hints for the traps that people fall into, found from what a decision recorded.
struct ExplanationHints {
    private(set) var all: [String] = []

    init(_ decision: Decision, _ request: ExplainedRequest) {
        if decision.isAllowed { return }
        addSignIn(decision, request)
        if decision.rule == nil { addDeeperRules(decision, request) }
        addErrors(decision)
        addQuery(decision, request)
        addValidate(decision, request)
    }

    private mutating func add(_ hint: String) {
        if !all.contains(hint) { all.append(hint) }
    }

    /// Signed out, and a rule needs `auth`.
    private mutating func addSignIn(_ decision: Decision, _ request: ExplainedRequest) {
        if request.auth != nil || decision.rule?.kind == .validate { return }
        let asks = decision.trace.contains { $0.source.contains("auth") }
        if asks {
            add("the caller is signed out; sign in first, or send the token with the request.")
        }
    }

    /// Grants that exist only below the location: rules are not filters.
    private mutating func addDeeperRules(_ decision: Decision, _ request: ExplainedRequest) {
        guard let rules = request.rules else { return }
        let isRead = decision.deniedEntry == nil
        let kind: RuleKind = isRead ? .read : .write
        let path = request.entry(decision.deniedEntry) ?? request.path
        guard let below = rules.firstRule(kind, below: path) else { return }
        let location =
            "\(ExplanationText.line(below.path.unicodeScalars)) (rules \(below.line):\(below.column))"
        if isRead {
            add(
                "rules are not filters: the .read of \(location) counts for reads there or below, never for "
                    + "a read of \(ExplanationText.path(path)) as a whole."
            )
        } else {
            add(
                "the .write of \(location) counts for writes there or below, not for one of "
                    + "\(ExplanationText.path(path)): write there, or use an update with one entry for each of them."
            )
        }
    }

    private mutating func addErrors(_ decision: Decision) {
        // The first error is the one to mend; later ones often follow from it.
        for rule in decision.trace {
            guard case .error(let error) = rule.result else { continue }
            guard let hint = Self.hint(for: error.message) else { return }
            return add("\(error.line):\(error.column): \(hint)")
        }
    }

    /// What usually helps against an error.
    private static func hint(for message: String) -> String? {
        if message.contains("steps of rules") {
            return "too much work for one request: write less at once, or make the rules simpler."
        }
        if message.contains("no parent") {
            return "parent() went above the root; it is called once too often."
        }
        if message.contains("use val()") { return "a snapshot has a value only by val()." }
        if message.hasPrefix("null") || message.hasSuffix("null.") || message.contains("and null")
            || message.contains("against null")
        {
            return
                "what is missing is null, and null has no members and no order: test for it before, as in "
                + "x != null && ..., or with isString() or isNumber()."
        }
        if message.contains("an object") {
            return "an object has no value of its own; go to a child by child()."
        }
        if message.contains("Expected a boolean") { return "compare it, as with == true." }
        if message.contains("added") { return "+ takes numbers and strings only." }
        if message.hasPrefix("Expected a string") {
            return "nothing is converted: a number becomes a string by '' + x."
        }
        return nil
    }

    /// A rule that needs a query, and a read without one.
    private mutating func addQuery(_ decision: Decision, _ request: ExplainedRequest) {
        if request.query != nil || decision.deniedEntry != nil { return }
        if decision.trace.contains(where: { $0.source.contains("query.") }) {
            add(
                "the rule asks for a query, and this read has none: query.limitToFirst and its like are null."
            )
        }
    }

    private mutating func addValidate(_ decision: Decision, _ request: ExplainedRequest) {
        guard let rule = decision.rule, rule.kind == .validate, rule.result == .value(false) else {
            return
        }
        let target = request.entry(decision.deniedEntry) ?? request.path
        if rule.location.keyCount < target.keyCount {
            add(
                "\(ExplanationText.path(rule.location)) is validated because something below it is written: it must "
                    + "hold for all that is there afterwards, not only for what is written."
            )
        }
        if rule.source == "false", let last = rule.bindings.last,
            rule.path.hasSuffix("/" + last.name)
        {
            add(
                "\(ExplanationText.quoted(last.key)) is none of the children that the rules name there; is it misspelt?"
            )
        }
        if rule.source.contains("== now") {
            add("a time equals now only when it is written as {\".sv\":\"timestamp\"}.")
        }
        guard let newRoot = request.newRoot else { return }
        if rule.source.contains("hasChild"), newRoot.descendant(at: rule.location).isMap {
            add("an update or a set of the parent can bring all required children at once.")
        }
    }
}
