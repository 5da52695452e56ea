/// What is known of an expression when rules are loaded: the table of the reference, 10.2.
enum OracleType {
    case boolean, number, string, null, pattern, array, snapshot, method
    case value, auth, query, queryValue, mixed

    /// Why an expression has no type.
    enum Refusal: Error {
        /// The table says that the file is refused.
        case wrong
        /// The table does not say.
        case unclear
    }

    var isComparable: Bool { isOrderable || self == .boolean || self == .null }

    var isOrderable: Bool { isNumeric || self == .string }

    var isNumeric: Bool {
        [.number, .value, .auth, .queryValue, .mixed].contains(self)
    }

    var isText: Bool { [.string, .value, .auth, .mixed].contains(self) }

    static let snapshotMethods: [String: (count: Int, result: OracleType)] = [
        "val": (0, .value), "exists": (0, .boolean), "child": (1, .snapshot),
        "parent": (0, .snapshot), "hasChild": (1, .boolean), "getPriority": (0, .value),
        "isString": (0, .boolean), "isNumber": (0, .boolean), "isBoolean": (0, .boolean),
        "hasChildren": (1, .boolean),
    ]

    static let stringMethods: [String: (count: Int, result: OracleType)] = [
        "contains": (1, .boolean), "beginsWith": (1, .boolean), "endsWith": (1, .boolean),
        "replace": (2, .string), "toLowerCase": (0, .string), "toUpperCase": (0, .string),
        "matches": (1, .boolean),
    ]

    static let queryFlags = ["orderByKey", "orderByPriority", "orderByValue"]
    static let queryValues = [
        "orderByChild", "startAt", "endAt", "equalTo", "limitToFirst", "limitToLast",
    ]
}

/// Finds the type of an expression in one rule.
struct OracleTypeTable {
    let isRead: Bool
    let captures: [String]

    func type(_ expression: OracleExpression) throws(OracleType.Refusal) -> OracleType {
        switch expression {
        case .null: return .null
        case .boolean: return .boolean
        case .number: return .number
        case .string: return .string
        case .pattern: return .pattern
        case .array: throw .wrong
        case .capture(let name):
            if !captures.contains(name) { throw .wrong }
            return .string
        case .variable(let variable):
            switch variable {
            case .auth: return .auth
            case .now: return .number
            case .query: return .query
            case .newData:
                if isRead { throw .wrong }
                return .snapshot
            case .root, .data: return .snapshot
            }
        case .member(let base, let name): return try member(base, name)
        case .index(let base, let key):
            let target = try type(base)
            let index = try type(key)
            if target != .auth { throw .wrong }
            if !index.isOrderable { throw .unclear }
            return .auth
        case .call(let base, let name, let arguments): return try call(base, name, arguments)
        case .not(let operand):
            try demand(try type(operand) == .boolean)
            return .boolean
        case .negative(let operand):
            try demand(try type(operand).isNumeric)
            return .number
        case .binary(let symbol, let left, let right):
            return try binary(symbol, try type(left), try type(right))
        case .ternary(let condition, let yes, let no):
            try demand(try type(condition) == .boolean)
            return try joined(try type(yes), try type(no))
        }
    }

    private func demand(_ holds: Bool) throws(OracleType.Refusal) {
        if !holds { throw .wrong }
    }

    private func member(
        _ base: OracleExpression,
        _ name: String
    ) throws(OracleType.Refusal) -> OracleType {
        switch try type(base) {
        case .snapshot:
            try demand(OracleType.snapshotMethods[name] != nil)
            return .method
        case .string, .value:
            if name == "length" { return .number }
            try demand(OracleType.stringMethods[name] != nil)
            return .method
        case .auth:
            return OracleType.stringMethods[name] != nil ? .method : .auth
        case .query:
            if OracleType.queryFlags.contains(name) { return .boolean }
            try demand(OracleType.queryValues.contains(name))
            return .queryValue
        default: throw .wrong
        }
    }

    private func call(
        _ base: OracleExpression,
        _ name: String,
        _ arguments: [OracleExpression]
    ) throws(OracleType.Refusal) -> OracleType {
        switch try type(base) {
        case .snapshot:
            guard let (count, result) = OracleType.snapshotMethods[name] else { throw .wrong }
            if name == "hasChildren" {
                if arguments.isEmpty { return .boolean }
                guard arguments.count == 1, case .array(let names) = arguments[0] else {
                    throw .wrong
                }
                for name in names { try demand(try type(name).isText) }
                return .boolean
            }
            try demand(arguments.count == count)
            for argument in arguments { try demand(try type(argument).isText) }
            return result
        case .string, .value, .auth:
            guard let (count, result) = OracleType.stringMethods[name] else { throw .wrong }
            try demand(arguments.count == count)
            if name == "matches" {
                guard case .pattern = arguments[0] else { throw .wrong }
                return result
            }
            for argument in arguments { try demand(try type(argument).isText) }
            return result
        default: throw .wrong
        }
    }

    private func binary(
        _ symbol: OracleExpression.Operator,
        _ left: OracleType,
        _ right: OracleType
    ) throws(OracleType.Refusal) -> OracleType {
        switch symbol {
        case .and, .or:
            try demand(left == .boolean && right == .boolean)
            return .boolean
        case .equal, .notEqual:
            try demand(left.isComparable && right.isComparable)
            return .boolean
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            try demand(left.isOrderable && right.isOrderable)
            return .boolean
        case .add:
            try demand(left.isOrderable && right.isOrderable)
            if left == .string || right == .string { return .string }
            return left == .number && right == .number ? .number : .value
        case .subtract, .multiply, .divide, .remainder:
            try demand(left.isNumeric && right.isNumeric)
            return .number
        }
    }

    private func joined(
        _ yes: OracleType,
        _ no: OracleType
    ) throws(OracleType.Refusal) -> OracleType {
        for type in [yes, no] where type == .pattern || type == .method { throw .unclear }
        if yes == no { return yes }
        let loose: [OracleType] = [.string, .value, .auth]
        return loose.contains(yes) || loose.contains(no) ? .value : .mixed
    }
}
