package import JSONTree
package import Queries

/// Which question a rule answers.
package enum RuleKind: String, Sendable {
    case read, write, validate
}

/// One `.read`, `.write` or `.validate` of a ruleset, checked and compiled.
package final class Rule: Sendable {
    /// What runs.
    package enum Body: Sendable {
        case constant(Bool)
        case program(Program)
    }

    /// Which question it answers.
    package let kind: RuleKind
    /// Where it is declared, such as `/parties/$party`; `/` for the root.
    package let path: String
    /// The wildcards of `path`, from the root down.
    let captures: [Capture]
    /// Line of the value in the rules text, from 1.
    package let line: Int
    /// Column of the value in the rules text, in Unicode scalars from 1; inside the quotes.
    package let column: Int
    /// The value in the rules text, without quotes: offsets in scalars.
    package let textRange: Range<Int>
    /// The expression after JSON escapes are resolved, or `true` or `false`.
    package let source: String
    /// The checked expression.
    package let body: Body

    init(
        kind: RuleKind,
        path: String,
        captures: [Capture],
        line: Int,
        column: Int,
        textRange: Range<Int>,
        source: String,
        body: Body
    ) {
        self.kind = kind
        self.path = path
        self.captures = captures
        self.line = line
        self.column = column
        self.textRange = textRange
        self.source = source
        self.body = body
    }

    /// Whether it may look at the tree as the write would leave it.
    var readsNewData: Bool {
        switch body {
        case .constant: false
        case .program(let program): program.readsNewData
        }
    }
}

/// One object of the rules text: the rules for one location of the tree.
package final class RuleNode {
    /// A child with a name.
    package struct Literal {
        /// Its name.
        package let key: Key
        /// Its rules.
        package let node: RuleNode
    }

    let rules: [RuleKind: Rule]
    /// Children with a name, in key order.
    package let literals: [Literal]
    /// The child for every other key.
    package let wildcard: RuleNode?
    /// The declarations of `.indexOn`.
    package let indexes: [QuerySpec.Index]
    /// How it is written.
    package let syntax: NodeSyntax

    /// Gathers the members of one object; `literals` in key order, without equal keys.
    init(
        rules: [RuleKind: Rule],
        literals: [Literal],
        wildcard: RuleNode?,
        indexes: [QuerySpec.Index],
        syntax: NodeSyntax
    ) {
        self.rules = rules
        self.literals = literals
        self.wildcard = wildcard
        self.indexes = indexes
        self.syntax = syntax
    }
}
