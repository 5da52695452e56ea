/// The states of a Thompson automaton, laid out one after the other.
///
/// Repetitions are unrolled; the size is bounded by `RulesLimits.patternStateCount`.
struct PatternProgram: Sendable {
    enum State: Sendable {
        /// Takes one scalar of the set, then continues with the next state.
        case take(set: Int)
        case split(Int, Int)
        case jump(Int)
        /// Goes on at the start of the text only, or at its end only.
        case atStart
        case atEnd
        case match
    }

    private(set) var states: [State] = []
    let sets: [ScalarSet]

    static let tooLarge =
        "Regular expression is too large: its repetitions unroll to more than "
        + "\(RulesLimits.patternStateCount) states."

    /// Lays out a parsed pattern; nil when it is too large.
    init?(_ node: PatternNode, sets: [ScalarSet]) {
        self.sets = sets
        guard emit(node) else { return nil }
        states.append(.match)
    }

    /// Appends the states of a node; false when there would be too many.
    private mutating func emit(_ node: PatternNode) -> Bool {
        switch node {
        case .set(let set):
            states.append(.take(set: set))
            return states.count <= RulesLimits.patternStateCount
        case .sequence(let nodes):
            return nodes.allSatisfy { emit($0) }
        case .alternatives(let nodes):
            return emitAlternatives(nodes)
        case .start, .end:
            states.append(node.isStart ? .atStart : .atEnd)
            return states.count <= RulesLimits.patternStateCount
        case .repeated(let inner, let minimum, let maximum, let isLazy):
            return emitRepetition(inner, minimum, maximum, isLazy)
        }
    }

    private mutating func emitAlternatives(_ nodes: [PatternNode]) -> Bool {
        var exits: [Int] = []
        for (index, node) in nodes.enumerated() {
            let fork = states.count
            if index < nodes.count - 1 { states.append(.split(fork + 1, 0)) }
            if !emit(node) { return false }
            if index < nodes.count - 1 {
                exits.append(states.count)
                states.append(.jump(0))
                states[fork] = .split(fork + 1, states.count)
            }
        }
        for exit in exits { states[exit] = .jump(states.count) }
        return true
    }

    private mutating func emitRepetition(
        _ inner: PatternNode,
        _ minimum: Int,
        _ maximum: Int?,
        _ isLazy: Bool
    ) -> Bool {
        for _ in 0..<minimum {
            let before = states.count
            if !emit(inner) { return false }
            // A body without states repeats to nothing, however often.
            if states.count == before { return true }
        }
        guard let maximum else { return emitLoop(inner, isLazy) }
        var forks: [Int] = []
        for _ in minimum..<maximum {
            let fork = states.count
            forks.append(fork)
            states.append(.split(fork + 1, 0))
            if !emit(inner) { return false }
            if states.count == fork + 1 { break }
        }
        for fork in forks { states[fork] = choice(fork + 1, states.count, isLazy) }
        return states.count <= RulesLimits.patternStateCount
    }

    /// A fork that prefers another round, or, when lazy, none.
    private func choice(_ again: Int, _ exit: Int, _ isLazy: Bool) -> State {
        isLazy ? .split(exit, again) : .split(again, exit)
    }

    private mutating func emitLoop(_ inner: PatternNode, _ isLazy: Bool) -> Bool {
        let fork = states.count
        states.append(.split(fork + 1, 0))
        if !emit(inner) { return false }
        states.append(.jump(fork))
        states[fork] = choice(fork + 1, states.count, isLazy)
        return states.count <= RulesLimits.patternStateCount
    }
}
