/// A value while the oracle evaluates a rule.
enum OracleValue {
    case null
    case boolean(Bool)
    case number(Double)
    case string(String)
    /// Something with children; of auth its members can be reached.
    case object(OracleNode)
    case snapshot(OracleSnapshot)
    case query

    /// What `val()` of a node gives.
    init(_ value: OracleScalar?) {
        switch value {
        case nil: self = .null
        case .boolean(let value): self = .boolean(value)
        case .number(let value): self = .number(value)
        case .string(let value): self = .string(value)
        }
    }
}

/// A tree and a path, keys that no data could have included.
struct OracleSnapshot {
    let root: OracleNode
    var path: [String]

    var node: OracleNode { root.at(path) }
}

/// A rule was aborted.
struct OracleAbort: Error {}

/// The query of a read, as a client states it.
struct OracleQuery {
    enum Order {
        case key, value, priority
        case child(String)
    }

    var order = Order.priority
    var start: OracleScalar?
    var end: OracleScalar?
    /// Both ends at one place.
    var equal: OracleScalar?
    var limitToFirst: Int?
    var limitToLast: Int?
}

/// How often each operator, method and variable was evaluated to something.
struct OracleTally {
    private(set) var counts: [String: Int] = [:]

    mutating func count(_ name: String) { counts[name, default: 0] += 1 }

    mutating func add(_ other: OracleTally) {
        counts.merge(other.counts, uniquingKeysWith: +)
    }
}

/// Evaluates one rule at one place: security-rules.md 7 to 11, sentence by sentence.
struct OracleEvaluation {
    let request: OracleRequest
    let oldRoot: OracleNode
    /// Nil in a read.
    let newRoot: OracleNode?
    /// Where the rule stands in the tree.
    let place: [String]
    let captures: [String: String]
    var tally = OracleTally()

    /// Whether the rule holds; an error aborts it.
    mutating func holds(_ expression: OracleExpression) throws(OracleAbort) -> Bool {
        guard case .boolean(let value) = try value(expression) else { throw OracleAbort() }
        return value
    }

    private mutating func value(
        _ expression: OracleExpression
    ) throws(OracleAbort) -> OracleValue {
        switch expression {
        case .null: return .null
        case .boolean(let value): return .boolean(value)
        case .number(let value): return .number(value)
        case .string(let text): return .string(text)
        case .pattern, .array: throw OracleAbort()
        case .variable(let variable):
            tally.count(variable.rawValue)
            return try value(of: variable)
        case .capture(let name):
            tally.count("$")
            guard let key = captures[name] else { throw OracleAbort() }
            return .string(key)
        case .member(let base, let name): return try member(base, name)
        case .index(let base, let key):
            let target = try value(base)
            let index = try value(key)
            tally.count("[]")
            switch index {
            case .string(let text): return child(target, text)
            case .number(let number): return child(target, OracleText.text(of: number))
            default: throw OracleAbort()
            }
        case .call(let base, let name, let arguments):
            let target = try value(base)
            if case .snapshot(let snapshot) = target {
                return try call(snapshot, name, arguments)
            }
            return try call(target, name, arguments)
        case .not(let operand):
            let value = try holds(operand)
            tally.count("!")
            return .boolean(!value)
        case .negative(let operand):
            guard case .number(let number) = try value(operand) else { throw OracleAbort() }
            tally.count("negative")
            return .number(-number)
        case .binary(let symbol, let left, let right):
            return try binary(symbol, left, right)
        case .ternary(let condition, let yes, let no):
            let isYes = try holds(condition)
            tally.count(isYes ? "?" : ":")
            return try value(isYes ? yes : no)
        }
    }

    private func value(
        of variable: OracleExpression.Variable
    ) throws(OracleAbort) -> OracleValue {
        switch variable {
        case .auth: return request.auth.map { .object($0) } ?? .null
        case .now: return .number(request.now)
        case .root: return .snapshot(OracleSnapshot(root: oldRoot, path: []))
        case .data: return .snapshot(OracleSnapshot(root: oldRoot, path: place))
        case .newData:
            guard let newRoot else { throw OracleAbort() }
            return .snapshot(OracleSnapshot(root: newRoot, path: place))
        case .query: return .query
        }
    }

    // MARK: Members

    private mutating func member(
        _ base: OracleExpression,
        _ name: String
    ) throws(OracleAbort) -> OracleValue {
        let target = try value(base)
        tally.count("." + (isAuth(base) && name != "length" ? "member" : name))
        if case .query = target { return queryValue(name) }
        if name == "length", case .string(let text) = target {
            return .number(Double(OracleText.length(text)))
        }
        if isAuth(base) { return child(target, name) }
        throw OracleAbort()
    }

    /// Whether an expression has the loose type of auth.
    private func isAuth(_ expression: OracleExpression) -> Bool {
        switch expression {
        case .variable(.auth): true
        case .member(let base, _), .index(let base, _): isAuth(base)
        case .ternary(_, let yes, let no): isAuth(yes) && isAuth(no)
        default: false
        }
    }

    /// A member of an auth value; whatever has none gives null.
    private func child(_ value: OracleValue, _ key: String) -> OracleValue {
        guard case .object(let node) = value else { return .null }
        let child = node.children[key] ?? .absent
        return child.children.isEmpty ? OracleValue(child.value) : .object(child)
    }

    private func queryValue(_ name: String) -> OracleValue {
        let query = request.query ?? OracleQuery()
        let isPlain = request.query == nil
        switch (name, query.order) {
        case ("orderByKey", .key): return .boolean(true)
        case ("orderByKey", _): return .boolean(isPlain && request.plainReadsOrderByKey)
        case ("orderByPriority", .priority):
            return .boolean(!(isPlain && request.plainReadsOrderByKey))
        case ("orderByPriority", _): return .boolean(false)
        case ("orderByValue", .value): return .boolean(true)
        case ("orderByValue", _): return .boolean(false)
        case ("orderByChild", .child(let path)): return .string(path)
        case ("startAt", _): return OracleValue(query.equal ?? query.start)
        case ("endAt", _): return OracleValue(query.equal ?? query.end)
        case ("equalTo", _): return OracleValue(query.equal)
        case ("limitToFirst", _): return limit(query.limitToFirst)
        case ("limitToLast", _): return limit(query.limitToLast)
        default: return .null
        }
    }

    private func limit(_ count: Int?) -> OracleValue {
        count.map { .number(Double($0)) } ?? .null
    }

    // MARK: Snapshots

    private mutating func call(
        _ snapshot: OracleSnapshot,
        _ name: String,
        _ arguments: [OracleExpression]
    ) throws(OracleAbort) -> OracleValue {
        if name == "hasChildren", case .array(let names) = arguments.first {
            var paths: [String] = []
            for name in names { paths.append(try text(name)) }
            tally.count("hasChildren[]")
            return .boolean(paths.allSatisfy { !child(snapshot, $0).node.isAbsent })
        }
        var path = ""
        if let argument = arguments.first { path = try text(argument) }
        tally.count(name)
        let node = snapshot.node
        switch name {
        case "val": return node.children.isEmpty ? OracleValue(node.value) : .object(.absent)
        case "exists": return .boolean(!node.isAbsent)
        case "child": return .snapshot(child(snapshot, path))
        case "parent":
            if snapshot.path.isEmpty { throw OracleAbort() }
            return .snapshot(
                OracleSnapshot(root: snapshot.root, path: Array(snapshot.path.dropLast()))
            )
        case "hasChild": return .boolean(!child(snapshot, path).node.isAbsent)
        case "hasChildren": return .boolean(!node.children.isEmpty)
        case "getPriority": return OracleValue(node.priority)
        case "isString":
            if case .string = node.value { return .boolean(true) }
            return .boolean(false)
        case "isNumber":
            if case .number = node.value { return .boolean(true) }
            return .boolean(false)
        case "isBoolean":
            if case .boolean = node.value { return .boolean(true) }
            return .boolean(false)
        default: throw OracleAbort()
        }
    }

    /// Empty pieces vanish; of a path without any other, one stays and names nothing.
    private func child(_ snapshot: OracleSnapshot, _ path: String) -> OracleSnapshot {
        let keys = path.split(separator: "/").map(String.init)
        return OracleSnapshot(
            root: snapshot.root,
            path: snapshot.path + (keys.isEmpty ? [""] : keys)
        )
    }

    // MARK: Strings

    private mutating func text(
        _ expression: OracleExpression
    ) throws(OracleAbort) -> String {
        guard case .string(let text) = try value(expression) else { throw OracleAbort() }
        return text
    }

    private mutating func call(
        _ target: OracleValue,
        _ name: String,
        _ arguments: [OracleExpression]
    ) throws(OracleAbort) -> OracleValue {
        guard case .string(let base) = target else { throw OracleAbort() }
        if name == "matches" {
            guard case .pattern(let pattern) = arguments.first else { throw OracleAbort() }
            tally.count(name)
            return .boolean(pattern.matches(base))
        }
        var texts: [String] = []
        for argument in arguments { texts.append(try text(argument)) }
        tally.count(name)
        switch name {
        case "contains": return .boolean(OracleText.contains(base, texts[0]))
        case "beginsWith": return .boolean(OracleText.begins(base, with: texts[0]))
        case "endsWith": return .boolean(OracleText.ends(base, with: texts[0]))
        case "replace": return .string(OracleText.replacing(base, texts[0], texts[1]))
        case "toLowerCase": return .string(OracleText.lowercased(base))
        case "toUpperCase": return .string(OracleText.uppercased(base))
        default: throw OracleAbort()
        }
    }

    // MARK: Operators

    private mutating func binary(
        _ symbol: OracleExpression.Operator,
        _ left: OracleExpression,
        _ right: OracleExpression
    ) throws(OracleAbort) -> OracleValue {
        switch symbol {
        case .and:
            let first = try holds(left)
            tally.count(first ? "&&" : "&& not reached")
            return .boolean(first ? try holds(right) : false)
        case .or:
            let first = try holds(left)
            tally.count(first ? "|| not reached" : "||")
            return .boolean(first ? true : try holds(right))
        default: break
        }
        let a = try value(left)
        let b = try value(right)
        let result = try OracleEvaluation.combine(symbol, a, b)
        tally.count(symbol.rawValue)
        return result
    }

    private static func combine(
        _ symbol: OracleExpression.Operator,
        _ a: OracleValue,
        _ b: OracleValue
    ) throws(OracleAbort) -> OracleValue {
        switch symbol {
        case .equal: return .boolean(isEqual(a, b))
        case .notEqual: return .boolean(!isEqual(a, b))
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            return .boolean(try isOrdered(symbol, a, b))
        default: break
        }
        if case .number(let x) = a, case .number(let y) = b {
            switch symbol {
            case .add: return .number(x + y)
            case .subtract: return .number(x - y)
            case .multiply: return .number(x * y)
            case .divide: return .number(y == 0 ? .nan : x / y)
            default: return .number(y == 0 ? .nan : x.truncatingRemainder(dividingBy: y))
            }
        }
        switch (symbol, a, b) {
        case (.add, .string(let x), .string(let y)): return .string(x + y)
        case (.add, .string(let x), .number(let y)): return .string(x + OracleText.text(of: y))
        case (.add, .number(let x), .string(let y)): return .string(OracleText.text(of: x) + y)
        default: throw OracleAbort()
        }
    }

    /// Nothing is converted; objects equal nothing.
    private static func isEqual(_ a: OracleValue, _ b: OracleValue) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.boolean(let x), .boolean(let y)): x == y
        case (.number(let x), .number(let y)): x == y
        case (.string(let x), .string(let y)): x == y
        default: false
        }
    }

    private static func isOrdered(
        _ symbol: OracleExpression.Operator,
        _ a: OracleValue,
        _ b: OracleValue
    ) throws(OracleAbort) -> Bool {
        let (isBefore, isAfter, isSame): (Bool, Bool, Bool)
        switch (a, b) {
        case (.number(let x), .number(let y)): (isBefore, isAfter, isSame) = (x < y, x > y, x == y)
        case (.string(let x), .string(let y)):
            (isBefore, isAfter, isSame) = (
                OracleText.isOrdered(x, before: y), OracleText.isOrdered(y, before: x), x == y
            )
        default: throw OracleAbort()
        }
        switch symbol {
        case .less: return isBefore
        case .lessOrEqual: return isBefore || isSame
        case .greater: return isAfter
        default: return isAfter || isSame
        }
    }
}
