import JSONTree
import Queries
import SecurityRules

/// The rules of a text as lints look at them: every node with its rules and what surrounds it.
struct LintTree {
    /// All nodes, parents before their children, in the order of the text's keys.
    let nodes: [LintNode]

    init(_ top: RuleNode) {
        var nodes: [LintNode] = []
        LintTree.add(top, key: nil, parent: nil, capture: Facts(), to: &nodes)
        for node in nodes.reversed() { node.gatherWrites() }
        self.nodes = nodes
    }

    /// All rules, those of parents before those of their children.
    var rules: [LintRule] { nodes.flatMap(\.rules) }

    private static func add(
        _ node: RuleNode,
        key: String?,
        parent: LintNode?,
        capture: Facts,
        to nodes: inout [LintNode]
    ) {
        let added = LintNode(node, key: key, parent: parent, facts: capture)
        nodes.append(added)
        parent?.adopt(added)
        for literal in node.literals {
            add(literal.node, key: literal.key.string, parent: added, capture: capture, to: &nodes)
        }
        guard let wildcard = node.wildcard, let name = wildcard.syntax.keys.last else { return }
        // A wildcard does not match a key that has a literal of its own.
        var facts = capture
        for literal in node.literals {
            let term = Term(base: .other(name), path: [])
            facts.note(term, false, to: .string(literal.key.string))
        }
        add(wildcard, key: name, parent: added, capture: facts, to: &nodes)
    }
}

/// One object of the rules text.
final class LintNode {
    /// Keys and wildcards from the root down.
    let keys: [String]
    /// Where its key begins, in scalars of the rules text.
    let offset: Int
    /// Its own key or wildcard; nil for the root.
    let key: String?
    /// Paths of `.indexOn`, as written without a slash at the start, and `.value`.
    let indexes: [String]
    /// The tree outlives every use of its nodes.
    unowned let parent: LintNode?
    private(set) var children: [LintNode] = []
    private var rulesByKind: [RuleKind: LintRule] = [:]
    /// Whether every `.write` here or below lets only the signed-in through.
    private var writesNeedAuth = true
    /// Whether there is a `.write` here or below.
    private(set) var hasWrites = false

    fileprivate init(_ node: RuleNode, key: String?, parent: LintNode?, facts: Facts) {
        keys = node.syntax.keys
        offset = node.syntax.offset
        self.key = key
        self.parent = parent
        indexes = node.indexes.compactMap { index in
            switch index {
            case .child(let path): path.wireText
            case .value: ".value"
            case .key, .priority: nil
            }
        }
        for (kind, rule) in node.syntax.rules {
            rulesByKind[kind] = LintRule(kind, rule, of: self, facts)
        }
    }

    fileprivate func adopt(_ child: LintNode) { children.append(child) }

    /// To be called for children before their parents.
    fileprivate func gatherWrites() {
        writesNeedAuth = (write?.needsAuth ?? true) && children.allSatisfy { $0.writesNeedAuth }
        hasWrites = write != nil || children.contains { $0.hasWrites }
    }

    var read: LintRule? { rulesByKind[.read] }
    var write: LintRule? { rulesByKind[.write] }
    var validate: LintRule? { rulesByKind[.validate] }

    /// The rules here, in a fixed order.
    var rules: [LintRule] { [read, write, validate].compactMap { $0 } }

    func rule(_ kind: RuleKind) -> LintRule? { rulesByKind[kind] }

    /// As people write it, such as `/users/$uid`.
    var path: String { "/" + keys.joined(separator: "/") }

    var isWildcard: Bool { key?.hasPrefix("$") ?? false }

    var wildcard: LintNode? { children.first { $0.isWildcard } }

    /// The nodes above, from the parent up.
    var ancestors: [LintNode] {
        var list: [LintNode] = []
        var next = parent
        while let node = next {
            list.append(node)
            next = node.parent
        }
        return list
    }

    /// The nodes below, parents before their children; itself not among them.
    var descendants: [LintNode] { children.flatMap { [$0] + $0.descendants } }

    /// Whether every caller who may write here, above or below is signed in.
    var isWrittenSignedIn: Bool {
        writesNeedAuth && ancestors.allSatisfy { $0.write?.needsAuth ?? true }
    }

    /// The node that rules of this tree have for a location; nil when they have none.
    func node(at path: [String], from top: LintNode) -> LintNode? {
        var node = top
        for key in path {
            let literal = node.children.first { $0.key == key && !$0.isWildcard }
            guard let next = literal ?? node.wildcard else { return nil }
            node = next
        }
        return node
    }
}

/// One rule with the facts from its text alone.
final class LintRule {
    let kind: RuleKind
    let syntax: RuleSyntax
    /// The node owns it.
    unowned let node: LintNode
    let flow: RuleFlow
    /// What is known before anything of it is evaluated.
    let facts: Facts
    /// Whether it never holds, for any request.
    let isNeverTrue: Bool
    /// Whether it always holds and never fails.
    let isAlwaysTrue: Bool
    /// Whether it holds only for signed-in callers.
    let needsAuth: Bool

    fileprivate init(_ kind: RuleKind, _ syntax: RuleSyntax, of node: LintNode, _ facts: Facts) {
        self.kind = kind
        self.syntax = syntax
        self.node = node
        flow = RuleFlow(keys: node.keys)
        var facts = facts
        // What is gone is not validated.
        if kind == .validate { facts.notePresent(flow.reader.newData) }
        self.facts = facts
        let held = flow.facts(facts, when: syntax.expression, true)
        isNeverTrue = held.isContradictory
        needsAuth = held.isContradictory || held.isPresent(.auth)
        let failed = flow.facts(facts, when: syntax.expression, false)
        isAlwaysTrue = failed.isContradictory && flow.cannotFail(syntax.expression)
    }

    var expression: Expression { syntax.expression }

    /// Whether the whole rule is written as `true` or `false`.
    var isLiteral: Bool {
        if case .boolean = expression.kind { true } else { false }
    }

    /// What `find` says of the parts that can bring the rule to true, where `facts` are known.
    func findings(_ facts: Facts, _ find: (RuleFlow.Atom) -> Lint.Finding?) -> [Lint.Finding] {
        var findings: [Lint.Finding] = []
        flow.visitAtoms(expression, true, facts) { atom in
            if let finding = find(atom) { findings.append(finding) }
        }
        return findings
    }

    /// Its name in messages, such as `.write of /users/$uid`.
    var name: String { "'.\(kind.rawValue)' of '\(node.path)'" }

    /// A finding about a piece of it, or about the whole rule.
    func finding(at piece: Expression? = nil, _ message: String, _ hint: String) -> Lint.Finding {
        Lint.Finding(syntax.source.offsets[(piece ?? expression).start], message, hint)
    }

    /// The facts, and for a `.validate` that only the signed-in reach also that.
    var knownFacts: Facts {
        var known = facts
        if kind == .validate, node.isWrittenSignedIn { known.notePresent(.auth) }
        return known
    }

    /// Whether a signed-in caller unrelated to the data gets through.
    var admitsStrangers: Bool {
        switch kind {
        case .read: flow.isReachable(expression, true, in: .stranger(flow))
        case .write:
            flow.isReachable(expression, true, in: .strangerReplacing(flow))
                || flow.isReachable(expression, true, in: .strangerDeleting(flow))
        case .validate: false
        }
    }

    /// Whether signed-out callers certainly get through, with any data.
    var admitsEverybody: Bool {
        var world = World()
        world.facts.noteMissing(.auth)
        return flow.isReachable(expression, true, in: world)
    }
}
