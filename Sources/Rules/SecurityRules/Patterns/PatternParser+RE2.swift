/// What the regular expressions of files have beyond those of databases: RE2's syntax.
///
/// `(?:…)`, `(?P<name>…)`, the flags `i` and `s`, lazy repetitions, empty alternatives, `^`, `$`, `\A`, `\z` anywhere,
/// `\Q…\E`, `\x41`, `\x{1F600}`, `\t` and its like, `[[:alpha:]]`. Not there, and refused: `\b`, `\B`, `\C`, `\p`,
/// the flags `m` and `U`, and references to groups, which RE2 lacks as well.
extension PatternParser {
    /// Parses the whole text; offsets of faults are offsets of `scalars`.
    mutating func parseWholeForFiles() throws(LocatedFault) -> PatternNode {
        let node = try parseAlternatives()
        if offset < end { throw fault("Unmatched ')' in regular expression.") }
        return node
    }

    /// Reads what follows an opening bracket; the flags of a group count to its end.
    mutating func parseGroupForFiles(_ start: Int) throws(LocatedFault) -> PatternNode {
        let (outerCase, outerLines) = (ignoresCase, takesLineEnds)
        if peek == "?" {
            offset += 1
            // Flags alone, as in `(?i)`, count to the end of the group around them.
            if try parseGroupHead(start) { return try closeGroup(start, .sequence([])) }
        }
        let inner = try parseAlternatives()
        (ignoresCase, takesLineEnds) = (outerCase, outerLines)
        return try closeGroup(start, inner)
    }

    /// Reads `:`, `P<name>`, `<name>` or flags behind `(?`.
    ///
    /// - Returns: Whether the group is flags alone.
    private mutating func parseGroupHead(_ start: Int) throws(LocatedFault) -> Bool {
        if peek == "P" { offset += 1 }
        if peek == "<" {
            while let scalar = peek, scalar != ">", scalar != ")" { offset += 1 }
            if peek != ">" { throw LocatedFault(start, "Name of a group without '>'.") }
            offset += 1
            return false
        }
        var isOn = true
        while let scalar = peek {
            switch scalar {
            case "-": isOn = false
            case "i": ignoresCase = isOn
            case "s": takesLineEnds = isOn
            case ":":
                offset += 1
                return false
            case ")": return true
            default:
                throw fault(
                    "Regular expressions here have no (?\(scalar).",
                    "There are (?:...), (?P<name>...), and the flags i and s."
                )
            }
            offset += 1
        }
        throw LocatedFault(start, "Unterminated group in regular expression.")
    }

    /// Reads a backslash and what follows it, outside of a set.
    mutating func parseEscapeForFiles() throws(LocatedFault) -> PatternNode {
        guard offset + 1 < end else { return take(try parseSetEscapeForFiles()) }
        switch scalars[offset + 1] {
        case "A", "z":
            offset += 2
            return scalars[offset - 1] == "A" ? .start : .end
        case "Q":
            offset += 2
            return parseQuoted()
        default: return take(try parseSetEscapeForFiles())
        }
    }

    /// Takes scalars as they are, up to `\E` or the end.
    private mutating func parseQuoted() -> PatternNode {
        var items: [PatternNode] = []
        while let scalar = peek {
            offset += 1
            if scalar == "\\", peek == "E" {
                offset += 1
                break
            }
            items.append(take([scalar.value...scalar.value]))
        }
        return .sequence(items)
    }

    /// Reads an escape that stands for scalars.
    mutating func parseSetEscapeForFiles() throws(LocatedFault) -> [ClosedRange<UInt32>] {
        guard offset + 1 < end else { throw fault("Regular expression ends with a backslash.") }
        let scalar = scalars[offset + 1]
        switch scalar {
        case "d", "D", "w", "W", "s", "S":
            offset += 2
            return PatternParser.perlClass(scalar)
        case "x":
            offset += 2
            let value = try parseHexadecimal()
            return [value...value]
        case "0"..."9", "a"..."z", "A"..."Z":
            guard let value = PatternParser.controls[scalar] else {
                throw fault(
                    "Regular expressions here have no \\\(scalar).",
                    "In a string literal a backslash is written twice."
                )
            }
            offset += 2
            return [value...value]
        default:
            offset += 2
            return [scalar.value...scalar.value]
        }
    }

    private static let controls: [Unicode.Scalar: UInt32] = [
        "a": 0x07, "f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B,
    ]

    private static func perlClass(_ name: Unicode.Scalar) -> [ClosedRange<UInt32>] {
        let space: [ClosedRange<UInt32>] = [0x09...0x0A, 0x0C...0x0D, 0x20...0x20]
        return switch name {
        case "d": ScalarSet.digits
        case "D": ScalarSet.complement(ScalarSet.digits)
        case "w": ScalarSet.word
        case "W": ScalarSet.complement(ScalarSet.word)
        case "s": space
        default: ScalarSet.complement(space)
        }
    }

    /// Reads two digits, or any number of them in braces.
    private mutating func parseHexadecimal() throws(LocatedFault) -> UInt32 {
        let start = offset
        let isBraced = peek == "{"
        if isBraced { offset += 1 }
        var digits = String.UnicodeScalarView()
        while let scalar = peek, scalar.properties.isASCIIHexDigit,
            digits.count < (isBraced ? 6 : 2)
        {
            digits.append(scalar)
            offset += 1
        }
        let isClosed = isBraced ? peek == "}" && !digits.isEmpty : digits.count == 2
        guard isClosed, let value = UInt32(String(digits), radix: 16), value <= 0x10FFFF else {
            throw LocatedFault(start, "\\x takes two hexadecimal digits, or some in braces.")
        }
        if isBraced { offset += 1 }
        return value
    }

    /// Reads `[:alpha:]` or `[:^alpha:]` in a set; nil when something else stands there.
    mutating func parseNamedClass() throws(LocatedFault) -> [ClosedRange<UInt32>]? {
        guard dialect == .files, peek == "[", offset + 1 < end, scalars[offset + 1] == ":" else {
            return nil
        }
        let start = offset
        var name = ""
        offset += 2
        while let scalar = peek, scalar != ":", scalar != "]" {
            name.unicodeScalars.append(scalar)
            offset += 1
        }
        let isNegated = name.hasPrefix("^")
        guard let ranges = PatternParser.classes[isNegated ? String(name.dropFirst()) : name],
            offset + 1 < end, peek == ":", scalars[offset + 1] == "]"
        else { throw LocatedFault(start, "Unknown class in a set of a regular expression.") }
        offset += 2
        return isNegated ? ScalarSet.complement(ranges) : ranges
    }

    private static let classes: [String: [ClosedRange<UInt32>]] = [
        "alnum": [0x30...0x39, 0x41...0x5A, 0x61...0x7A], "alpha": [0x41...0x5A, 0x61...0x7A],
        "ascii": [0...0x7F], "blank": [0x09...0x09, 0x20...0x20], "cntrl": [0...0x1F, 0x7F...0x7F],
        "digit": ScalarSet.digits, "graph": [0x21...0x7E], "lower": [0x61...0x7A],
        "print": [0x20...0x7E],
        "punct": [0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E],
        "space": [0x09...0x0D, 0x20...0x20], "upper": [0x41...0x5A], "word": ScalarSet.word,
        "xdigit": [0x30...0x39, 0x41...0x46, 0x61...0x66],
    ]
}
