import TestSupport
/// An expression of the rules language as the oracle holds it: what was meant, before it is written.
indirect enum OracleExpression {
    case null
    case boolean(Bool)
    /// Not negative; a sign is an operator.
    case number(Double)
    case string(String)
    case pattern(OraclePattern)
    case array([OracleExpression])
    case variable(Variable)
    /// With its `$`.
    case capture(String)
    case member(OracleExpression, String)
    /// By something computed, or by a number.
    case index(OracleExpression, OracleExpression)
    case call(OracleExpression, String, [OracleExpression])
    case not(OracleExpression)
    case negative(OracleExpression)
    case binary(Operator, OracleExpression, OracleExpression)
    case ternary(OracleExpression, OracleExpression, OracleExpression)

    enum Variable: String, CaseIterable {
        case auth, now, root, data, newData, query
    }

    enum Operator: String, CaseIterable {
        case or = "||"
        case and = "&&"
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

        /// How tightly it binds; 0 is a ternary.
        var level: Int {
            switch self {
            case .or: 1
            case .and: 2
            case .equal, .notEqual: 3
            case .less, .lessOrEqual, .greater, .greaterOrEqual: 4
            case .add, .subtract: 5
            case .multiply, .divide, .remainder: 6
            }
        }
    }
}

/// Writes expressions and whole rules texts in the many ways that mean the same.
struct OraclePrinter {
    var random: SeededGenerator
    private var tokens: [String] = []

    init(random: SeededGenerator) {
        self.random = random
    }

    private mutating func oneIn(_ count: Int) -> Bool { random.index(count) == 0 }

    /// The text of an expression.
    mutating func text(_ expression: OracleExpression) -> String {
        tokens = []
        write(expression, level: 0)
        var text = ""
        for token in tokens {
            // Two signs or two slashes would be another token.
            let isTouching =
                (text.hasSuffix("-") && token.hasPrefix("-"))
                || (text.hasSuffix("/") && token.hasPrefix("/"))
            if isTouching { text += " " }
            text += token
            switch random.index(24) {
            case 0: text += "\n"
            case 1: text += "\t "
            case 2...7: text += " "
            default: break
            }
        }
        return oneIn(8) ? " " + text : text
    }

    private mutating func write(_ expression: OracleExpression, level: Int) {
        let own = ownLevel(expression)
        let isBracketed = own < level || oneIn(20)
        if isBracketed { tokens.append("(") }
        switch expression {
        case .null: tokens.append("null")
        case .boolean(let value): tokens.append("\(value)")
        case .number(let value): tokens.append(number(value))
        case .string(let text): tokens.append(literal(text))
        case .pattern(let pattern): tokens.append(pattern.text)
        case .array(let elements):
            tokens.append("[")
            writeList(elements)
            tokens.append("]")
        case .variable(let variable): tokens.append(variable.rawValue)
        case .capture(let name): tokens.append(name)
        case .member(let base, let name): writeMember(base, name)
        case .index(let base, let key):
            write(base, level: 8)
            tokens.append("[")
            write(key, level: 0)
            tokens.append("]")
        case .call(let base, let name, let arguments):
            writeMember(base, name)
            tokens.append("(")
            writeList(arguments)
            tokens.append(")")
        case .not(let operand):
            tokens.append("!")
            write(operand, level: 7)
        case .negative(let operand):
            tokens.append("-")
            write(operand, level: 7)
        case .binary(let symbol, let left, let right):
            write(left, level: own)
            let isTripled = (symbol == .equal || symbol == .notEqual) && oneIn(2)
            tokens.append(symbol.rawValue + (isTripled ? "=" : ""))
            write(right, level: own + 1)
        case .ternary(let condition, let yes, let no):
            write(condition, level: 1)
            tokens.append("?")
            write(yes, level: 0)
            tokens.append(":")
            write(no, level: 0)
        }
        if isBracketed { tokens.append(")") }
    }

    private func ownLevel(_ expression: OracleExpression) -> Int {
        switch expression {
        case .ternary: 0
        case .binary(let symbol, _, _): symbol.level
        case .not, .negative: 7
        // A member of a number or a pattern would read as something else.
        case .number, .pattern: 7
        default: 8
        }
    }

    private mutating func writeList(_ elements: [OracleExpression]) {
        for (index, element) in elements.enumerated() {
            if index > 0 { tokens.append(",") }
            if case .pattern(let pattern) = element {
                tokens.append(pattern.text)
            } else {
                write(element, level: 0)
            }
        }
    }

    private mutating func writeMember(_ base: OracleExpression, _ name: String) {
        write(base, level: 8)
        if oneIn(6) {
            tokens += ["[", literal(name), "]"]
        } else {
            tokens += [".", name]
        }
    }

    private mutating func number(_ value: Double) -> String {
        if value == value.rounded(), value < 1e15 {
            let text = String(Int(value))
            return oneIn(10) ? text + ".0" : oneIn(10) ? text + "e0" : text
        }
        return OracleText.text(of: value)
    }

    /// A string literal in either kind of quotes.
    private mutating func literal(_ text: String) -> String {
        let quote: Unicode.Scalar = oneIn(3) ? "\"" : "'"
        var out = ""
        for scalar in text.unicodeScalars {
            if scalar == quote || scalar == "\\" {
                out += "\\"
                out.unicodeScalars.append(scalar)
            } else if scalar == "\n" {
                out += "\\n"
            } else if oneIn(12) {
                out += OraclePrinter.escape(scalar)
            } else {
                out.unicodeScalars.append(scalar)
            }
        }
        return String(quote) + out + String(quote)
    }

    /// `\uXXXX`, twice for what takes two code units.
    private static func escape(_ scalar: Unicode.Scalar) -> String {
        String(scalar).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }

    /// A string of the rules file, in which a raw newline may stand.
    mutating func fileString(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += oneIn(2) ? "\n" : "\\n"
            case _ where scalar.value < 0x20 || oneIn(40): out += OraclePrinter.escape(scalar)
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + "\""
    }

    /// What may stand between two tokens of the rules file.
    mutating func gap() -> String {
        switch random.index(20) {
        case 0: "\n"
        case 1: " // a \"remark\" }\n"
        case 2: "/* .read: true */"
        case 3: "  \t"
        default: ""
        }
    }
}
