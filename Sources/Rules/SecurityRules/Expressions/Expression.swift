/// A rule expression as parsed, types unchecked.
///
/// Offsets count scalars of the expression.
package struct Expression {
    /// What it is, with its operands.
    package indirect enum Kind {
        case null
        case boolean(Bool)
        case number(Double)
        case string(String)
        case pattern(body: Range<Int>, flags: String)
        case array([Expression])
        /// A variable or a wildcard.
        case name(String)
        /// `base.name` and `base['name']`; `offset` is that of the name.
        case member(Expression, name: String, offset: Int)
        /// `base[argument]` with anything but a string literal.
        case index(Expression, Expression)
        case call(Expression, [Expression])
        case not(Expression)
        case negate(Expression)
        case binary(BinaryOperator, Expression, Expression)
        /// A chain of `&&`, or of `||`, as one flat list, so that long chains are not deep.
        case logic(LogicOperator, [Expression])
        case ternary(Expression, Expression, Expression)
    }

    /// What it is.
    package let kind: Kind
    /// Where it begins.
    package let start: Int
    /// Just behind its end.
    package let end: Int

    /// 1 for a leaf, else one more than the deepest operand. At most
    /// `RulesLimits.expressionNesting`, which bounds recursion over it.
    private(set) var depth = 1

    init(_ kind: Kind, _ start: Int, _ end: Int) {
        self.kind = kind
        self.start = start
        self.end = end
        depth += operands.reduce(0) { max($0, $1.depth) }
    }

    /// The expressions it is made of, from left to right.
    package var operands: [Expression] {
        switch kind {
        case .null, .boolean, .number, .string, .pattern, .name: []
        case .array(let elements): elements
        case .member(let base, _, _): [base]
        case .index(let base, let argument): [base, argument]
        case .call(let callee, let arguments): [callee] + arguments
        case .not(let operand), .negate(let operand): [operand]
        case .binary(_, let left, let right): [left, right]
        case .logic(_, let operands): operands
        case .ternary(let condition, let yes, let no): [condition, yes, no]
        }
    }
}

/// The operators that take two values and need both.
package enum BinaryOperator: String {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case remainder = "%"

    /// Whether two values stand in the order that `<`, `<=`, `>` or `>=` asks for.
    @inline(__always)
    package func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
        switch self {
        case .less: left < right
        case .lessOrEqual: left <= right
        case .greater: left > right
        case .greaterOrEqual: left >= right
        case .equal, .notEqual, .add, .subtract, .multiply, .divide, .remainder:
            preconditionFailure("only these four operators order")
        }
    }

    /// How strongly it binds; larger binds stronger, 1 and 2 are `||` and `&&`.
    var precedence: Int {
        switch self {
        case .equal, .notEqual: 3
        case .less, .lessOrEqual, .greater, .greaterOrEqual: 4
        case .add, .subtract: 5
        case .multiply, .divide, .remainder: 6
        }
    }

    /// The operator of a symbol; `===` is `==`.
    init?(_ symbol: Symbol) {
        switch symbol {
        case .identical: self = .equal
        case .notIdentical: self = .notEqual
        default: self.init(rawValue: symbol.rawValue)
        }
    }
}

/// The two lazy operators.
package enum LogicOperator: String {
    case and = "&&"
    case or = "||"

    /// How strongly it binds; see `BinaryOperator.precedence`.
    var precedence: Int { self == .and ? 2 : 1 }
}
