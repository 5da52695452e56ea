package import JSONTree

/// A regular expression ready to search texts, in time linear in the text.
///
/// Small automata (at most 64 states) keep their states in one word and touch no memory; larger
/// ones keep two lists. Neither ever goes back in the text.
package struct Pattern: Sendable {
    let program: PatternProgram
    private let isAnchoredAtStart: Bool
    private let isAnchoredAtEnd: Bool

    /// For automata of at most 64 states: the states that are open before the first scalar, and
    /// after state i has taken one. Empty for larger ones.
    private let start: UInt64
    private let after: [UInt64]

    /// The states that are open where a search begins anew behind the first scalar.
    private let restart: UInt64

    /// The open states with which a text may end, and whether an empty one may.
    private let accepting: UInt64
    private let acceptsEmpty: Bool

    /// For automata of at most 64 states: the states that take U+0000...U+007F, one by one.
    private let takers: [UInt64]

    /// Compiles the body of a literal.
    ///
    /// - Throws: `LocatedFault` with an offset into `scalars`.
    init(
        _ scalars: ArraySlice<Unicode.Scalar>,
        ignoresCase: Bool,
        warnings: inout [LocatedWarning]
    ) throws(LocatedFault) {
        var parser = PatternParser(scalars, ignoresCase: ignoresCase)
        let node = try parser.parse()
        guard let program = PatternProgram(node, sets: parser.sets) else {
            throw LocatedFault(scalars.startIndex, PatternProgram.tooLarge)
        }
        warnings.append(contentsOf: parser.warnings)
        self.init(
            program,
            isAnchoredAtStart: parser.isAnchoredAtStart,
            isAnchoredAtEnd: parser.isAnchoredAtEnd,
            smallStateCount: 64
        )
    }

    /// Compiles a regular expression that must match a whole text, as those of rules for files do.
    ///
    /// - Throws: `LocatedFault` with an offset into `scalars`.
    package init(whole scalars: ArraySlice<Unicode.Scalar>) throws(LocatedFault) {
        var parser = PatternParser(scalars, ignoresCase: false, dialect: .files)
        let node = try parser.parse()
        guard let program = PatternProgram(node, sets: parser.sets) else {
            throw LocatedFault(scalars.startIndex, PatternProgram.tooLarge)
        }
        self.init(program, isAnchoredAtStart: true, isAnchoredAtEnd: true, smallStateCount: 64)
    }

    /// Prepares an automaton; those of at most `smallStateCount` states, at most 64, are kept in a word.
    init(
        _ program: PatternProgram,
        isAnchoredAtStart: Bool,
        isAnchoredAtEnd: Bool,
        smallStateCount: Int
    ) {
        self.program = program
        self.isAnchoredAtStart = isAnchoredAtStart
        self.isAnchoredAtEnd = isAnchoredAtEnd
        let isSmall = program.states.count <= smallStateCount
        start = isSmall ? Pattern.closure(of: 0, in: program, isAtStart: true) : 0
        restart = isSmall ? Pattern.closure(of: 0, in: program) : 0
        let match: UInt64 = isSmall ? 1 << UInt64(program.states.count - 1) : 0
        accepting =
            isSmall
            ? program.states.indices.reduce(0) { bits, index in
                let ends = Pattern.closure(of: index, in: program, isAtEnd: true) & match != 0
                return bits | (ends ? 1 << UInt64(index) : 0)
            } : 0
        acceptsEmpty =
            isSmall
            && Pattern.closure(of: 0, in: program, isAtStart: true, isAtEnd: true) & match != 0
        after =
            isSmall
            ? program.states.indices.map { index in
                if case .take = program.states[index] {
                    return Pattern.closure(of: index + 1, in: program)
                }
                return 0
            } : []
        takers = isSmall ? (UInt32(0)..<128).map { Pattern.takers(of: $0, in: program) } : []
    }

    /// The states of its automaton, which is what it takes of memory.
    package var stateCount: Int { program.states.count }

    /// Whether the pattern occurs in a text; nil when the steps ran out.
    ///
    /// One step is taken for 8 scalars and states visited.
    package func matches(_ text: Bytes, stepsLeft: inout Int) -> Bool? {
        var visitsLeft = stepsLeft * Pattern.visitsPerStep
        defer { stepsLeft = visitsLeft / Pattern.visitsPerStep }
        return after.isEmpty
            ? matchesWithLists(text, &visitsLeft) : matchesInOneWord(text, &visitsLeft)
    }

    static let visitsPerStep = 8

    /// The taking and matching states reachable from a state without taking anything, as bits, and those that wait for
    /// the end.
    private static func closure(
        of first: Int,
        in program: PatternProgram,
        isAtStart: Bool = false,
        isAtEnd: Bool = false
    ) -> UInt64 {
        var seen: UInt64 = 0
        var result: UInt64 = 0
        var stack = [first]
        while let index = stack.popLast() {
            if seen >> UInt64(index) & 1 == 1 { continue }
            seen |= 1 << UInt64(index)
            switch program.states[index] {
            case .take, .match: result |= 1 << UInt64(index)
            case .jump(let target): stack.append(target)
            case .split(let one, let other): stack += [other, one]
            case .atStart: if isAtStart { stack.append(index + 1) }
            case .atEnd:
                result |= 1 << UInt64(index)
                if isAtEnd { stack.append(index + 1) }
            }
        }
        return result
    }

    /// The states that take a scalar, as bits.
    private static func takers(of scalar: UInt32, in program: PatternProgram) -> UInt64 {
        var result: UInt64 = 0
        for (index, state) in program.states.enumerated() {
            if case .take(let set) = state, program.sets[set].contains(scalar) {
                result |= 1 << UInt64(index)
            }
        }
        return result
    }

    private func matchesInOneWord(_ text: Bytes, _ visitsLeft: inout Int) -> Bool? {
        let match: UInt64 = 1 << UInt64(program.states.count - 1)
        if text.isEmpty { return acceptsEmpty }
        var open = start
        var offset = 0
        while true {
            if open & match != 0, !isAnchoredAtEnd { return true }
            if offset == text.count { return open & accepting != 0 }
            if open == 0, isAnchoredAtStart { return false }
            let scalar = decodeScalar(text, &offset)
            visitsLeft -= 1 + open.nonzeroBitCount
            if visitsLeft < 0 { return nil }
            var next: UInt64 = isAnchoredAtStart ? 0 : restart
            var rest = open & (scalar < 128 ? takers[Int(scalar)] : takers(of: scalar, among: open))
            while rest != 0 {
                next |= after[rest.trailingZeroBitCount]
                rest &= rest - 1
            }
            open = next
        }
    }

    /// The states among some that take a scalar beyond ASCII.
    private func takers(of scalar: UInt32, among states: UInt64) -> UInt64 {
        var result: UInt64 = 0
        var rest = states
        while rest != 0 {
            let index = rest.trailingZeroBitCount
            rest &= rest - 1
            if case .take(let set) = program.states[index], program.sets[set].contains(scalar) {
                result |= 1 << UInt64(index)
            }
        }
        return result
    }

    private func matchesWithLists(_ text: Bytes, _ visitsLeft: inout Int) -> Bool? {
        var open = StateList(count: program.states.count)
        var next = StateList(count: program.states.count)
        var visited = open.add(0, program, isAtStart: true, isAtEnd: text.isEmpty)
        var offset = 0
        // The lists are made anew for each text; clearing marks costs less than visiting states.
        visitsLeft -= 16 + program.states.count / 4 + visited
        while true {
            if open.hasMatch, !isAnchoredAtEnd { return true }
            if offset == text.count { return open.hasMatch }
            if open.taking.isEmpty, isAnchoredAtStart { return false }
            let scalar = decodeScalar(text, &offset)
            // A visit of a list costs about twice that of a bit.
            visitsLeft -= 2 * (1 + visited + open.taking.count)
            if visitsLeft < 0 { return nil }
            visited = 0
            next.clear()
            let isAtEnd = offset == text.count
            for index in open.taking {
                if case .take(let set) = program.states[index], program.sets[set].contains(scalar) {
                    visited += next.add(index + 1, program, isAtEnd: isAtEnd)
                }
            }
            if !isAnchoredAtStart { visited += next.add(0, program, isAtEnd: isAtEnd) }
            swap(&open, &next)
        }
    }
}

/// The states open at one position of the text.
private struct StateList {
    /// States that wait for a scalar.
    private(set) var taking: [Int] = []
    private(set) var hasMatch = false

    /// `marks[i] == generation` when state i is in the list.
    private var marks: [Int]
    private var generation = 1
    private var stack: [Int] = []

    init(count: Int) {
        marks = Array(repeating: 0, count: count)
    }

    mutating func clear() {
        taking.removeAll(keepingCapacity: true)
        hasMatch = false
        generation += 1
    }

    /// Adds a state and all it leads to without taking; returns how many were visited.
    mutating func add(
        _ first: Int,
        _ program: PatternProgram,
        isAtStart: Bool = false,
        isAtEnd: Bool = false
    ) -> Int {
        var visited = 0
        stack.append(first)
        while let index = stack.popLast() {
            if marks[index] == generation { continue }
            marks[index] = generation
            visited += 1
            switch program.states[index] {
            case .take: taking.append(index)
            case .match: hasMatch = true
            case .atStart: if isAtStart { stack.append(index + 1) }
            case .atEnd: if isAtEnd { stack.append(index + 1) }
            case .jump(let target): stack.append(target)
            case .split(let one, let other):
                stack.append(other)
                stack.append(one)
            }
        }
        return visited
    }
}

/// Reads the scalar at `offset` of valid UTF-8 and moves past it.
@inline(__always)
func decodeScalar(_ text: Bytes, _ offset: inout Int) -> UInt32 {
    let first = UInt32(text[offset])
    offset += 1
    if first < 0x80 { return first }
    let count = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3
    var value = first & (0x3F >> UInt32(count))
    for _ in 0..<count where offset < text.count {
        value = value << 6 | UInt32(text[offset] & 0x3F)
        offset += 1
    }
    return value
}
