/// How the rules for one place of the tree are written; kept beside a `RuleNode` only while rules are
/// loaded or linted, never while they judge.
struct NodeSyntax {
    /// Keys and wildcards from the root down.
    let keys: [String]
    /// Where the node's own key begins, in scalars of the rules text.
    let offset: Int
    var rules: [RuleKind: RuleSyntax] = [:]

    init(keys: [String], offset: Int) {
        self.keys = keys
        self.offset = offset
    }
}

/// How one rule is written.
struct RuleSyntax {
    let expression: Expression
    /// The text of the expression; its offsets are those of `expression`.
    let source: QuotedText
    /// Where the rule's key, such as `.read`, begins in the rules text.
    let keyOffset: Int

    init(expression: Expression, source: QuotedText, keyOffset: Int) {
        self.expression = expression
        self.source = source
        self.keyOffset = keyOffset
    }

    /// A rule that is the JSON `true` or `false`.
    init(_ constant: Bool, at offset: Int, keyOffset: Int) {
        let scalars = Array("\(constant)".unicodeScalars)
        expression = Expression(kind: .boolean(constant), start: 0, end: scalars.count, depth: 1)
        source = QuotedText(scalars: scalars, offsets: Array(offset...offset + scalars.count))
        self.keyOffset = keyOffset
    }
}
