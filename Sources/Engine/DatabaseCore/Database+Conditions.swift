import EventProtocol
import JSONTree
import SecurityRules
import WireProtocol

/// The data that a write requires.
enum WriteCondition {
    /// Data of this hash, as clients of the wire protocol have it.
    case hash(String)
    case tag(EntityTag)
}

/// A node that was hashed elsewhere, for a condition.
struct ComparedNode {
    let node: Node
    /// The hash that the condition names, if it is of this node in some client's form.
    let hash: String
}

/// A write that the rules were asked about.
struct AskedWrite {
    let write: Write
    let newRoot: Node
    /// Nil for an administrator's.
    let decision: Decision?
    let compared: ComparedNode?

    var isAllowed: Bool { decision?.isAllowed ?? true }

    init(_ write: Write, _ newRoot: Node, _ decision: Decision?, _ compared: ComparedNode?) {
        self.write = write
        self.newRoot = newRoot
        self.decision = decision
        self.compared = compared
    }
}

/// Writes that depend on the data: the rules are asked first, so that a condition reveals nothing to a client that may
/// not write.
extension Database {
    /// The outcome of a write that its rules or its condition refuse; nil for one that is made.
    ///
    /// A transaction is stale, not denied, when the rules refuse it because of data at its own path that its client
    /// may read and has not seen yet: with the newer data it would be another one.
    func refusalByRules(of asked: AskedWrite, at time: Timestamp, _ step: inout Step)
        -> WriteOutcome?
    {
        var finding = ConditionFinding.holds
        if let condition = asked.write.condition,
            asked.isAllowed || mayBeBehind(asked, at: time)
        {
            finding = find(condition, root.node(at: asked.write.conditionTarget), asked.compared)
        }
        // It is decided again when it has been compared; a stale one that is refused was meant for other data.
        if case .unknown(let node) = finding { return .mustCompare(node) }
        if let decision = asked.decision, asked.isAllowed || finding.isHolding {
            noteWrite(decision, of: asked.write, newRoot: asked.newRoot, at: time, &step)
        }
        if case .differs(let node, let tag) = finding { return .stale(node, tag) }
        if let decision = asked.decision, !asked.isAllowed { return .denied(decision) }
        return nil
    }

    /// Whether a refused transaction may be about data that its client has not seen, and may see.
    private func mayBeBehind(_ asked: AskedWrite, at time: Timestamp) -> Bool {
        guard case .hash = asked.write.condition else { return false }
        let path = asked.write.conditionTarget.path
        let request = RulesRequest(root: root, auth: asked.write.identity.auth, now: time)
        guard rules.decideRead(path, query: nil, request).isAllowed else { return false }
        return rules.decideWrite(
            asked.write.entries.map(\.target),
            newRoot: asked.newRoot,
            request,
            recording: .paths
        ).lookedAt.contains { $0.isPrefix(of: path) || path.isPrefix(of: $0) }
    }

    private enum ConditionFinding {
        case holds
        case differs(Node, EntityTag)
        /// The node takes too long to hash here.
        case unknown(Node)

        var isHolding: Bool { if case .holds = self { true } else { false } }
    }

    private func find(
        _ condition: WriteCondition,
        _ current: Node,
        _ compared: ComparedNode?
    ) -> ConditionFinding {
        if let compared {
            let tag = EntityTag(hash: compared.hash)
            let isEqual =
                switch condition {
                case .hash(let hash): hash == compared.hash
                case .tag(let asked): asked == tag
                }
            // Another hash is an answer, whatever was written later.
            if !isEqual { return .differs(compared.node, tag) }
            return current.isIdentical(to: compared.node) ? .holds : .unknown(current)
        }
        // Nothing on one side needs no hash.
        if case .hash("") = condition {
            return current.isAbsent ? .holds : .differs(current, .ofNothing)
        }
        if current.isLarge(from: bounds.nodesHashedAtOnce) { return .unknown(current) }
        switch condition {
        case .hash(let hash):
            return current.hash(like: hash) == hash ? .holds : .differs(current, .ofNothing)
        case .tag(let asked):
            let tag = EntityTag(current)
            return asked == tag ? .holds : .differs(current, tag)
        }
    }
}

extension EntityTag {
    /// The tag of a node, which must be short to hash.
    init(_ node: Node) { self.init(hash: node.hash()) }
}
