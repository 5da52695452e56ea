package import JSONTree
package import Queries

/// A request to try against rules without doing it.
package enum SimulatedOperation: Sendable {
    case read(Path, query: QuerySpec?)
    case write(WriteTarget, Draft)
    /// Targets are absolute; none may contain another. `base` is what `newData` is shown at.
    case update(base: Path, [(target: WriteTarget, draft: Draft)])
}

/// What would have come of a simulated request.
package struct SimulationResult: Sendable {
    /// With the full trace.
    package let decision: Decision

    /// For writes, the node that would be at the path of the request; nil for reads.
    package let newData: Node?
}

extension Ruleset {
    /// Judges a request as the server would and changes nothing.
    ///
    /// Server values are resolved against the tree before the request, all with one time.
    package func simulate(
        _ operation: SimulatedOperation,
        _ request: RulesRequest,
        recording: Recording = [.trace, .paths]
    ) -> SimulationResult {
        switch operation {
        case .read(let path, let query):
            let decision = decideRead(path, query: query, request, recording: recording)
            return SimulationResult(decision: decision, newData: nil)
        case .write(let target, let draft):
            let newRoot = request.root.applying([(target, draft)], now: request.now)
            let decision = decideWrite([target], newRoot: newRoot, request, recording: recording)
            return SimulationResult(
                decision: decision,
                newData: newRoot.descendant(at: target.path)
            )
        case .update(let base, let entries):
            let newRoot = request.root.applying(entries, now: request.now)
            let decision = decideWrite(
                entries.map(\.target),
                newRoot: newRoot,
                request,
                recording: recording
            )
            return SimulationResult(decision: decision, newData: newRoot.descendant(at: base))
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
