import JSONTree
import Queries

/// Which question a rule answers.
package enum RuleKind: String, Sendable {
    case read, write, validate
}

/// One `.read`, `.write` or `.validate` of a ruleset, checked and compiled.
final class Rule: Sendable {
    enum Body: Sendable {
        case constant(Bool)
        case program(Program)
    }

    let kind: RuleKind
    /// Where it is declared, such as `/parties/$party`; `/` for the root.
    let path: String
    /// The wildcards of `path`, from the root down.
    let captures: [Capture]
    /// Place of the value in the rules text, both from 1.
    let line: Int
    let column: Int
    /// The value in the rules text, without quotes: offsets in scalars.
    let textRange: Range<Int>
    /// The expression after JSON escapes are resolved, or `true` or `false`.
    let source: String
    let body: Body

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

/// One object of the rules text: the rules for one place of the tree.
final class RuleNode {
    struct Literal {
        let key: Key
        let node: RuleNode
    }

    let read: Rule?
    let write: Rule?
    let validate: Rule?
    /// Children with a name, in key order.
    let literals: [Literal]
    /// The child for every other key.
    let wildcard: RuleNode?
    let indexes: [QuerySpec.Index]
    /// How it is written.
    let syntax: NodeSyntax

    /// Gathers the members of one object; `literals` in key order, without equal keys.
    init(
        read: Rule?,
        write: Rule?,
        validate: Rule?,
        literals: [Literal],
        wildcard: RuleNode?,
        indexes: [QuerySpec.Index],
        syntax: NodeSyntax
    ) {
        self.read = read
        self.write = write
        self.validate = validate
        self.literals = literals
        self.wildcard = wildcard
        self.indexes = indexes
        self.syntax = syntax
    }
}
