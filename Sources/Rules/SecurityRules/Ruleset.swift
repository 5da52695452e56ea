package import JSONTree
package import Queries

/// A checked set of security rules, ready to decide requests. Immutable; replaced as a whole.
package final class Ruleset: Sendable {
    /// The original text, comments and spacing included.
    package let text: String

    private let file: RulesFileValue
    let table: RuleTable

    /// Every rule, in no particular order.
    package var rules: [Rule] { table.rules }

    private init(text: String, file: RulesFileValue, table: RuleTable) {
        self.text = text
        self.file = file
        self.table = table
    }

    /// Reads and checks a rules text of at most `byteLimit` bytes of UTF-8.
    ///
    /// - Throws: `RulesError` with every fault of the text.
    package static func load(
        _ text: String,
        byteLimit: Int = RulesLimits.textByteCount
    ) throws(RulesError) -> Ruleset {
        if text.utf8.count > byteLimit {
            let message = "Rules are longer than \(byteLimit) bytes."
            throw RulesError(faults: [RulesFault(line: 1, column: 1, message: message)])
        }
        let rulesText = RulesText(text)
        var loader = RulesLoader(rulesText)
        let loaded = loader.load()
        guard let loaded else { throw RulesError(faults: loader.sortedFaults()) }
        return Ruleset(text: text, file: loaded.file, table: RuleTable(loaded.top))
    }

    /// Reads the text again, since a loaded ruleset keeps nothing that only lints need.
    package func syntax() -> RulesSyntax {
        let text = RulesText(text)
        var loader = RulesLoader(text)
        guard let loaded = loader.load() else {
            preconditionFailure("rules that were loaded load again")
        }
        return RulesSyntax(
            text: text,
            top: loaded.top,
            comments: loader.comments,
            notes: loader.warnings
        )
    }

    /// Denies everything: the rules of a database that has none.
    package static let closed = constant(false)

    /// Allows everything to everyone.
    package static let open = constant(true)

    /// The rules as strict JSON: no comments, no raw newlines in strings.
    package func strictJSON() -> [UInt8] {
        var out: [UInt8] = []
        file.appendStrictJSON(to: &out)
        return out
    }

    /// The `.indexOn` declarations for the children of a location; empty when there are none.
    package func indexes(at path: Path) -> [QuerySpec.Index] {
        table.indexes(at: path)
    }

    /// Whether a path may be read; `query` is nil for a read without one.
    package func decideRead(
        _ path: Path,
        query: QuerySpec?,
        _ request: RulesRequest,
        recording: Recording = Recording()
    ) -> Decision {
        if recording.isEmpty { return authorizeRead(path, query, request, SilentProbe()) }
        return recordRead(path, query, request, recording)
    }

    /// Not inlined, so that the usual path of `decideRead` stays small.
    @inline(never)
    private func recordRead(
        _ path: Path,
        _ query: QuerySpec?,
        _ request: RulesRequest,
        _ recording: Recording
    ) -> Decision {
        recording.contains(.values)
            ? authorizeRead(path, query, request, ValueRecorder(recording))
            : authorizeRead(path, query, request, Recorder(recording))
    }

    private func authorizeRead<P: Probe>(
        _ path: Path,
        _ query: QuerySpec?,
        _ request: RulesRequest,
        _ probe: P
    ) -> Decision {
        // Keeps alive all that the authorizer borrows.
        withExtendedLifetime((request, table)) {
            path.withKeys { keys in
                var authorizer = Authorizer(
                    table,
                    request,
                    query: query,
                    newRoot: request.root,
                    RulePath(target: path, keys),
                    probe: probe
                )
                let decision = authorizer.authorizeRead()
                return authorizer.probe.complete(decision)
            }
        }
    }

    /// Whether a write of all targets at once may turn the tree of the request into `newRoot`, server values resolved.
    ///
    /// A put has one target; of an update none may contain another. No targets change nothing, which is allowed.
    package func decideWrite(
        _ targets: [WriteTarget],
        newRoot: Node,
        _ request: RulesRequest,
        recording: Recording = Recording()
    ) -> Decision {
        if recording.isEmpty { return authorizeWrite(targets, newRoot, request, SilentProbe()) }
        return recordWrite(targets, newRoot, request, recording)
    }

    /// Not inlined, so that the usual path of `decideWrite` stays small.
    @inline(never)
    private func recordWrite(
        _ targets: [WriteTarget],
        _ newRoot: Node,
        _ request: RulesRequest,
        _ recording: Recording
    ) -> Decision {
        recording.contains(.values)
            ? authorizeWrite(targets, newRoot, request, ValueRecorder(recording))
            : authorizeWrite(targets, newRoot, request, Recorder(recording))
    }

    private func authorizeWrite<P: Probe>(
        _ targets: [WriteTarget],
        _ newRoot: Node,
        _ request: RulesRequest,
        _ probe: P
    ) -> Decision {
        let order =
            targets.count == 1
            ? [0] : targets.indices.sorted { targets[$0].path < targets[$1].path }
        // Keeps alive all that the authorizer borrows; the keys of a target only while it is
        // decided, since no later one needs them.
        return withExtendedLifetime((request, newRoot, table)) {
            var authorizer = writeAuthorizer(newRoot, request, pathCount: targets.count, probe)
            var progress = Authorizer<P>.WriteProgress()
            for entry in order {
                let target = targets[entry]
                let refused = target.path.withKeys {
                    authorizer.authorizeWrite(target, $0, entry: entry, after: &progress)
                }
                if let refused { return authorizer.probe.complete(refused) }
            }
            return authorizer.probe.complete(progress.decision)
        }
    }

    /// Finds the first target that is refused for every possible new tree: a check before the new tree is built.
    ///
    /// - Returns: the refusal, and how many targets were checked. Without a refusal nothing is decided.
    package func refuseEarly(
        _ targets: some Sequence<WriteTarget>,
        _ request: RulesRequest
    ) -> (decision: Decision?, checkedCount: Int) {
        withExtendedLifetime((request, table)) {
            var authorizer = writeAuthorizer(request.root, request, pathCount: 1, SilentProbe())
            var progress = Authorizer<SilentProbe>.EarlyProgress()
            var checkedCount = 0
            for target in targets {
                checkedCount += 1
                let isRefused = target.path.withKeys {
                    authorizer.refusesEarly(target, $0, after: &progress)
                }
                if isRefused {
                    let refusal = UntracedDecision(
                        isAllowed: false,
                        rule: nil,
                        deniedEntry: checkedCount - 1
                    )
                    return (Decision(refusal), checkedCount)
                }
            }
            return (nil, checkedCount)
        }
    }

    /// The targets of one write that are refused, each decided on its own with the same new tree: their indexes,
    /// ascending.
    ///
    /// `stepsLeft` is what all of them may take together, and what they leave; without any left the rest is refused.
    package func refusedTargets(
        of targets: [WriteTarget],
        newRoot: Node,
        _ request: RulesRequest,
        stepsLeft: inout Int
    ) -> [Int] {
        var limited = request
        limited.stepLimit = max(stepsLeft, 0)
        return withExtendedLifetime((limited, newRoot, table)) {
            var authorizer = writeAuthorizer(
                newRoot,
                limited,
                pathCount: targets.count,
                SilentProbe()
            )
            var refused: [Int] = []
            for (entry, target) in targets.enumerated() {
                var progress = Authorizer<SilentProbe>.WriteProgress()
                let refusal = target.path.withKeys {
                    authorizer.authorizeWrite(target, $0, entry: entry, after: &progress)
                }
                if refusal != nil { refused.append(entry) }
            }
            stepsLeft = authorizer.stepsLeft
            return refused
        }
    }

    /// An authorizer of a write, before its first target.
    private func writeAuthorizer<P: Probe>(
        _ newRoot: Node,
        _ request: RulesRequest,
        pathCount: Int,
        _ probe: P
    ) -> Authorizer<P> {
        Path.root.withKeys { keys in
            Authorizer(
                table,
                request,
                query: nil,
                newRoot: newRoot,
                RulePath(target: .root, keys),
                pathCount: pathCount,
                probe: probe
            )
        }
    }

    private static func constant(_ value: Bool) -> Ruleset {
        do {
            return try load("{\"rules\":{\".read\":\(value),\".write\":\(value)}}")
        } catch {
            preconditionFailure("constant rules load: \(error)")
        }
    }
}
