import TestSupport
/// Makes random rules that load: what an expression may be is decided by its load-time type.
///
/// Keys, strings and numbers are few, so that what a rule asks for is often there.
struct OracleGenerator {
    var random: SeededGenerator
    private var kind = OracleRules.Kind.read
    private var captures: [String] = []

    init(random: SeededGenerator) {
        self.random = random
    }

    static let keys = ["a", "b", "c", "1", "é", "\u{1F600}k"]
    static let texts = [
        "a", "b", "c", "1", "", "ab", "aB1", "b-a", "é", "É ß", "\u{1F600}", "\u{FFFD}a",
        "\u{1F600}a", "\u{E000}", "it's", "\"a\"\\", "a\nb", "a/b", "aaa", "x.y",
    ]
    static let numbers: [Double] = [0, 1, 2, 3, 5, 10, 1.5, 0.25, 100, 1e21, 1.5e-7, 1_000_000]

    mutating func pick<T>(_ all: [T]) -> T { all[random.index(all.count)] }

    mutating func oneIn(_ count: Int) -> Bool { random.index(count) == 0 }

    // MARK: Rule trees

    private static let depth = 3

    /// A whole rule tree.
    mutating func rules() -> OracleRules { rules("", depth: OracleGenerator.depth) }

    private mutating func rules(_ declaration: String, depth: Int) -> OracleRules {
        let rules = OracleRules(declaration: declaration.isEmpty ? "/" : declaration)
        for kind in OracleRules.Kind.allCases where hasRule(kind, depth) {
            self.kind = kind
            rules.rules[kind] = rule()
        }
        if depth == 0 { return rules }
        for key in OracleGenerator.keys where random.index(5) < 2 {
            rules.literals.append((key, self.rules(declaration + "/" + key, depth: depth - 1)))
            // A handful of places is enough, and a large file takes long to load.
            if rules.literals.count == 2 { break }
        }
        if random.index(5) < 3 {
            let name = "$k\(depth)"
            captures.append(name)
            rules.wildcard = (name, self.rules(declaration + "/" + name, depth: depth - 1))
            captures.removeLast()
        }
        return rules
    }

    /// Rules at the root decide too much to be there often.
    private mutating func hasRule(_ kind: OracleRules.Kind, _ depth: Int) -> Bool {
        switch kind {
        case .read, .write: depth == OracleGenerator.depth ? oneIn(4) : random.index(4) < 3
        case .validate: oneIn(depth == OracleGenerator.depth ? 8 : 5)
        }
    }

    private mutating func rule() -> OracleExpression {
        if oneIn(8) { return .boolean(!oneIn(4)) }
        let rule = boolean(depth: 3)
        // What is validated must hold at every place of a path.
        if kind == .validate, !oneIn(3) {
            return .binary(.or, .binary(.or, look(), .not(look())), rule)
        }
        return oneIn(3) ? rule : .binary(.or, .not(look()), rule)
    }

    // MARK: Booleans

    mutating func boolean(depth: Int) -> OracleExpression {
        if depth > 0 {
            switch random.index(12) {
            case 0, 1:
                return .binary(.and, boolean(depth: depth - 1), boolean(depth: depth - 1))
            case 2, 3, 4:
                return .binary(.or, boolean(depth: depth - 1), boolean(depth: depth - 1))
            case 5: return .not(boolean(depth: depth - 1))
            case 6:
                return .ternary(
                    boolean(depth: depth - 1),
                    boolean(depth: depth - 1),
                    boolean(depth: depth - 1)
                )
            default: break
            }
        }
        switch random.index(20) {
        case 0, 1, 2, 3: return look()
        case 4, 5: return stringTest()
        case 6, 7: return numberTest()
        case 8, 9: return authTest()
        case 10, 11: return queryTest()
        case 12, 13: return captureTest()
        case 14: return .binary(pick([.equal, .notEqual]), comparable(2), comparable(2))
        case 15: return .binary(ordering(), orderable(2), orderable(2))
        case 16: return .binary(ordering(), numeric(2), numeric(2))
        case 17: return stringMethod(on: text(2))
        default:
            return .binary(pick([.equal, .notEqual]), value(), pick([.null, scalar(), value()]))
        }
    }

    private mutating func ordering() -> OracleExpression.Operator {
        pick([.less, .lessOrEqual, .greater, .greaterOrEqual])
    }

    /// A question to a snapshot.
    private mutating func look() -> OracleExpression {
        let base = snapshot(3)
        switch random.index(9) {
        case 0, 1: return .call(base, "exists", [])
        case 2: return .call(base, "hasChildren", [])
        case 3:
            let names = (0..<random.index(4)).map { _ in oneIn(3) ? text(1) : .string(path()) }
            return .call(base, "hasChildren", [.array(names)])
        case 4: return .call(base, "hasChild", [text(1)])
        case 5: return .call(base, "hasChild", [.string(path())])
        default: return .call(base, pick(["isString", "isNumber", "isBoolean"]), [])
        }
    }

    /// Asks first whether there is a string, as careful authors do.
    private mutating func stringTest() -> OracleExpression {
        let base = snapshot(random.index(2))
        let test = stringMethod(on: .call(base, "val", []))
        return .binary(.and, .call(base, "isString", []), test)
    }

    private mutating func stringMethod(on base: OracleExpression) -> OracleExpression {
        switch random.index(8) {
        case 0: return .call(base, "contains", [part()])
        case 1, 2:
            let part = part()
            let isEnd = oneIn(2)
            let joined: OracleExpression =
                isEnd ? .binary(.add, base, part) : .binary(.add, part, base)
            return .call(oneIn(2) ? base : joined, isEnd ? "endsWith" : "beginsWith", [part])
        case 3:
            let old = part()
            let replaced: OracleExpression = .call(base, "replace", [old, part()])
            if oneIn(2) { return .call(replaced, "contains", [old]) }
            return .binary(pick([.equal, .less]), replaced, text(1))
        case 4:
            let changed: OracleExpression = .call(base, pick(["toLowerCase", "toUpperCase"]), [])
            return .binary(.equal, changed, text(1))
        case 5:
            return .binary(ordering(), .member(base, "length"), .number(pick([0, 1, 2, 3])))
        case 6:
            if oneIn(2) { return .binary(ordering(), base, text(0)) }
            let other = OracleExpression.ternary(look(), wide(), wide())
            return .binary(ordering(), wide(), other)
        default: return .call(base, "matches", [.pattern(.random(&random))])
        }
    }

    /// Texts whose order by code unit is not that of their scalars.
    private mutating func wide() -> OracleExpression {
        .string(pick(["\u{1F600}", "\u{FFFD}a", "\u{E000}", "\u{1F600}a", "é"]))
    }

    /// Something short, which other texts often hold.
    private mutating func part() -> OracleExpression {
        oneIn(2) ? text(1) : .string(pick(["a", "b", "1", "é", "ab", ""]))
    }

    private mutating func numberTest() -> OracleExpression {
        let base = snapshot(random.index(2))
        let small: [Double] = [0, 1, 2, 3]
        let operand = oneIn(2) ? .number(pick(small)) : numeric(1)
        let result = OracleExpression.binary(
            pick([.add, .subtract, .multiply, .divide, .remainder]),
            .call(base, "val", []),
            operand
        )
        let limit = oneIn(2) ? .number(pick(small)) : numeric(1)
        let test = OracleExpression.binary(ordering(), result, limit)
        return .binary(.and, .call(base, "isNumber", []), test)
    }

    private mutating func authTest() -> OracleExpression {
        let auth = OracleExpression.variable(.auth)
        let test: OracleExpression =
            switch random.index(7) {
            case 0: .binary(.notEqual, auth, .null)
            case 1: .binary(.equal, .member(auth, "uid"), pick([text(1), value()]))
            case 2: .binary(pick([.equal, .notEqual]), authValue(), pick([.boolean(true), .null]))
            case 3: stringMethod(on: .member(auth, "uid"))
            case 4: .call(.variable(.root), "hasChild", [.member(auth, "uid")])
            case 5: .binary(ordering(), authValue(), orderable(1))
            default: .binary(.equal, authValue(), comparable(1))
            }
        return oneIn(2) ? .binary(.and, .binary(.notEqual, auth, .null), test) : test
    }

    private mutating func authValue() -> OracleExpression {
        let token = OracleExpression.member(.variable(.auth), "token")
        switch random.index(8) {
        case 0: return .member(token, "admin")
        case 1: return .member(.member(token, "rooms"), pick(["a", "b"]))
        case 2: return .index(.member(token, "rooms"), text(1))
        case 3: return .index(.member(token, "list"), numeric(1))
        case 4: return .member(token, "level")
        case 5: return .member(pick([token, .member(.variable(.auth), "uid")]), "length")
        case 6: return .member(.member(token, "none"), "deeper")
        default: return .member(.variable(.auth), pick(["uid", "provider", "token"]))
        }
    }

    private mutating func queryTest() -> OracleExpression {
        if kind != .read { return look() }
        let query = OracleExpression.variable(.query)
        func property(_ name: String) -> OracleExpression { .member(query, name) }
        switch random.index(6) {
        case 0: return property(pick(OracleType.queryFlags))
        case 1: return .not(property(pick(OracleType.queryFlags)))
        case 2: return .binary(.equal, property("orderByChild"), .string(pick(["a", "b", "a/b"])))
        case 3:
            let limit = property(pick(["limitToFirst", "limitToLast"]))
            let isGiven = OracleExpression.binary(.notEqual, limit, .null)
            let test = OracleExpression.binary(ordering(), limit, .number(pick([1, 2, 3, 10])))
            return oneIn(3) ? test : .binary(.and, isGiven, test)
        case 4:
            let bound = property(pick(["startAt", "endAt", "equalTo"]))
            return .binary(pick([.equal, .notEqual]), bound, pick([.null, scalar(), text(1)]))
        default:
            return .binary(ordering(), property(pick(["startAt", "endAt"])), orderable(1))
        }
    }

    private mutating func captureTest() -> OracleExpression {
        guard !captures.isEmpty else { return look() }
        let capture = OracleExpression.capture(pick(captures))
        if oneIn(2) { return stringMethod(on: capture) }
        return .binary(
            pick([.equal, .notEqual]),
            capture,
            pick([.string(pick(OracleGenerator.keys)), .member(.variable(.auth), "uid"), value()])
        )
    }

    // MARK: Values

    mutating func scalar() -> OracleExpression {
        switch random.index(4) {
        case 0: .boolean(oneIn(2))
        case 1: .string(pick(OracleGenerator.texts))
        default: .number(pick(OracleGenerator.numbers))
        }
    }

    /// Something of the data.
    private mutating func value() -> OracleExpression {
        .call(snapshot(2), oneIn(6) ? "getPriority" : "val", [])
    }

    private mutating func comparable(_ depth: Int) -> OracleExpression {
        switch random.index(8) {
        case 0: pick([.null, .variable(.auth)])
        case 1: authValue()
        case 2 where depth > 0: look()
        case 3 where depth > 0: .ternary(look(), scalar(), value())
        case 4 where kind == .read: .member(.variable(.query), pick(OracleType.queryValues))
        case 5: orderable(depth)
        case 6: value()
        default: scalar()
        }
    }

    private mutating func orderable(_ depth: Int) -> OracleExpression {
        switch random.index(5) {
        case 0: text(depth)
        case 1: value()
        case 2 where depth > 0: .binary(.add, orderable(depth - 1), orderable(depth - 1))
        case 3 where depth > 0: .ternary(look(), text(depth - 1), numeric(depth - 1))
        default: numeric(depth)
        }
    }

    private mutating func numeric(_ depth: Int) -> OracleExpression {
        if depth > 0 {
            switch random.index(7) {
            case 0, 1:
                return .binary(
                    pick([.add, .subtract, .multiply, .divide, .remainder]),
                    numeric(depth - 1),
                    numeric(depth - 1)
                )
            case 2: return .negative(numeric(depth - 1))
            case 3: return .member(text(depth - 1), "length")
            case 4: return .ternary(look(), numeric(depth - 1), numeric(depth - 1))
            default: break
            }
        }
        switch random.index(8) {
        case 0: return .variable(.now)
        case 1: return .call(snapshot(1), "val", [])
        case 2: return .member(.member(.variable(.auth), "token"), "level")
        default: return .number(pick(OracleGenerator.numbers))
        }
    }

    /// What may be given where a method takes a string.
    private mutating func text(_ depth: Int) -> OracleExpression {
        if depth > 0 {
            switch random.index(8) {
            case 0: return .binary(.add, text(depth - 1), text(depth - 1))
            case 1: return .binary(.add, .string(pick(OracleGenerator.texts)), numeric(depth - 1))
            case 2: return .call(text(depth - 1), pick(["toLowerCase", "toUpperCase"]), [])
            case 3: return .call(text(depth - 1), "replace", [text(0), text(0)])
            case 4: return .call(snapshot(1), "val", [])
            case 5: return .ternary(look(), text(depth - 1), text(depth - 1))
            default: break
            }
        }
        switch random.index(6) {
        case 0 where !captures.isEmpty: return .capture(pick(captures))
        case 1: return .member(.variable(.auth), "uid")
        case 2, 3: return .string(pick(OracleGenerator.keys))
        default: return .string(pick(OracleGenerator.texts))
        }
    }

    // MARK: Snapshots

    private mutating func snapshot(_ depth: Int) -> OracleExpression {
        if depth == 0 || oneIn(3) {
            return .variable(
                pick(kind == .read ? [.data, .root] : [.data, .newData, .newData, .root])
            )
        }
        let base = snapshot(depth - 1)
        switch random.index(12) {
        case 0: return .call(base, "parent", [])
        case 1: return .call(.call(base, "child", [.string(key())]), "parent", [])
        case 2, 3: return .call(base, "child", [text(1)])
        case 4: return .call(base, "child", [.string(path())])
        case 5: return .ternary(.call(base, "exists", []), base, snapshot(0))
        default: return .call(base, "child", [.string(key())])
        }
    }

    private mutating func key() -> String { pick(OracleGenerator.keys) }

    /// A path for `child()`, tidy or not.
    private mutating func path() -> String {
        switch random.index(10) {
        case 0: pick(["", "/", "x.y", "a/x.y/b", "[1]", "..", "a/..", "#"])
        case 1: "/" + key()
        case 2: key() + "//" + key() + "/"
        case 3, 4: key() + "/" + key()
        default: key()
        }
    }
}

/// Makes expressions without regard to types.
struct OracleMixer {
    var generator: OracleGenerator

    mutating func expression(depth: Int) -> OracleExpression {
        if depth == 0 { return leaf() }
        switch generator.random.index(9) {
        case 0: return .not(expression(depth: depth - 1))
        case 1: return .negative(expression(depth: depth - 1))
        case 2, 3:
            return .binary(
                generator.pick(OracleExpression.Operator.allCases),
                expression(depth: depth - 1),
                expression(depth: depth - 1)
            )
        case 4:
            return .ternary(
                expression(depth: depth - 1),
                expression(depth: depth - 1),
                expression(depth: depth - 1)
            )
        case 5: return .member(expression(depth: depth - 1), member())
        case 6: return .index(expression(depth: depth - 1), leaf())
        default:
            let arguments = (0..<generator.random.index(3)).map { _ in argument() }
            return .call(expression(depth: depth - 1), member(), arguments)
        }
    }

    /// A literal key in brackets is written as a member, which is the same.
    mutating func leaf() -> OracleExpression {
        switch generator.random.index(8) {
        case 0: generator.pick([.null, .capture("$k"), .capture("$other")])
        case 1: generator.scalar()
        case 2: .call(.variable(.data), "val", [])
        case 3: .call(.variable(.data), "exists", [])
        case 4: .number(1)
        default: .variable(generator.pick(OracleExpression.Variable.allCases))
        }
    }

    private mutating func argument() -> OracleExpression {
        switch generator.random.index(5) {
        case 0: .pattern(.random(&generator.random))
        case 1: .array([leaf()])
        case 2: .string("a")
        default: leaf()
        }
    }

    private mutating func member() -> String {
        let members =
            OracleType.snapshotMethods.keys.sorted() + OracleType.stringMethods.keys.sorted()
            + OracleType.queryFlags + OracleType.queryValues + ["length", "uid", "foo"]
        return generator.pick(members)
    }
}
