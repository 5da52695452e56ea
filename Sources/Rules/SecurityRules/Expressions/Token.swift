/// One token of a rule expression and where it lies, in scalars of the expression.
struct Token {
    enum Kind: Equatable {
        case number(Double)
        case string(String)
        /// `/body/flags`; the body as written, escapes unresolved.
        case pattern(body: Range<Int>, flags: String)
        case name(String)
        case symbol(Symbol)
        case end
    }

    let kind: Kind
    let start: Int
    let end: Int
}

/// The operators and brackets of rule expressions.
enum Symbol: String, CaseIterable {
    case leftParenthesis = "("
    case rightParenthesis = ")"
    case leftBracket = "["
    case rightBracket = "]"
    case dot = "."
    case comma = ","
    case question = "?"
    case colon = ":"
    case not = "!"
    case minus = "-"
    case plus = "+"
    case times = "*"
    case divide = "/"
    case remainder = "%"
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case equal = "=="
    case notEqual = "!="
    case identical = "==="
    case notIdentical = "!=="
    case and = "&&"
    case or = "||"
}
