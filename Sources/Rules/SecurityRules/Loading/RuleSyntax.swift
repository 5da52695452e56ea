/// A rules text as lints look at it.
package struct RulesSyntax {
    /// The text, without a byte order mark.
    package let text: RulesText
    /// The rules for the root.
    package let top: RuleNode
    /// The comments with their marks, in order, as offsets in scalars of the text.
    package let comments: [Range<Int>]
    /// What was noticed while it was loaded, in order of discovery.
    package let notes: [LocatedWarning]
}

/// How the rules for one location of the tree are written; kept beside a `RuleNode` only while rules are loaded or
/// linted, never while they decide.
package struct NodeSyntax {
    /// Keys and wildcards from the root down.
    package let keys: [String]
    /// Where the node's own key begins, in scalars of the rules text.
    package let offset: Int
    /// The rules that the node has itself.
    package internal(set) var rules: [RuleKind: RuleSyntax] = [:]
}

/// How one rule is written.
package struct RuleSyntax {
    /// The rule as parsed.
    package let expression: Expression
    /// The text of the expression; its offsets are those of `expression`.
    package let source: QuotedText
    /// Where the rule's key, such as `.read`, begins in the rules text.
    package let keyOffset: Int
}

extension RuleSyntax {
    /// A rule that is the JSON `true` or `false`.
    init(_ constant: Bool, at offset: Int, keyOffset: Int) {
        let scalars = Array("\(constant)".unicodeScalars)
        self.init(
            expression: Expression(.boolean(constant), 0, scalars.count),
            source: QuotedText(scalars: scalars, offsets: Array(offset...offset + scalars.count)),
            keyOffset: keyOffset
        )
    }
}
