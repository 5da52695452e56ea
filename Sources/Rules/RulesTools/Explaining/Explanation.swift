import JSONTree
package import SecurityRules

/// The text for people about a request that was refused or allowed: the decision and why in one sentence, then every
/// rule consulted with the values that decided it, then who asked and what usually helps.
///
///     set /posts/p1 refused: no .write rule allows it.
///
///     .write of /posts/$post (rules 4:15) is false, with $post = "p1":
///         auth != null && data.child('owner').val() === auth.uid
///       because
///         data.child('owner').val() === auth.uid is false
///           data.child('owner').val() is "ann" (at /posts/p1/owner)
///           auth.uid is "bob"
///       it would hold if
///         data.child('owner').val() === auth.uid
///
///     asked by "bob": {"uid":"bob"}
///     hint: ...
///
/// Pure: the same decision and request give the same text. It is at most `RulesLimits.explanationByteCount` long.
package enum Explanation {
    /// Explains a decision recorded with `.values`; of one recorded with less it says less.
    ///
    /// - Returns: lines of plain text, the last one without a newline at its end. Texts of the data stand
    ///   in JSON quotes, without control characters.
    package static func text(of decision: Decision, for request: ExplainedRequest) -> String {
        let head = sentence(of: decision, for: request)
        let hints = ExplanationHints(decision, request).all.map { "hint: " + $0 }
        let who = asker(request.auth, showsClaims: request.showsClaims)
        let tail = ([who] + hints).joined(separator: "\n")
        let limit =
            request.showsClaims
            ? RulesLimits.explanationByteCount : RulesLimits.shortExplanationByteCount
        var writer = ExplanationWriter(byteLimit: limit - head.utf8.count - tail.utf8.count)
        RulesSection(decision, request).write(to: &writer)
        return head + "\n" + writer.text + "\n" + tail
    }

    // MARK: The decision

    /// The first line: the request, whether it was allowed, and why.
    static func sentence(of decision: Decision, for request: ExplainedRequest) -> String {
        let what = "\(request.operation) \(ExplanationText.path(request.path))"
        if decision.isAllowed {
            guard let rule = decision.rule else { return "\(what) allowed: it changes nothing." }
            return "\(what) allowed: \(location(of: rule)) is true."
        }
        return "\(what) refused: \(refusal(decision, request))"
    }

    private static func refusal(_ decision: Decision, _ request: ExplainedRequest) -> String {
        let entry = request.entry(decision.deniedEntry).map(ExplanationText.path)
        let whole = entry.map { " \($0) of the update" } ?? " it"
        guard let rule = decision.rule else {
            let kind: RuleKind = decision.deniedEntry == nil ? .read : .write
            let path = request.entry(decision.deniedEntry) ?? request.path
            if let rules = request.rules, !rules.hasRule(kind, along: path) {
                let location = ExplanationText.path(path)
                return "no .\(kind.rawValue) rule stands at \(location) or above it, "
                    + "so nothing allows\(whole)."
            }
            return "no .\(kind.rawValue) rule allows\(whole)."
        }
        let of = entry.map { " (for \($0) of the update)" } ?? ""
        switch rule.result {
        case .error(let error) where rule.kind != .validate:
            return "\(error.message) It ended in \(location(of: rule))\(of)."
        case .error(let error):
            return
                "a .validate rule failed: \(rulePath(rule)) (rules \(error.line):\(error.column))"
                + "\(of): \(error.message)"
        case .value:
            return "a .validate rule does not hold: \(rulePath(rule))"
                + " (rules \(rule.line):\(rule.column))\(of)."
        }
    }

    /// `.write of /a/$b (rules 4:15)`.
    static func location(of rule: RuleOutcome) -> String {
        ".\(rule.kind.rawValue) of \(rulePath(rule)) (rules \(rule.line):\(rule.column))"
    }

    private static func rulePath(_ rule: RuleOutcome) -> String {
        ExplanationText.line(rule.path.unicodeScalars)
    }

    // MARK: The caller

    /// Without `showsClaims` it says where they are shown.
    private static func asker(_ auth: AuthVariable?, showsClaims: Bool) -> String {
        guard let auth else { return "asked by a signed-out caller: auth is null" }
        let who = auth.uid.map { ExplanationText.quoted($0) } ?? "a caller without uid"
        if !showsClaims {
            return "asked by \(who); 'hearth rules requests --refused' shows the claims"
        }
        let json = auth.value.isAbsent ? Array("{}".utf8) : auth.value.json(.value)
        let text = String(decoding: json, as: UTF8.self)
        return "asked by \(who): \(ExplanationText.line(text.unicodeScalars))"
    }
}

/// Collects lines up to a limit.
struct ExplanationWriter {
    private(set) var text = ""
    private let byteLimit: Int
    private var byteCount = 0
    private var isCut = false

    private static let ending = "... (cut: an explanation has a limit)\n"

    /// - Parameter byteLimit: bytes that the text may have.
    init(byteLimit: Int) {
        self.byteLimit = byteLimit - Self.ending.utf8.count - 2
    }

    /// Appends a line, unless the limit is reached; then it says so once.
    mutating func line(_ line: String) {
        if isCut { return }
        byteCount += line.utf8.count + 1
        isCut = byteCount > byteLimit
        text += isCut ? Self.ending : line + "\n"
    }

    /// Appends an empty line.
    mutating func blank() { line("") }
}
