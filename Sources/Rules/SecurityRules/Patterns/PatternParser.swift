/// A regular expression as parsed.
package indirect enum PatternNode {
    /// One scalar of a set, by its index in `PatternParser.sets`.
    case set(Int)
    case sequence([PatternNode])
    case alternatives([PatternNode])
    /// `maximum` is nil when unbounded; a lazy one prefers few rounds, which shows in where a match ends.
    case repeated(PatternNode, minimum: Int, maximum: Int?, isLazy: Bool)
    /// The start or the end of the text; in the dialect of files alone.
    case start, end

    /// Whether it is the start of the text.
    var isStart: Bool {
        if case .start = self { true } else { false }
    }
}

/// Which regular expressions are meant.
package enum PatternDialect: Sendable {
    /// Those of database rules: literals, which search.
    case database
    /// Those of rules for files: texts in RE2's syntax. `PatternParser+RE2.swift` has what they add.
    case files
}

/// Parses the regular expressions that `matches()` takes.
///
/// The dialect of databases: literal characters, `.`, sets, `\s \w \d` and their opposites, `* + ? {n} {n,}
/// {n,m}`, groups, `|`, `^` as the first and `$` as the last character only. Any other escape is
/// the literal character. Source: Firebase, "Regular expressions in security rules".
package struct PatternParser {
    let scalars: ArraySlice<Unicode.Scalar>
    let dialect: PatternDialect
    var ignoresCase: Bool
    /// Whether `.` takes line ends; files only.
    var takesLineEnds = false
    var offset: Int
    var end: Int
    private var nesting = 0

    /// Whether the pattern begins with `^`.
    package private(set) var isAnchoredAtStart = false
    /// Whether the pattern ends with `$`.
    package private(set) var isAnchoredAtEnd = false
    /// The sets that the pattern names.
    private(set) var sets: [ScalarSet] = []
    /// Things that load and rarely mean what was meant.
    private(set) var warnings: [LocatedWarning] = []

    /// Reads the body of a literal; offsets of faults are offsets of `scalars`.
    package init(
        _ scalars: ArraySlice<Unicode.Scalar>,
        ignoresCase: Bool,
        dialect: PatternDialect = .database
    ) {
        self.scalars = scalars
        self.dialect = dialect
        self.ignoresCase = ignoresCase
        offset = scalars.startIndex
        end = scalars.endIndex
    }

    /// Parses the whole body.
    ///
    /// - Throws: `LocatedFault` for what the dialect does not have.
    package mutating func parse() throws(LocatedFault) -> PatternNode {
        let start = offset
        if scalars.count > RulesLimits.patternScalarCount {
            throw fault(
                "Regular expression is longer than \(RulesLimits.patternScalarCount) characters."
            )
        }
        if dialect == .files { return try parseWholeForFiles() }
        if peek == "^" {
            isAnchoredAtStart = true
            offset += 1
        }
        if end > offset, scalars[end - 1] == "$", !isEscaped(end - 1) {
            isAnchoredAtEnd = true
            end -= 1
        }
        if offset == end, isAnchoredAtStart || isAnchoredAtEnd { return .sequence([]) }
        let node = try parseAlternatives()
        if offset < end { throw fault("Unmatched ')' in regular expression.") }
        if case .alternatives = node, isAnchoredAtStart || isAnchoredAtEnd {
            warnings.append(
                LocatedWarning(
                    .regexAlternatives,
                    start,
                    "Anchors apply to the whole pattern, not to one alternative.",
                    "Group the alternatives: /^(a|b)$/."
                )
            )
        }
        return node
    }

    var peek: Unicode.Scalar? { offset < end ? scalars[offset] : nil }

    func fault(_ message: String, _ hint: String? = nil) -> LocatedFault {
        LocatedFault(offset, message, hint)
    }

    /// Whether an odd number of backslashes stands before `index`.
    private func isEscaped(_ index: Int) -> Bool {
        var count = 0
        while index - count - 1 >= scalars.startIndex, scalars[index - count - 1] == "\\" {
            count += 1
        }
        return count % 2 == 1
    }

    mutating func parseAlternatives() throws(LocatedFault) -> PatternNode {
        var alternatives = [try parseSequence()]
        while peek == "|" {
            offset += 1
            alternatives.append(try parseSequence())
        }
        return alternatives.count == 1 ? alternatives[0] : .alternatives(alternatives)
    }

    private mutating func parseSequence() throws(LocatedFault) -> PatternNode {
        var items: [PatternNode] = []
        while let scalar = peek, scalar != "|", scalar != ")" {
            let atom = try parseAtom(scalar)
            items.append(try parseQuantifier(of: atom))
        }
        if items.isEmpty, dialect == .database {
            throw fault("Regular expression has an empty alternative or group.")
        }
        return items.count == 1 ? items[0] : .sequence(items)
    }

    private mutating func parseAtom(_ scalar: Unicode.Scalar) throws(LocatedFault) -> PatternNode {
        switch scalar {
        case "(": return try parseGroup()
        case "[": return try parseSet()
        case ".":
            offset += 1
            return takesAnything
        case "\\" where dialect == .files: return try parseEscapeForFiles()
        case "\\": return take(try parseEscape())
        case "^" where dialect == .files, "$" where dialect == .files:
            offset += 1
            return scalar == "^" ? .start : .end
        case "^", "$":
            throw fault(
                "Regular expression may hold \(scalar) only at its \(scalar == "^" ? "start" : "end").",
                "Write \\\\\(scalar) for the character."
            )
        case "*", "+", "?", "{":
            throw fault(
                "Nothing to repeat in regular expression.",
                "Write \\\\\(scalar) for the character."
            )
        default:
            offset += 1
            return take([scalar.value...scalar.value])
        }
    }

    /// What `.` takes.
    private var takesAnything: PatternNode {
        mutating get {
            if takesLineEnds { return take([0...0x10FFFF]) }
            return take(dialect == .files ? [0x0A...0x0A] : ScalarSet.lineEnds, isNegated: true)
        }
    }

    mutating func take(
        _ ranges: [ClosedRange<UInt32>],
        isNegated: Bool = false
    ) -> PatternNode {
        sets.append(ScalarSet(ranges, isNegated: isNegated, ignoresCase: ignoresCase))
        return .set(sets.count - 1)
    }

    private mutating func parseGroup() throws(LocatedFault) -> PatternNode {
        let start = offset
        nesting += 1
        if nesting > RulesLimits.patternNesting {
            throw fault("Regular expression is nested deeper than \(RulesLimits.patternNesting).")
        }
        offset += 1
        if dialect == .files { return try parseGroupForFiles(start) }
        var leading: PatternNode?
        if peek == "?" {
            warnings.append(
                LocatedWarning(
                    .regexGroup,
                    offset,
                    "A '?' that opens a group is the character itself.",
                    "There are no lookarounds and no non-capturing groups."
                )
            )
            offset += 1
            leading = try parseQuantifier(of: take([0x3F...0x3F]))
        }
        let inner = try parseGroupContent(after: leading)
        return try closeGroup(start, inner)
    }

    mutating func closeGroup(
        _ start: Int,
        _ inner: PatternNode
    ) throws(LocatedFault) -> PatternNode {
        if peek != ")" {
            throw LocatedFault(start, "Unterminated group in regular expression.")
        }
        offset += 1
        nesting -= 1
        // A sequence, to separate alternatives in a group from those at the top.
        return .sequence([inner])
    }

    private mutating func parseGroupContent(
        after leading: PatternNode?
    ) throws(LocatedFault) -> PatternNode {
        guard let leading else { return try parseAlternatives() }
        if peek == ")" { return leading }
        if peek == "|" {
            offset += 1
            return .alternatives([leading, try parseAlternatives()])
        }
        switch try parseAlternatives() {
        case .alternatives(let alternatives):
            return .alternatives(
                [.sequence([leading, alternatives[0]])] + alternatives.dropFirst()
            )
        case let rest: return .sequence([leading, rest])
        }
    }

    /// Reads a backslash and what it escapes.
    private mutating func parseEscape() throws(LocatedFault) -> [ClosedRange<UInt32>] {
        guard offset + 1 < end else {
            throw fault("Regular expression ends with a backslash.")
        }
        let scalar = scalars[offset + 1]
        offset += 2
        switch scalar {
        case "d": return ScalarSet.digits
        case "w": return ScalarSet.word
        case "s": return ScalarSet.space
        case "D": return ScalarSet.complement(ScalarSet.digits)
        case "W": return ScalarSet.complement(ScalarSet.word)
        case "S": return ScalarSet.complement(ScalarSet.space)
        default: return [scalar.value...scalar.value]
        }
    }

    private mutating func parseSet() throws(LocatedFault) -> PatternNode {
        let start = offset
        offset += 1
        let isNegated = peek == "^"
        if isNegated { offset += 1 }
        var ranges: [ClosedRange<UInt32>] = []
        // In RE2 a bracket that stands first is itself.
        if dialect == .files, peek == "]" { ranges.append(contentsOf: try parseSetItem()) }
        while let scalar = peek, scalar != "]" {
            if let named = try parseNamedClass() {
                ranges += named
            } else {
                ranges += try parseSetItem()
            }
        }
        if peek == nil {
            throw LocatedFault(start, "Unterminated set in regular expression.")
        }
        if ranges.isEmpty {
            throw LocatedFault(start, "Empty set in regular expression.")
        }
        offset += 1
        return take(ranges, isNegated: isNegated)
    }

    /// Reads `a`, `a-z` or `\w`; a hyphen beside a class or at an end is itself.
    private mutating func parseSetItem() throws(LocatedFault) -> [ClosedRange<UInt32>] {
        let start = offset
        let first = try parseSetScalar()
        guard first.count == 1, first[0].count == 1, peek == "-" else { return first }
        guard offset + 1 < end, scalars[offset + 1] != "]" else { return first }
        offset += 1
        let last = try parseSetScalar()
        guard last.count == 1, last[0].count == 1 else { return first + [0x2D...0x2D] + last }
        guard first[0].lowerBound <= last[0].lowerBound else {
            throw LocatedFault(start, "Range out of order in regular expression.")
        }
        return [first[0].lowerBound...last[0].lowerBound]
    }

    private mutating func parseSetScalar() throws(LocatedFault) -> [ClosedRange<UInt32>] {
        let scalar = scalars[offset]
        if scalar == "\\" {
            return dialect == .files ? try parseSetEscapeForFiles() : try parseEscape()
        }
        offset += 1
        return [scalar.value...scalar.value]
    }

    private mutating func parseQuantifier(
        of atom: PatternNode
    ) throws(LocatedFault) -> PatternNode {
        let counts: (minimum: Int, maximum: Int?)
        switch peek {
        case "*": counts = (0, nil)
        case "+": counts = (1, nil)
        case "?": counts = (0, 1)
        case "{": return try parseCounts(of: atom)
        default: return atom
        }
        offset += 1
        return repeating(atom, counts.minimum, counts.maximum)
    }

    /// A repetition; one `?` behind it makes it lazy in the dialect of files.
    private mutating func repeating(
        _ atom: PatternNode,
        _ minimum: Int,
        _ maximum: Int?
    ) -> PatternNode {
        let isLazy = dialect == .files && peek == "?"
        if isLazy { offset += 1 }
        return .repeated(atom, minimum: minimum, maximum: maximum, isLazy: isLazy)
    }

    private mutating func parseCounts(of atom: PatternNode) throws(LocatedFault) -> PatternNode {
        let start = offset
        offset += 1
        let minimum = parseCount()
        var maximum = minimum
        if peek == "," {
            offset += 1
            maximum = parseCount()
        }
        guard let minimum, peek == "}", maximum != nil || scalars[offset - 1] == "," else {
            throw LocatedFault(
                start,
                "Invalid repetition in regular expression.",
                "Write {n}, {n,} or {n,m}; write \\\\{ for the character."
            )
        }
        offset += 1
        if let maximum, maximum < minimum {
            throw LocatedFault(start, "Repetition out of order in regular expression.")
        }
        if max(minimum, maximum ?? 0) > RulesLimits.patternStateCount {
            throw LocatedFault(start, PatternProgram.tooLarge)
        }
        return repeating(atom, minimum, maximum)
    }

    /// Reads digits; nil when there are none. Stops growing above the state limit.
    private mutating func parseCount() -> Int? {
        var value: Int?
        while let scalar = peek, ("0"..."9").contains(scalar) {
            let digit = Int(scalar.value) - 48
            value = min((value ?? 0) * 10 + digit, RulesLimits.patternStateCount + 1)
            offset += 1
        }
        return value
    }
}
