/// Operators and access to members.
enum FileOperations {
    // MARK: Parts of a value

    static func member(
        _ base: FileValue,
        _ name: String,
        at expression: Int,
        _ evaluator: inout FileEvaluator
    ) throws(FileFailure) -> FileValue {
        guard case .map(let map) = base else {
            throw evaluator.failure(
                "\(base.type.words) has no members, so there is no .\(name).",
                expression
            )
        }
        guard let value = map[Array(name.utf8)] else {
            throw evaluator.failure(
                "There is no member '\(name.prefix(80))'; a map has get('\(name.prefix(80))', default).",
                expression
            )
        }
        return value
    }

    static func element(
        _ base: FileValue,
        _ index: FileValue,
        _ expression: Int,
        _ evaluator: inout FileEvaluator
    ) throws(FileFailure) -> FileValue {
        switch (base, index) {
        case (.map(let map), .string(let key)):
            if let value = map[key] { return value }
            throw evaluator.failure("The map has no key \(index.shown).", expression)
        case (.list(let list), .int(let place)):
            if let value = at(place, list.elements) { return value }
            throw outOfBounds(place, list.elements.count, expression, evaluator)
        case (.path(let segments), .int(let place)):
            if let segment = at(place, segments) { return .string(segment) }
            throw outOfBounds(place, segments.count, expression, evaluator)
        case (.string(let text), .int(let place)):
            try evaluator.spend(text.count, expression)
            if let range = range(of: text, place, place.addingReportingOverflow(1).partialValue) {
                return .string(Array(text[range]))
            }
            throw outOfBounds(place, scalarCount(text), expression, evaluator)
        default:
            throw evaluator.failure(
                "\(base.type.words) has no element at \(index.type.words).",
                expression
            )
        }
    }

    private static func at<T>(_ place: Int64, _ elements: [T]) -> T? {
        place >= 0 && place < elements.count ? elements[Int(place)] : nil
    }

    private static func outOfBounds(
        _ place: Int64,
        _ count: Int,
        _ expression: Int,
        _ evaluator: FileEvaluator
    ) -> FileFailure {
        evaluator.failure(
            "\(place) is out of bounds: there are \(count), counted from 0.",
            expression
        )
    }

    static func slice(
        _ base: FileValue,
        _ from: FileValue?,
        _ to: FileValue?,
        _ expression: Int,
        _ evaluator: inout FileEvaluator
    ) throws(FileFailure) -> FileValue {
        try evaluator.spend(base.weight, expression)
        let count: Int
        switch base {
        case .string(let text): count = scalarCount(text)
        case .list(let list): count = list.elements.count
        default: throw evaluator.failure("\(base.type.words) has no slices.", expression)
        }
        guard case .int(let start) = from ?? .int(0), case .int(let end) = to ?? .int(Int64(count))
        else {
            throw evaluator.failure("The ends of a slice are ints.", expression)
        }
        guard start >= 0, start <= end, end <= count else {
            throw evaluator.failure(
                "[\(start):\(end)] is out of bounds: there are \(count), counted from 0.",
                expression
            )
        }
        if case .list(let list) = base {
            return .list(FileList(Array(list.elements[Int(start)..<Int(end)])))
        }
        guard case .string(let text) = base, let range = range(of: text, start, end) else {
            return .text("")
        }
        return .string(Array(text[range]))
    }

    /// Code points of a text.
    static func scalarCount(_ text: [UInt8]) -> Int { text.count { $0 & 0xC0 != 0x80 } }

    /// The bytes of some code points of a text; nil when it has fewer.
    private static func range(of text: [UInt8], _ from: Int64, _ to: Int64) -> Range<Int>? {
        if from < 0 || from > to { return nil }
        var (start, end): (Int?, Int?)
        var count: Int64 = 0
        for offset in 0...text.count where offset == text.count || text[offset] & 0xC0 != 0x80 {
            if count == from { start = offset }
            if count == to {
                end = offset
                break
            }
            count += 1
        }
        guard let start, let end else { return nil }
        return start..<end
    }

    // MARK: Operators

    static func negated(
        _ value: FileValue,
        _ expression: Int,
        _ evaluator: FileEvaluator
    ) throws(FileFailure) -> FileValue {
        switch value {
        case .int(let number):
            let (result, overflow) = Int64(0).subtractingReportingOverflow(number)
            if overflow { throw evaluator.failure("An int runs over.", expression) }
            return .int(result)
        case .float(let number): return .float(-number)
        default: throw evaluator.failure("\(value.type.words) has no negative.", expression)
        }
    }

    static func apply(
        _ symbol: FileOperator,
        _ a: FileValue,
        _ b: FileValue,
        _ expression: Int,
        _ evaluator: inout FileEvaluator
    ) throws(FileFailure) -> FileValue {
        switch symbol {
        case .equal, .notEqual:
            try evaluator.spend(min(a.weight, b.weight), expression)
            return .bool((a == b) == (symbol == .equal))
        case .in: return .bool(try contains(b, a, expression, &evaluator))
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            try evaluator.spend(min(a.weight, b.weight), expression)
            guard let order = order(a, b) else {
                throw evaluator.failure(
                    "\(a.type.words) and \(b.type.words) have no order.",
                    expression
                )
            }
            switch (symbol, order) {
            // Not a number is neither before nor behind anything.
            case (_, .none): return .bool(false)
            case (.less, let order?): return .bool(order < 0)
            case (.lessOrEqual, let order?): return .bool(order <= 0)
            case (.greater, let order?): return .bool(order > 0)
            case (_, let order?): return .bool(order >= 0)
            }
        case .add, .subtract, .multiply, .divide, .remainder:
            return try arithmetic(symbol, a, b, expression, &evaluator)
        }
    }

    private static func contains(
        _ container: FileValue,
        _ value: FileValue,
        _ expression: Int,
        _ evaluator: inout FileEvaluator
    ) throws(FileFailure) -> Bool {
        switch container {
        case .list(let list), .set(let list):
            try evaluator.spend(list.weight, expression)
            return list.elements.contains(value)
        case .map(let map):
            if case .string(let key) = value { return map[key] != nil }
            return false
        default:
            throw evaluator.failure(
                "'in' looks into a list, a set or a map, not \(container.type.words).",
                expression
            )
        }
    }

    /// Negative, 0 or positive; nil inside for a number that is none; nil for values without an order.
    private static func order(_ a: FileValue, _ b: FileValue) -> Int?? {
        func rank<T: Comparable>(_ x: T, _ y: T) -> Int { x < y ? -1 : x == y ? 0 : 1 }
        switch (a, b) {
        case (.int(let x), .int(let y)): return rank(x, y)
        case (.string(let x), .string(let y)):
            return x == y ? 0 : x.lexicographicallyPrecedes(y) ? -1 : 1
        case (.timestamp(let x), .timestamp(let y)), (.duration(let x), .duration(let y)):
            return rank(x, y)
        case (.float(let x), .float(let y)): return x.isNaN || y.isNaN ? .some(nil) : rank(x, y)
        case (.int(let x), .float(let y)): return .some(compare(x, y))
        case (.float(let x), .int(let y)): return .some(compare(y, x).map { -$0 })
        default: return nil
        }
    }

    /// Exact, also where the float could not hold the int; nil for not a number.
    private static func compare(_ int: Int64, _ float: Double) -> Int? {
        if float.isNaN { return nil }
        if float >= 0x1p63 { return -1 }
        if float < -0x1p63 { return 1 }
        let whole = Int64(float.rounded(.down))
        if int != whole { return int < whole ? -1 : 1 }
        return float == Double(whole) ? 0 : -1
    }

    private static func arithmetic(
        _ symbol: FileOperator,
        _ a: FileValue,
        _ b: FileValue,
        _ expression: Int,
        _ evaluator: inout FileEvaluator
    ) throws(FileFailure) -> FileValue {
        switch (symbol, a, b) {
        case (_, .int(let x), .int(let y)): return try ints(symbol, x, y, expression, evaluator)
        case (_, .float(let x), .float(let y)): return .float(floats(symbol, x, y))
        case (_, .int(let x), .float(let y)): return .float(floats(symbol, Double(x), y))
        case (_, .float(let x), .int(let y)): return .float(floats(symbol, x, Double(y)))
        case (.add, .string(let x), .string(let y)):
            try evaluator.spend(x.count + y.count, expression)
            return try evaluator.checked(.string(x + y), expression)
        case (.add, .list(let x), .list(let y)):
            try evaluator.spend(x.weight + y.weight, expression)
            return try evaluator.checked(.list(FileList(x.elements + y.elements)), expression)
        case (.add, .timestamp(let time), .duration(let length)),
            (.add, .duration(let length), .timestamp(let time)):
            return .timestamp(try inRange(time.adding(length)?.asTimestamp, expression, evaluator))
        case (.subtract, .timestamp(let time), .duration(let length)):
            return .timestamp(
                try inRange(time.subtracting(length)?.asTimestamp, expression, evaluator)
            )
        case (.subtract, .timestamp(let x), .timestamp(let y)),
            (.subtract, .duration(let x), .duration(let y)):
            return .duration(try inRange(x.subtracting(y), expression, evaluator))
        case (.add, .duration(let x), .duration(let y)):
            return .duration(try inRange(x.adding(y), expression, evaluator))
        default:
            throw evaluator.failure(
                "There is no \(a.type.words) \(symbol.rawValue) \(b.type.words).",
                expression
            )
        }
    }

    static func inRange(_ time: NanoTime?, _ expression: Int, _ evaluator: FileEvaluator)
        throws(FileFailure) -> NanoTime
    {
        guard let time else {
            throw evaluator.failure(
                "A timestamp is in the years 1 to 9999, a duration within 10,000 years.",
                expression
            )
        }
        return time
    }

    private static func ints(
        _ symbol: FileOperator,
        _ x: Int64,
        _ y: Int64,
        _ expression: Int,
        _ evaluator: FileEvaluator
    ) throws(FileFailure) -> FileValue {
        if symbol == .divide || symbol == .remainder, y == 0 {
            throw evaluator.failure("Division by zero.", expression)
        }
        let (result, overflow) =
            switch symbol {
            case .add: x.addingReportingOverflow(y)
            case .subtract: x.subtractingReportingOverflow(y)
            case .multiply: x.multipliedReportingOverflow(by: y)
            case .divide: x.dividedReportingOverflow(by: y)
            default: x.remainderReportingOverflow(dividingBy: y)
            }
        if overflow { throw evaluator.failure("An int runs over.", expression) }
        return .int(result)
    }

    private static func floats(_ symbol: FileOperator, _ x: Double, _ y: Double) -> Double {
        switch symbol {
        case .add: x + y
        case .subtract: x - y
        case .multiply: x * y
        case .divide: x / y
        default: x.truncatingRemainder(dividingBy: y)
        }
    }
}
