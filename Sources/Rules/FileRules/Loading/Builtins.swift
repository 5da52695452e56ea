/// The functions of values: `'a'.size()`.
enum ValueMethod: String, CaseIterable, Sendable {
    case size, lower, upper, trim, matches, replace, split, toUtf8
    case concat, hasAll, hasAny, hasOnly, join, removeAll, toSet
    case difference, intersection, union
    case keys, values, get, diff
    case addedKeys, affectedKeys, changedKeys, removedKeys, unchangedKeys
    case bind
    case toBase64, toHexString
    case date, day, dayOfWeek, dayOfYear, hours, minutes, month, nanos, seconds, time, toMillis,
        year
    case latitude, longitude, distance

    /// How many arguments it takes.
    var argumentCount: Int {
        switch self {
        case .replace, .get: 2
        case .matches, .split, .concat, .hasAll, .hasAny, .hasOnly, .join, .removeAll, .difference,
            .intersection, .union, .diff, .bind, .distance:
            1
        default: 0
        }
    }

    /// Whether its first argument is a regular expression.
    var takesPattern: Bool { self == .matches || self == .replace || self == .split }
}

/// The functions that belong to no value: `int('1')`, `math.abs(-1)`.
enum Builtin: String, CaseIterable, Sendable {
    case bool, int, float, string, path, debug
    case mathAbs = "math.abs"
    case mathCeil = "math.ceil"
    case mathFloor = "math.floor"
    case mathRound = "math.round"
    case mathSqrt = "math.sqrt"
    case mathPow = "math.pow"
    case mathIsNaN = "math.isNaN"
    case mathIsInfinite = "math.isInfinite"
    case hashingCrc32 = "hashing.crc32"
    case hashingCrc32c = "hashing.crc32c"
    case hashingMd5 = "hashing.md5"
    case hashingSha256 = "hashing.sha256"
    case durationValue = "duration.value"
    case durationTime = "duration.time"
    case durationAbs = "duration.abs"
    case timestampValue = "timestamp.value"
    case timestampDate = "timestamp.date"
    case latlngValue = "latlng.value"
    case firestoreGet = "firestore.get"
    case firestoreExists = "firestore.exists"

    /// How many arguments it takes.
    var argumentCount: Int {
        switch self {
        case .durationTime: 4
        case .timestampDate: 3
        case .mathPow, .durationValue, .latlngValue: 2
        default: 1
        }
    }

    /// `math` and its like, each with its functions; `database` has functions of its own.
    static let namespaces: [String: [String]] = Builtin.allCases.reduce(
        into: ["database": ["exists", "get", "of"]]
    ) { spaces, builtin in
        let parts = builtin.rawValue.split(separator: ".")
        if parts.count == 2 { spaces[String(parts[0]), default: []].append(String(parts[1])) }
    }

    /// Those with a name alone.
    static let plain = Builtin.allCases.map(\.rawValue).filter { !$0.contains(".") }
}
