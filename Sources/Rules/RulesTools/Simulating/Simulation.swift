package import JSONTree
package import Queries
package import SecurityRules

/// A request to try against rules without executing it.
package enum SimulatedOperation: Sendable {
    case read(Path, query: QuerySpec?)
    case write(WriteTarget, Draft)
    /// Targets are absolute; none may contain another. `base` is what `newData` is shown at.
    case update(base: Path, [(target: WriteTarget, draft: Draft)])
}

/// One request to the simulator: the operation to try, and its data and rules.
package struct SimulationRequest: Sendable {
    package let operation: SimulatedOperation
    package let auth: AuthVariable?
    /// Nil means the current time.
    package let now: Timestamp?
    /// Instead of the rules in force.
    package internal(set) var rules: Ruleset?
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

/// The result of a simulated request.
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
    /// Decides a request as the server would, and changes nothing.
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
            return simulate([(target, draft)], at: target.path, request, recording)
        case .update(let base, let entries):
            return simulate(entries, at: base, request, recording)
        }
    }

    private func simulate(
        _ entries: [(target: WriteTarget, draft: Draft)],
        at path: Path,
        _ request: RulesRequest,
        _ recording: Recording
    ) -> SimulationResult {
        let newRoot = request.root.applying(entries, now: request.now)
        return SimulationResult(
            decision: decideWrite(
                entries.map(\.target),
                newRoot: newRoot,
                request,
                recording: recording
            ),
            newData: newRoot.descendant(at: path),
            newRoot: newRoot
        )
    }
}

extension Node {
    /// The tree after all entries are written at once.
    fileprivate func applying(
        _ entries: [(target: WriteTarget, draft: Draft)],
        now: Timestamp
    ) -> Node {
        let writes = entries.map { target, draft in
            (target, draft.resolved(existing: node(at: target), now: now))
        }
        var root = self
        for phase in WritePhase.allCases {
            for (target, node) in writes where WritePhase(writing: node, at: target) == phase {
                root.write(node, at: target)
            }
        }
        return root
    }
}
