/// A situation in which somebody tries what a rule lets through.
struct World {
    var facts = Facts()
    /// Whether it is a place at which the caller decides what is written; nil when nothing is written.
    var written: Term?
    /// Whether the caller decides which key a wildcard takes.
    var choosesKeys = false

    /// Somebody signed out, at a place where nothing is.
    static func signedOutAtNothing(_ flow: RuleFlow) -> World {
        var world = World(written: flow.reader.newData, choosesKeys: true)
        world.facts.noteMissing(.auth)
        world.facts.noteMissing(flow.reader.data)
        world.facts.notePresent(flow.reader.newData)
        return world
    }

    /// Somebody who has nothing to do with what is there, and puts something else in its place.
    static func strangerReplacing(_ flow: RuleFlow, isSignedIn: Bool = true) -> World {
        var world = stranger(flow, isSignedIn: isSignedIn)
        world.facts.notePresent(flow.reader.newData)
        world.written = flow.reader.newData
        return world
    }

    /// Somebody who has nothing to do with what is there, and deletes it.
    static func strangerDeleting(_ flow: RuleFlow, isSignedIn: Bool = true) -> World {
        var world = stranger(flow, isSignedIn: isSignedIn)
        world.facts.noteMissing(flow.reader.newData)
        return world
    }

    /// Somebody who has nothing to do with what is there.
    static func stranger(_ flow: RuleFlow, isSignedIn: Bool = true) -> World {
        var world = World()
        if isSignedIn { world.facts.notePresent(.uid) } else { world.facts.noteMissing(.auth) }
        world.facts.notePresent(flow.reader.data)
        return world
    }

    /// Somebody signed in whose own place a wildcard stands for, and who writes at `written` or below; at a place where nothing is yet when
    /// `isNew`.
    static func holder(of wildcard: String, written: Term, isNew: Bool, _ rule: LintRule) -> World {
        var world = World(facts: rule.facts, written: written)
        world.facts.notePresent(.uid)
        rule.flow.learnOwner(of: wildcard, into: &world.facts)
        if isNew { world.facts.noteMissing(Term(base: .old, path: written.path)) }
        return world
    }
}

extension RuleFlow {
    /// Notes that a wildcard stands for the caller's uid.
    fileprivate func learnOwner(of wildcard: String, into facts: inout Facts) {
        func leaf(_ kind: Expression.Kind) -> Expression {
            Expression(kind: kind, start: 0, end: 0, depth: 1)
        }
        let uid = Expression(
            kind: .member(leaf(.name("auth")), name: "uid", offset: 0),
            start: 0,
            end: 0,
            depth: 2
        )
        let owner = Expression(
            kind: .binary(.equal, leaf(.name(wildcard)), uid),
            start: 0,
            end: 0,
            depth: 3
        )
        learn(owner, true, into: &facts)
    }

    /// Whether the caller of a world can certainly bring an expression to `outcome`.
    ///
    /// Whatever depends on data that the world says nothing of counts as no. So do comparisons that hold because both
    /// sides are null: `null-equality` is about them.
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
        var facts = world.facts
        learn(expression, outcome, into: &facts)
        if facts.isContradictory { return false }
        var opposite = world.facts
        learn(expression, !outcome, into: &opposite)
        if opposite.isContradictory { return true }
        return isChosen(expression, in: world)
    }

    /// Whether an expression depends on nothing but what the caller chooses.
    private func isChosen(_ expression: Expression, in world: World) -> Bool {
        var choice = false
        var isFree = true
        var namesMissing = false
        func look(_ piece: Expression) {
            if let place = reader.snapshot(piece) {
                let isWritten = world.written.map { place.isWithin($0) } ?? false
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
