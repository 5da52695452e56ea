/// A rule expression as parsed, types unchecked.
///
/// Offsets count scalars of the expression.
struct Expression {
    indirect enum Kind {
        case null
        case boolean(Bool)
        case number(Double)
        case string(String)
        case pattern(body: Range<Int>, flags: String)
        case array([Expression])
        /// A variable or a wildcard.
        case name(String)
        /// `base.name` and `base['name']`; `offset` is where the name stands.
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

    let kind: Kind
    let start: Int
    let end: Int

    /// 1 for a leaf, else one more than the deepest operand. At most
    /// `RulesLimits.expressionNesting`, so that whoever recurses over it has a bound.
    let depth: Int

    /// The expressions it is made of, from left to right.
    var operands: [Expression] {
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
enum BinaryOperator: String {
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

    /// How strongly it binds; larger binds stronger, 1 and 2 are `||` and `&&`.
    var precedence: Int {
        switch self {
        case .equal, .notEqual: 3
        case .less, .lessOrEqual, .greater, .greaterOrEqual: 4
        case .add, .subtract: 5
        case .multiply, .divide, .remainder: 6
        }
    }

    /// The operator a symbol stands for; `===` is `==`.
    init?(_ symbol: Symbol) {
        switch symbol {
        case .equal, .identical: self = .equal
        case .notEqual, .notIdentical: self = .notEqual
        case .less: self = .less
        case .lessOrEqual: self = .lessOrEqual
        case .greater: self = .greater
        case .greaterOrEqual: self = .greaterOrEqual
        case .plus: self = .add
        case .minus: self = .subtract
        case .times: self = .multiply
        case .divide: self = .divide
        case .remainder: self = .remainder
        default: return nil
        }
    }
}

/// The two lazy operators.
enum LogicOperator: String {
    case and = "&&"
    case or = "||"

    /// How strongly it binds; see `BinaryOperator.precedence`.
    var precedence: Int { self == .and ? 2 : 1 }

    /// The operator a symbol stands for.
    init?(_ symbol: Symbol) {
        switch symbol {
        case .and: self = .and
        case .or: self = .or
        default: return nil
        }
    }
}
