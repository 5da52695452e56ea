import JSONTree

/// The functions that belong to no value.
enum FileBuiltins {
    static func apply(
        _ builtin: Builtin,
        _ arguments: [FileValue],
        _ expression: Int,
        _ evaluator: inout FileEvaluator
    ) throws(FileFailure) -> FileValue {
        try evaluator.spend(arguments.reduce(0) { $0 + $1.weight }, expression)
        let value = arguments[0]
        let result: FileValue?
        switch builtin {
        case .debug:
            evaluator.note(value, expression)
            return value
        case .firestoreGet, .firestoreExists:
            throw evaluator.failure(
                "Hearth has no Firestore; database.get(/path) reads a database.",
                expression
            )
        case .bool, .int, .float, .string, .path: result = convert(builtin, value)
        case .hashingMd5, .hashingSha256, .hashingCrc32, .hashingCrc32c:
            // A byte takes eight steps.
            try evaluator.spend(7 * value.weight, expression)
            switch value {
            case .string(let bytes), .bytes(let bytes): result = .bytes(hash(builtin, bytes))
            default: result = nil
            }
        case .durationValue, .durationTime, .durationAbs, .timestampValue, .timestampDate:
            result = time(builtin, arguments)
        case .latlngValue:
            if let latitude = number(value), let longitude = number(arguments[1]),
                abs(latitude) <= 90, abs(longitude) <= 180
            {
                result = .latlng(latitude: latitude, longitude: longitude)
            } else {
                result = nil
            }
        case .mathAbs, .mathCeil, .mathFloor, .mathRound, .mathSqrt, .mathPow, .mathIsNaN,
            .mathIsInfinite:
            result = math(builtin, value, arguments.last)
        }
        guard let result else {
            let shown = arguments.map(\.shown).joined(separator: ", ")
            throw evaluator.failure(
                "\(builtin.rawValue)(\(shown.prefix(300))) has no value.",
                expression
            )
        }
        return try evaluator.checked(result, expression)
    }

    // MARK: Conversions

    private static func convert(_ builtin: Builtin, _ value: FileValue) -> FileValue? {
        switch (builtin, value) {
        case (.string, let value): return text(of: value).map { .string($0) }
        case (.bool, .bool), (.int, .int), (.float, .float), (.path, .path): return value
        case (.bool, .string(let text)):
            return text == Array("true".utf8)
                ? .bool(true) : text == Array("false".utf8) ? .bool(false) : nil
        case (.int, .float(let number)):
            return Int64(exactly: number.rounded(.towardZero)).map { .int($0) }
        case (.int, .string(let text)):
            return Int64(String(decoding: text, as: UTF8.self)).map { .int($0) }
        case (.float, .int(let number)): return .float(Double(number))
        case (.float, .string(let text)):
            // Not the words and hexadecimal forms that Swift reads besides.
            guard text.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }) else { return nil }
            return Double(String(decoding: text, as: UTF8.self)).map { .float($0) }
        case (.path, .string(let text)):
            let pieces = text.split(separator: 0x2F, omittingEmptySubsequences: true)
            return .path(pieces.map { Array($0) })
        default: return nil
        }
    }

    /// The text of a value; nil for those that have none.
    static func text(of value: FileValue) -> [UInt8]? {
        switch value {
        case .string(let text): text
        case .null, .bool, .int, .float, .path: Array(value.shownWhole.utf8)
        case .bytes, .list, .set, .map, .difference, .timestamp, .duration, .latlng: nil
        }
    }

    private static func number(_ value: FileValue) -> Double? {
        switch value {
        case .int(let number): Double(number)
        case .float(let number): number
        default: nil
        }
    }

    // MARK: Numbers

    private static func math(_ builtin: Builtin, _ value: FileValue, _ other: FileValue?)
        -> FileValue?
    {
        guard let x = number(value) else { return nil }
        switch (builtin, value) {
        case (.mathAbs, .int(let number)): return number == .min ? nil : .int(abs(number))
        case (.mathAbs, _): return .float(abs(x))
        case (.mathCeil, .int), (.mathFloor, .int), (.mathRound, .int): return value
        case (.mathCeil, _): return whole(x.rounded(.up))
        case (.mathFloor, _): return whole(x.rounded(.down))
        case (.mathRound, _): return whole(x.rounded(.toNearestOrAwayFromZero))
        case (.mathSqrt, _): return .float(x.squareRoot())
        case (.mathPow, _): return other.flatMap(number).map { .float(Mathematics.power(x, $0)) }
        case (.mathIsNaN, _): return .bool(x.isNaN)
        case (.mathIsInfinite, _): return .bool(x.isInfinite)
        default: return nil
        }
    }

    private static func whole(_ number: Double) -> FileValue? {
        Int64(exactly: number).map { .int($0) }
    }

    // MARK: Times

    /// Nanoseconds of the units of `duration.value`.
    private static let units: [String: Int64] = [
        "w": 604_800_000_000_000, "d": 86_400_000_000_000, "h": 3_600_000_000_000,
        "m": 60_000_000_000, "s": 1_000_000_000, "ms": 1_000_000, "ns": 1,
    ]

    private static func time(_ builtin: Builtin, _ arguments: [FileValue]) -> FileValue? {
        if case (.durationAbs, .duration(let length)) = (builtin, arguments[0]) {
            let isNegative = length.seconds < 0
            return isNegative
                ? NanoTime(seconds: -length.seconds, nanos: -length.nanos).map { .duration($0) }
                : arguments[0]
        }
        if case (.durationValue, .int(let count), .string(let unit)) = (
            builtin, arguments[0], arguments.last ?? .null
        ) {
            return units[String(decoding: unit, as: UTF8.self)]
                .flatMap { NanoTime(count, nanosPerUnit: $0) }.map { .duration($0) }
        }
        var numbers: [Int64] = []
        for argument in arguments {
            guard case .int(let number) = argument else { return nil }
            numbers.append(number)
        }
        switch builtin {
        case .timestampValue:
            return NanoTime(numbers[0], nanosPerUnit: 1_000_000)?.asTimestamp.map { .timestamp($0) }
        case .timestampDate:
            guard (1...9_999).contains(numbers[0]), (1...12).contains(numbers[1]),
                (1...31).contains(numbers[2])
            else { return nil }
            let day = ISO8601.day(year: numbers[0], month: numbers[1], day: numbers[2])
            // The 30th of February is in March, and no date.
            guard ISO8601.date(ofDay: day).day == numbers[2] else { return nil }
            return NanoTime(seconds: day * NanoTime.dayLength).map { .timestamp($0) }
        case .durationTime:
            var total = NanoTime(seconds: 0)
            for (count, unit) in zip(numbers, ["h", "m", "s", "ns"]) {
                guard let part = units[unit].flatMap({ NanoTime(count, nanosPerUnit: $0) }) else {
                    return nil
                }
                total = total?.adding(part)
            }
            return total.map { .duration($0) }
        default: return nil
        }
    }

    // MARK: Hashes

    private static func hash(_ builtin: Builtin, _ bytes: [UInt8]) -> [UInt8] {
        switch builtin {
        case .hashingMd5: Digests.md5(bytes)
        case .hashingSha256: Digests.sha256(bytes)
        case .hashingCrc32: Digests.crc(bytes, 0xEDB8_8320)
        default: Digests.crc(bytes, 0x82F6_3B78)
        }
    }
}

extension FileValue {
    /// As `shown`, and never cut: only for what is short, and for paths.
    fileprivate var shownWhole: String {
        guard case .path(let segments) = self else { return shown }
        if segments.isEmpty { return "/" }
        return segments.map { "/" + String(decoding: $0, as: UTF8.self) }.joined()
    }
}
