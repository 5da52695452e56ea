package import JSONTree
package import Queries

/// A request to try against rules without doing it.
package enum SimulatedOperation: Sendable {
    case read(Path, query: QuerySpec?)
    case write(WriteTarget, Draft)
    /// Targets are absolute; none may contain another. `base` is what `newData` is shown at.
    case update(base: Path, [(target: WriteTarget, draft: Draft)])
}

/// One question to the simulator: a request to try, and what to try it on.
package struct SimulationRequest: Sendable {
    package let operation: SimulatedOperation
    package let auth: AuthVariable?
    /// Nil stands for the present.
    package let now: Timestamp?
    /// Instead of the rules in force.
    package let rules: Ruleset?
    /// Instead of the data in the tree.
    package let data: Node?
    /// Whether the answer is an explanation in words; JSON otherwise.
    package var isAnsweredInWords = false

    package init(
        operation: SimulatedOperation,
        auth: AuthVariable?,
        now: Timestamp?,
        rules: Ruleset?,
        data: Node?,
    ) {
        self.operation = operation
        self.auth = auth
        self.now = now
        self.rules = rules
        self.data = data
    }
}

/// What would have come of a simulated request.
package struct SimulationResult: Sendable {
    /// With the trace and its values.
    package let decision: Decision

    /// For writes, the node that would be at the path of the request; nil for reads.
    package let newData: Node?

    /// For writes, the whole tree as it would be; nil for reads.
    package let newRoot: Node?
}

extension SimulatedOperation {
    /// The request as an explanation names it.
    package func explained(
        by auth: AuthVariable?,
        under rules: Ruleset,
        _ result: SimulationResult
    ) -> ExplainedRequest {
        var request: ExplainedRequest
        switch self {
        case .read(let path, let query):
            request = ExplainedRequest(operation: "read", path: path, auth: auth, query: query)
        case .write(let target, let draft):
            let isRemoval = draft.node.isAbsent && draft.serverValues.isEmpty
            let word = isRemoval ? "remove" : "set"
            request = ExplainedRequest(operation: word, path: target.path, auth: auth)
        case .update(let base, let entries):
            request = ExplainedRequest(operation: "update", path: base, auth: auth)
            request.entries = entries.map(\.target.path)
        }
        request.rules = rules
        request.newRoot = result.newRoot
        return request
    }
}

extension Ruleset {
    /// Judges a request as the server would and changes nothing.
    ///
    /// Server values are resolved against the tree before the request, all with one time.
    package func simulate(
        _ operation: SimulatedOperation,
        _ request: RulesRequest,
        recording: Recording = [.values, .paths]
    ) -> SimulationResult {
        switch operation {
        case .read(let path, let query):
            let decision = decideRead(path, query: query, request, recording: recording)
            return SimulationResult(decision: decision, newData: nil, newRoot: nil)
        case .write(let target, let draft):
            let newRoot = request.root.applying([(target, draft)], now: request.now)
            let decision = decideWrite([target], newRoot: newRoot, request, recording: recording)
            return SimulationResult(
                decision: decision,
                newData: newRoot.descendant(at: target.path),
                newRoot: newRoot
            )
        case .update(let base, let entries):
            let newRoot = request.root.applying(entries, now: request.now)
            let decision = decideWrite(
                entries.map(\.target),
                newRoot: newRoot,
                request,
                recording: recording
            )
            return SimulationResult(
                decision: decision,
                newData: newRoot.descendant(at: base),
                newRoot: newRoot
            )
        }
    }
}

extension Node {
    /// The tree after all entries are written at once.
    fileprivate func applying(
        _ entries: [(target: WriteTarget, draft: Draft)],
        now: Timestamp
    ) -> Node {
        let writes = entries.map { target, draft in
            let existing = descendant(at: target.path)
            let old = target.isPriority ? existing.priority : existing
            return (target, draft.resolved(existing: old, now: now))
        }
        var root = self
        for turn in WriteTurn.allCases {
            for (target, node) in writes where WriteTurn(writing: node, at: target) == turn {
                if target.isPriority {
                    root.setPriority(node, at: target.path)
                } else {
                    root.set(node, at: target.path)
                }
            }
        }
        return root
    }
}
