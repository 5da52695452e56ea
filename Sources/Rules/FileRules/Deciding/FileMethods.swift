import JSONTree
import SecurityRules

/// The functions of values.
enum FileMethods {
    /// Applies a function to its receiver; `pattern` is the first argument compiled, where it is a literal.
    static func apply(
        _ method: ValueMethod,
        _ receiver: FileValue,
        _ arguments: [FileValue],
        _ expression: Int,
        _ pattern: Pattern?,
        _ evaluator: inout FileEvaluator
    ) throws(FileFailure) -> FileValue {
        let weight = arguments.reduce(receiver.weight) { $0 + $1.weight }
        try evaluator.spend(isCostly(method, receiver) ? 4 * weight : weight, expression)
        let result: FileValue?
        switch receiver {
        case .string(let text) where method.takesPattern:
            let compiled: Pattern
            if let pattern {
                compiled = pattern
            } else {
                compiled = try compile(arguments[0], expression, &evaluator)
            }
            result = try search(method, text, compiled, arguments, expression, &evaluator)
        case .string(let text): result = apply(method, text)
        case .bytes(let bytes): result = apply(method, bytes: bytes)
        case .list(let list):
            result = try apply(method, list, arguments.first, expression, evaluator)
        case .set(let set): result = apply(method, set: set, arguments.first)
        case .map(let map): result = try apply(method, map, arguments, expression, evaluator)
        case .difference(let sets): result = sets[Array(method.rawValue.utf8)]
        case .path(let segments): result = bind(method, segments, arguments.first)
        case .timestamp(let time): result = apply(method, time)
        case .duration(let length):
            // A negative one has both parts negative or 0.
            let carry = length.seconds < 0 && length.nanos > 0
            switch method {
            case .seconds: result = .int(length.seconds + (carry ? 1 : 0))
            case .nanos: result = .int(length.nanos - (carry ? NanoTime.second : 0))
            default: result = nil
            }
        case .latlng(let latitude, let longitude):
            switch (method, arguments.first) {
            case (.latitude, _): result = .float(latitude)
            case (.longitude, _): result = .float(longitude)
            case (.distance, .latlng(let otherLatitude, let otherLongitude)?):
                let meters = Mathematics.distance(
                    (latitude, longitude),
                    (otherLatitude, otherLongitude)
                )
                result = .float(meters)
            default: result = nil
            }
        case .null, .bool, .int, .float: result = nil
        }
        guard let result else {
            let types = arguments.map(\.type.words).joined(separator: ", ")
            throw evaluator.failure(
                "\(receiver.type.words) has no \(method.rawValue)(\(types)).",
                expression
            )
        }
        return try evaluator.checked(result, expression)
    }

    /// Whether a byte takes more than a look: it is hashed, or looked up among the characters of Unicode.
    private static func isCostly(_ method: ValueMethod, _ receiver: FileValue) -> Bool {
        switch receiver {
        case .string: method == .lower || method == .upper || method == .trim
        case .list, .set: method != .size
        default: false
        }
    }

    // MARK: Texts

    private static func apply(_ method: ValueMethod, _ text: [UInt8]) -> FileValue? {
        switch method {
        case .size: return .int(Int64(FileOperations.scalarCount(text)))
        case .lower: return .text(String(decoding: text, as: UTF8.self).lowercased())
        case .upper: return .text(String(decoding: text, as: UTF8.self).uppercased())
        case .trim:
            let scalars = String(decoding: text, as: UTF8.self).unicodeScalars
            guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
                let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
            else { return .text("") }
            return .text(String(scalars[first...last]))
        case .toUtf8: return .bytes(text)
        default: return nil
        }
    }

    private static func compile(
        _ source: FileValue,
        _ expression: Int,
        _ evaluator: inout FileEvaluator
    ) throws(FileFailure) -> Pattern {
        guard case .string(let text) = source else {
            throw evaluator.failure("A pattern is a string, not \(source.type.words).", expression)
        }
        // A set of characters takes about a microsecond, and an automaton has up to 10,000 states.
        try evaluator.spend(256 * text.count + 65_536, expression)
        let scalars = Array(String(decoding: text, as: UTF8.self).unicodeScalars)
        do throws(LocatedFault) { return try Pattern(whole: scalars[...]) } catch {
            throw evaluator.failure(error.message, expression)
        }
    }

    private static func search(
        _ method: ValueMethod,
        _ text: [UInt8],
        _ pattern: Pattern,
        _ arguments: [FileValue],
        _ expression: Int,
        _ evaluator: inout FileEvaluator
    ) throws(FileFailure) -> FileValue? {
        if method == .matches {
            let found = evaluator.withSteps { steps in
                text.withBytes { pattern.matches($0, stepsLeft: &steps) }
            }
            if let found { return .bool(found) }
            // Takes what is not there.
            try evaluator.spend(.max / 2, expression)
        }
        var replacement: [UInt8] = []
        if method == .replace {
            guard case .string(let text) = arguments[1] else { return nil }
            replacement = text
        }
        let pieces = try pieces(of: text, between: pattern, expression, &evaluator)
        if method == .split { return .list(FileList(pieces.map { .string(Array($0)) })) }
        let byteCount = text.count + (pieces.count - 1) * replacement.count
        try evaluator.spend(byteCount, expression)
        if byteCount > 2 * FileRulesLimits.valueByteCount {
            throw evaluator.failure(
                "A value is larger than \(FileRulesLimits.valueByteCount) bytes.",
                expression
            )
        }
        return .string(Array(pieces.joined(separator: replacement)))
    }

    /// What stands between the matches of a pattern. An empty match counts between two characters, and not beside
    /// another match.
    private static func pieces(
        of text: [UInt8],
        between pattern: Pattern,
        _ expression: Int,
        _ evaluator: inout FileEvaluator
    ) throws(FileFailure) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var start = 0
        var from = 0
        while from <= text.count {
            try evaluator.spend(64, expression)
            let found = evaluator.withSteps { steps in
                text.withBytes { pattern.firstMatch(in: $0, from: from, stepsLeft: &steps) }
            }
            guard case .match(let range) = found else {
                if found == .exhausted { try evaluator.spend(.max / 2, expression) }
                break
            }
            if range.isEmpty, range.lowerBound == text.count { break }
            if !range.isEmpty || range.lowerBound > start {
                pieces.append(text[start..<range.lowerBound])
                start = range.upperBound
            }
            from = range.upperBound
            // Behind an empty match the search goes on at the next character.
            if range.isEmpty {
                repeat { from += 1 } while from < text.count && text[from] & 0xC0 == 0x80
            }
        }
        pieces.append(text[start...])
        return pieces
    }

    // MARK: Bytes

    private static func apply(_ method: ValueMethod, bytes: [UInt8]) -> FileValue? {
        switch method {
        case .size: .int(Int64(bytes.count))
        case .toBase64: .text(Base64.encode(bytes, .standard, isPadded: true))
        case .toHexString: .text(Hexadecimal.encode(bytes))
        default: nil
        }
    }

    // MARK: Lists, sets and maps

    private static func apply(
        _ method: ValueMethod,
        _ list: FileList,
        _ argument: FileValue?,
        _ expression: Int,
        _ evaluator: FileEvaluator
    ) throws(FileFailure) -> FileValue? {
        switch (method, argument) {
        case (.size, _): return .int(Int64(list.elements.count))
        case (.toSet, _): return .set(FileList(distinct: list.elements))
        case (.concat, .list(let other)?): return .list(FileList(list.elements + other.elements))
        case (.removeAll, .list(let other)?):
            let removed = Set(other.elements)
            return .list(FileList(list.elements.filter { !removed.contains($0) }))
        case (.join, .string(let separator)?):
            var texts: [[UInt8]] = []
            for element in list.elements {
                guard let text = FileBuiltins.text(of: element) else {
                    throw evaluator.failure(
                        "join() has no text for \(element.type.words).",
                        expression
                    )
                }
                texts.append(text)
            }
            let byteCount = texts.reduce(texts.count * separator.count) { $0 + $1.count }
            if byteCount > 2 * FileRulesLimits.valueByteCount {
                throw evaluator.failure(
                    "A value is larger than \(FileRulesLimits.valueByteCount) bytes.",
                    expression
                )
            }
            return .string(Array(texts.joined(separator: separator)))
        default: return compare(method, list, argument)
        }
    }

    /// `hasAll`, `hasAny` and `hasOnly` of a list or set with another list or set.
    private static func compare(_ method: ValueMethod, _ own: FileList, _ argument: FileValue?)
        -> FileValue?
    {
        let other: FileList
        switch argument {
        case .list(let list)?, .set(let list)?: other = list
        default: return nil
        }
        let (mine, theirs) = (Set(own.elements), Set(other.elements))
        return switch method {
        case .hasAll: .bool(theirs.isSubset(of: mine))
        case .hasAny: .bool(!theirs.isDisjoint(with: mine))
        case .hasOnly: .bool(mine.isSubset(of: theirs))
        default: nil
        }
    }

    private static func apply(_ method: ValueMethod, set: FileList, _ argument: FileValue?)
        -> FileValue?
    {
        if method == .size { return .int(Int64(set.elements.count)) }
        guard case .set(let other)? = argument else { return compare(method, set, argument) }
        let theirs = Set(other.elements)
        return switch method {
        case .difference: .set(FileList(set.elements.filter { !theirs.contains($0) }))
        case .intersection: .set(FileList(set.elements.filter { theirs.contains($0) }))
        case .union: .set(FileList(distinct: set.elements + other.elements))
        default: compare(method, set, argument)
        }
    }

    private static func apply(
        _ method: ValueMethod,
        _ map: FileMap,
        _ arguments: [FileValue],
        _ expression: Int,
        _ evaluator: FileEvaluator
    ) throws(FileFailure) -> FileValue? {
        switch method {
        case .size: return .int(Int64(map.keys.count))
        case .keys: return .list(FileList(map.keys.map { .string($0) }))
        case .values: return .list(FileList(map.values))
        case .get: return try get(map, arguments[0], arguments[1], expression, evaluator)
        case .diff:
            guard case .map(let before) = arguments[0] else { return nil }
            return .difference(difference(from: before, to: map))
        default: return nil
        }
    }

    /// The value of a key, or of a key in a key; what is missing on the way is the default.
    private static func get(
        _ map: FileMap,
        _ key: FileValue,
        _ other: FileValue,
        _ expression: Int,
        _ evaluator: FileEvaluator
    ) throws(FileFailure) -> FileValue {
        switch key {
        case .string(let name): return map[name] ?? other
        case .list(let list) where !list.elements.isEmpty:
            var value = FileValue.map(map)
            for element in list.elements {
                guard case .string(let name) = element else {
                    throw evaluator.failure(
                        "A key of get() is a string, not \(element.type.words).",
                        expression
                    )
                }
                guard case .map(let inner) = value, let next = inner[name] else { return other }
                value = next
            }
            return value
        default:
            throw evaluator.failure(
                "get() takes a key or a list of keys, not \(key.type.words).",
                expression
            )
        }
    }

    /// The sets of keys that are different between two maps, by the names of the functions that give them.
    private static func difference(from before: FileMap, to after: FileMap) -> FileMap {
        var (added, changed, unchanged): ([FileValue], [FileValue], [FileValue]) = ([], [], [])
        for (key, value) in zip(after.keys, after.values) {
            switch before[key] {
            case nil: added.append(.string(key))
            case value?: unchanged.append(.string(key))
            default: changed.append(.string(key))
            }
        }
        let removed = before.keys.filter { after[$0] == nil }.map { FileValue.string($0) }
        let sets: [(ValueMethod, [FileValue])] = [
            (.addedKeys, added), (.changedKeys, changed), (.removedKeys, removed),
            (.unchangedKeys, unchanged), (.affectedKeys, added + changed + removed),
        ]
        return FileMap(sets.map { (Array($0.rawValue.utf8), .set(FileList($1))) })
    }

    /// Replaces `$(name)` and `{name}` segments by the members of a map.
    private static func bind(_ method: ValueMethod, _ segments: [[UInt8]], _ argument: FileValue?)
        -> FileValue?
    {
        guard method == .bind, case .map(let map)? = argument else { return nil }
        var bound: [[UInt8]] = []
        for segment in segments {
            let (isParameter, name) =
                segment.starts(with: Array("$(".utf8)) && segment.last == UInt8(ascii: ")")
                ? (true, segment.dropFirst(2).dropLast())
                : (
                    segment.first == UInt8(ascii: "{") && segment.last == UInt8(ascii: "}"),
                    segment.dropFirst().dropLast()
                )
            if isParameter, case .string(let text)? = map[Array(name)] {
                bound.append(text)
            } else {
                bound.append(segment)
            }
        }
        return .path(bound)
    }

    // MARK: Times

    private static func apply(_ method: ValueMethod, _ time: NanoTime) -> FileValue? {
        let inDay = time.day.seconds
        switch method {
        case .date: return NanoTime(seconds: time.seconds - inDay).map { .timestamp($0) }
        case .time: return NanoTime(seconds: inDay, nanos: time.nanos).map { .duration($0) }
        case .year: return .int(time.date.year)
        case .month: return .int(time.date.month)
        case .day: return .int(time.date.day)
        case .hours: return .int(inDay / 3_600)
        case .minutes: return .int(inDay / 60 % 60)
        case .seconds: return .int(inDay % 60)
        case .nanos: return .int(time.nanos)
        case .dayOfWeek: return .int(time.dayOfWeek)
        case .dayOfYear: return .int(time.dayOfYear)
        case .toMillis: return .int(time.milliseconds)
        default: return nil
        }
    }
}
