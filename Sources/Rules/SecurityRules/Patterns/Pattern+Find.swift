package import JSONTree

/// Where a pattern occurs, for `replace` and `split`.
extension Pattern {
    /// What a search found.
    package enum Found: Equatable {
        case nothing
        /// The offsets of a match.
        case match(Range<Int>)
        /// The steps ran out.
        case exhausted
    }

    /// The leftmost match that begins at `first` or behind it; of several there the one that RE2 prefers, which is the
    /// first alternative and, unless lazy, the longest repetition.
    ///
    /// One step is taken for 8 scalars and states visited. Anchors are those of the whole text.
    ///
    ///     pattern a+|b, text xaab      threads, each with where it began:
    ///     offset 1: a   starts 1       offset 3: none left, so the match is 1..<3
    package func firstMatch(in text: Bytes, from first: Int, stepsLeft: inout Int) -> Found {
        var visitsLeft = stepsLeft * Pattern.visitsPerStep
        defer { stepsLeft = max(visitsLeft, 0) / Pattern.visitsPerStep }
        var open = ThreadList(count: program.states.count)
        var next = ThreadList(count: program.states.count)
        visitsLeft -= 16 + program.states.count / 4
        var best: Range<Int>?
        var offset = first
        while true {
            if best == nil { open.add(0, begin: offset, program, at: offset, of: text.count) }
            visitsLeft -= 2 * (1 + open.visited)
            if visitsLeft < 0 { return .exhausted }
            var behind = offset
            let scalar = offset < text.count ? decodeScalar(text, &behind) : 0
            next.clear()
            scan: for thread in open.threads {
                switch program.states[thread.state] {
                case .match:
                    best = thread.begin..<offset
                    // What stands behind it is preferred less.
                    break scan
                case .take(let set):
                    if offset < text.count, program.sets[set].contains(scalar) {
                        let state = thread.state + 1
                        next.add(state, begin: thread.begin, program, at: behind, of: text.count)
                    }
                case .split, .jump, .atStart, .atEnd: break
                }
            }
            if offset == text.count || (best != nil && next.threads.isEmpty) { break }
            swap(&open, &next)
            offset = behind
        }
        return best.map { .match($0) } ?? .nothing
    }
}

/// The states open at one offset, the preferred ones first.
private struct ThreadList {
    private(set) var threads: [(state: Int, begin: Int)] = []
    /// States visited since the list was cleared.
    private(set) var visited = 0
    /// `marks[i] == generation` when state i is in the list.
    private var marks: [Int]
    private var generation = 1
    private var stack: [Int] = []

    init(count: Int) { marks = Array(repeating: 0, count: count) }

    mutating func clear() {
        threads.removeAll(keepingCapacity: true)
        visited = 0
        generation += 1
    }

    /// Adds a state and all it leads to without taking.
    mutating func add(
        _ first: Int,
        begin: Int,
        _ program: PatternProgram,
        at offset: Int,
        of count: Int
    ) {
        stack.append(first)
        while let index = stack.popLast() {
            if marks[index] == generation { continue }
            marks[index] = generation
            visited += 1
            switch program.states[index] {
            case .take, .match: threads.append((index, begin))
            case .jump(let target): stack.append(target)
            case .split(let one, let other): stack += [other, one]
            case .atStart: if offset == 0 { stack.append(index + 1) }
            case .atEnd: if offset == count { stack.append(index + 1) }
            }
        }
    }
}
