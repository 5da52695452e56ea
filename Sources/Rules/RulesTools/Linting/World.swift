import SecurityRules

/// A hypothetical caller and data against which a rule is tried.
struct World {
    var facts = Facts()
    /// Whether it is a location at which the caller decides what is written; nil when nothing is written.
    var written: Term?
    /// Whether the caller chooses the key of a wildcard.
    var choosesKeys = false

    /// A signed-out caller, at a location without data.
    static func signedOutAtNothing(_ flow: RuleFlow) -> World {
        var world = World(written: flow.reader.newData, choosesKeys: true)
        world.facts.noteMissing(.auth)
        world.facts.noteMissing(flow.reader.data)
        world.facts.notePresent(flow.reader.newData)
        return world
    }

    /// An unrelated caller who replaces the data.
    static func strangerReplacing(_ flow: RuleFlow, isSignedIn: Bool = true) -> World {
        var world = stranger(flow, isSignedIn: isSignedIn)
        world.facts.notePresent(flow.reader.newData)
        world.written = flow.reader.newData
        return world
    }

    /// An unrelated caller who deletes the data.
    static func strangerDeleting(_ flow: RuleFlow, isSignedIn: Bool = true) -> World {
        var world = stranger(flow, isSignedIn: isSignedIn)
        world.facts.noteMissing(flow.reader.newData)
        return world
    }

    /// An unrelated caller.
    static func stranger(_ flow: RuleFlow, isSignedIn: Bool = true) -> World {
        var world = World()
        if isSignedIn { world.facts.notePresent(.uid) } else { world.facts.noteMissing(.auth) }
        world.facts.notePresent(flow.reader.data)
        return world
    }

    /// A signed-in caller whose own location the wildcard matches, and who writes at `written` or below; at a location
    /// without data when `isNew`.
    static func holder(of wildcard: String, written: Term, isNew: Bool, _ rule: LintRule) -> World {
        var world = World(facts: rule.facts, written: written)
        world.facts.notePresent(.uid)
        world.facts.noteOwner(wildcard)
        if isNew { world.facts.noteMissing(Term(base: .old, path: written.path)) }
        return world
    }
}

extension RuleFlow {
    /// Whether the caller of a world can certainly give an expression `outcome`.
    ///
    /// Anything that depends on data outside the world counts as no. So do comparisons that hold because both sides are
    /// null: `null-equality` is about them.
    func isReachable(_ expression: Expression, _ outcome: Bool, in world: World) -> Bool {
        guard step() else { return false }
        switch expression.kind {
        case .boolean(let value): return value == outcome
        case .not(let operand): return isReachable(operand, !outcome, in: world)
        case .logic(let symbol, let operands):
            if (symbol == .and) == outcome {
                return operands.allSatisfy { isReachable($0, outcome, in: world) }
            }
            return operands.contains { isReachable($0, outcome, in: world) }
        case .ternary(let condition, let yes, let no):
            return isReachable(condition, true, in: world) && isReachable(yes, outcome, in: world)
                || isReachable(condition, false, in: world)
                    && isReachable(no, outcome, in: world)
        default: break
        }
        if facts(world.facts, when: expression, outcome).isContradictory { return false }
        if facts(world.facts, when: expression, !outcome).isContradictory { return true }
        return isChosen(expression, in: world)
    }

    /// Whether an expression depends on nothing but what the caller chooses.
    private func isChosen(_ expression: Expression, in world: World) -> Bool {
        var choice = false
        var isFree = true
        var namesMissing = false
        func look(_ piece: Expression) {
            if let location = reader.snapshot(piece) {
                let isWritten = world.written.map { location.isWithin($0) } ?? false
                if isWritten { choice = true } else { isFree = false }
                return
            }
            switch piece.kind {
            case .name("now"): choice = true
            case .name(let name) where name.hasPrefix("$"):
                if world.choosesKeys { choice = true } else { isFree = false }
            case .name("data"), .name("root"), .name("newData"), .name("query"): isFree = false
            case .name, .member, .index:
                guard let path = reader.authPath(piece) else {
                    return piece.operands.forEach(look)
                }
                let term = Term(base: .auth, path: path)
                if world.facts.isMissing(term) { namesMissing = true }
                if !world.facts.isPresent(term) { isFree = false }
            default: piece.operands.forEach(look)
            }
        }
        look(expression)
        return isFree && choice && !namesMissing
    }

    /// The part of an expression that lets the caller of a world through; nil when none certainly does.
    func grantingPart(_ expression: Expression, in world: World) -> Expression? {
        guard isReachable(expression, true, in: world) else { return nil }
        switch expression.kind {
        case .logic(.or, let operands):
            return operands.lazy.compactMap { self.grantingPart($0, in: world) }.first
        case .ternary(let condition, let yes, let no):
            if isReachable(condition, true, in: world), let part = grantingPart(yes, in: world) {
                return part
            }
            return grantingPart(no, in: world)
        default: return expression
        }
    }
}

extension Facts {
    /// Notes that a wildcard is the caller's uid, as `$uid == auth.uid` does.
    fileprivate mutating func noteOwner(_ wildcard: String) {
        note("\(wildcard) == auth.uid", true)
        notePresent(.uid)
        link(Term(base: .other(wildcard), path: []), .uid)
    }
}
