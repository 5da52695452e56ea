import SecurityRules

/// What is known of the values of a request at one point of an expression.
///
/// Everything noted is true whenever the evaluation gets there without failing. What is not noted may be either way; so
/// it may always be forgotten, which keeps the size bounded.
struct Facts {
    /// Whether two facts exclude each other: no evaluation gets there.
    private(set) var isContradictory = false

    /// With every term also all its ancestors.
    private var present: Set<Term> = []
    private var missing: Set<Term> = []
    private var equal: [Term: Literal] = [:]
    private var different: [Term: Set<Literal>] = [:]
    private var kinds: [Term: ScalarKind] = [:]
    private var truths: [String: Bool] = [:]
    /// Terms with equal values, both ways.
    private var links: [Term: Set<Term>] = [:]
    private var count = 0

    /// Facts of one kind beyond which no more are noted.
    private static let limit = 500

    /// Whether a term is known not to be null.
    func isPresent(_ term: Term) -> Bool { present.contains(term) }

    /// Whether a term is known to be null.
    func isMissing(_ term: Term) -> Bool {
        missing.contains(term) || term.ancestors.contains(where: missing.contains)
    }

    /// Whether a term is known to be present, or one above it; used where a location belongs to a whole.
    func isPresent(_ term: Term, orAbove keyCount: Int) -> Bool {
        isPresent(term)
            || term.ancestors.contains { $0.path.count >= keyCount && isPresent($0) }
    }

    /// Whether two terms are known to have one value.
    func areEqual(_ one: Term, _ other: Term) -> Bool { links[one]?.contains(other) ?? false }

    /// Whether a term is known to have the value of a literal that is not null.
    func isEqual(_ term: Term, to literal: Literal) -> Bool { equal[term] == literal }

    /// Whether a term is known to have the value of a literal or of another term.
    func isDecided(_ term: Term) -> Bool { equal[term] != nil || !(links[term] ?? []).isEmpty }

    private mutating func hasRoom() -> Bool {
        count += 1
        return count <= Facts.limit
    }

    // MARK: Noting

    /// Notes that this point cannot be reached.
    mutating func contradict() { isContradictory = true }

    mutating func notePresent(_ term: Term) {
        if present.contains(term) { return }
        if isMissing(term) { return contradict() }
        guard hasRoom() else { return }
        present.insert(term)
        for ancestor in term.ancestors {
            if term.isSnapshot { note(ancestor, is: .object) }
            present.insert(ancestor)
        }
        for other in links[term] ?? [] { notePresent(other) }
    }

    mutating func noteMissing(_ term: Term) {
        if isMissing(term) { return }
        if present.contains(term) { return contradict() }
        guard hasRoom() else { return }
        missing.insert(term)
        for other in links[term] ?? [] { noteMissing(other) }
    }

    /// Notes that a value is, or is not, a literal that is not null.
    mutating func note(_ term: Term, _ isEqual: Bool, to literal: Literal) {
        guard let kind = literal.kind else {
            return isEqual ? noteMissing(term) : notePresent(term)
        }
        if isEqual {
            if let known = equal[term] {
                if known != literal { contradict() }
                return
            }
            if different[term]?.contains(literal) ?? false { return contradict() }
            guard hasRoom() else { return }
            equal[term] = literal
            note(term, is: kind)
            notePresent(term)
            for other in links[term] ?? [] { note(other, true, to: literal) }
        } else {
            if equal[term] == literal { return contradict() }
            if hasRoom() { different[term, default: []].insert(literal) }
        }
    }

    /// Notes that two terms have one value; also when that is null.
    mutating func link(_ one: Term, _ other: Term) {
        guard one != other, hasRoom() else { return }
        links[one, default: []].insert(other)
        links[other, default: []].insert(one)
        for (from, to) in [(one, other), (other, one)] {
            if isPresent(from) { notePresent(to) }
            if isMissing(from) { noteMissing(to) }
            if let literal = equal[from] { note(to, true, to: literal) }
        }
    }

    /// Notes that a value exists and has a kind.
    mutating func note(_ term: Term, is kind: ScalarKind) {
        if let known = kinds[term] {
            if known != kind { contradict() }
        } else if hasRoom() {
            kinds[term] = kind
        }
    }

    /// Notes the outcome of an expression that is not analysed further.
    mutating func note(_ text: String, _ outcome: Bool) {
        if let known = truths[text] {
            if known != outcome { contradict() }
        } else if hasRoom() {
            truths[text] = outcome
        }
    }

    // MARK: Joining

    /// Keeps the facts that both sides share: those that hold after either of two branches.
    mutating func meet(_ other: Facts) {
        if other.isContradictory { return }
        if isContradictory {
            self = other
            return
        }
        present.formIntersection(other.present)
        missing.formIntersection(other.missing)
        equal = equal.filter { other.equal[$0.key] == $0.value }
        kinds = kinds.filter { other.kinds[$0.key] == $0.value }
        truths = truths.filter { other.truths[$0.key] == $0.value }
        different = different.reduce(into: [:]) { result, entry in
            let common = entry.value.intersection(other.different[entry.key] ?? [])
            if !common.isEmpty { result[entry.key] = common }
        }
        links = links.reduce(into: [:]) { result, entry in
            let common = entry.value.intersection(other.links[entry.key] ?? [])
            if !common.isEmpty { result[entry.key] = common }
        }
        count = min(count, other.count)
    }
}
