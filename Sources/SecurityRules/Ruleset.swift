package import JSONTree
package import Queries

/// A checked set of security rules, ready to judge requests. Immutable; replaced as a whole.
package final class Ruleset: Sendable {
    /// The text as it was given, comments and spacing included.
    package let text: String

    private let file: FileValue
    let table: RuleTable

    private init(text: String, file: FileValue, table: RuleTable) {
        self.text = text
        self.file = file
        self.table = table
    }

    /// Reads and checks a rules text.
    ///
    /// - Parameters:
    ///   - text: the rules file.
    ///   - byteLimit: the longest text taken, in bytes of UTF-8.
    /// - Returns: rules without a fault.
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

    /// Denies everything: the rules of a database that has none.
    package static let closed = constant(false)

    /// Allows everything, to anybody.
    package static let open = constant(true)

    /// The rules as strict JSON: no comments, no raw newlines in strings.
    package func strictJSON() -> [UInt8] {
        var out: [UInt8] = []
        file.appendStrictJSON(to: &out)
        return out
    }

    /// The `.indexOn` declarations for the children of a place; empty when there are none.
    package func indexes(at path: Path) -> [QuerySpec.Index] {
        table.indexes(at: path)
    }

    /// Whether a path may be read.
    ///
    /// - Parameters:
    ///   - path: the place that is read.
    ///   - query: the query of the read; nil for a read without one.
    ///   - request: the tree and who asks.
    ///   - recording: what to note down beside the verdict.
    /// - Returns: the verdict.
    package func decideRead(
        _ path: Path,
        query: QuerySpec?,
        _ request: RulesRequest,
        recording: Recording = Recording()
    ) -> Decision {
        if recording.isEmpty {
            return Decision(judgeRead(path, query, request, SilentProbe()).verdicts)
        }
        return recordRead(path, query, request, recording)
    }

    /// Apart from `decideRead`, whose silent way stays small.
    @inline(never)
    private func recordRead(
        _ path: Path,
        _ query: QuerySpec?,
        _ request: RulesRequest,
        _ recording: Recording
    ) -> Decision {
        if recording.contains(.values) {
            let (verdicts, probe) = judgeRead(path, query, request, ValueRecorder(recording))
            return Decision(verdicts, probe.recorder, isCut: probe.isCut)
        }
        let (verdicts, recorder) = judgeRead(path, query, request, Recorder(recording))
        return Decision(verdicts, recorder, isCut: recorder.isCut)
    }

    private func judgeRead<P: Probe>(
        _ path: Path,
        _ query: QuerySpec?,
        _ request: RulesRequest,
        _ probe: P
    ) -> (verdicts: Verdicts, probe: P) {
        // All that the judge borrows lives until this returns.
        withExtendedLifetime((request, table)) {
            path.withKeys { keys in
                var judge = Judge(
                    table,
                    request,
                    query: query,
                    newRoot: request.root,
                    Trail(target: path, keys),
                    probe: probe
                )
                return (judge.judgeRead(), judge.probe)
            }
        }
    }

    /// Whether a write of all targets at once may turn the tree of the request into `newRoot`.
    ///
    /// - Parameters:
    ///   - targets: one for a put, all of them for an update; none may contain another. No targets
    ///     change nothing, which is allowed.
    ///   - newRoot: the tree after the whole write, server values resolved.
    ///   - request: the tree before the write and who asks.
    ///   - recording: what to note down beside the verdict.
    /// - Returns: the verdict.
    package func decideWrite(
        _ targets: [WriteTarget],
        newRoot: Node,
        _ request: RulesRequest,
        recording: Recording = Recording()
    ) -> Decision {
        if recording.isEmpty {
            return Decision(judgeWrite(targets, newRoot, request, SilentProbe()).verdicts)
        }
        return recordWrite(targets, newRoot, request, recording)
    }

    /// Apart from `decideWrite`, whose silent way stays small.
    @inline(never)
    private func recordWrite(
        _ targets: [WriteTarget],
        _ newRoot: Node,
        _ request: RulesRequest,
        _ recording: Recording
    ) -> Decision {
        if recording.contains(.values) {
            let (verdicts, probe) = judgeWrite(targets, newRoot, request, ValueRecorder(recording))
            return Decision(verdicts, probe.recorder, isCut: probe.isCut)
        }
        let (verdicts, recorder) = judgeWrite(targets, newRoot, request, Recorder(recording))
        return Decision(verdicts, recorder, isCut: recorder.isCut)
    }

    private func judgeWrite<P: Probe>(
        _ targets: [WriteTarget],
        _ newRoot: Node,
        _ request: RulesRequest,
        _ probe: P
    ) -> (verdicts: Verdicts, probe: P) {
        let order =
            targets.count == 1
            ? [0] : targets.indices.sorted { targets[$0].path < targets[$1].path }
        // All that the judge borrows lives until this returns; the keys of a target until its turn
        // is over, after which they are not asked for.
        return withExtendedLifetime((request, newRoot, table)) {
            var judge = writeJudge(newRoot, request, pathCount: targets.count, probe)
            var progress = Judge<P>.WriteProgress()
            for entry in order {
                let target = targets[entry]
                let refused = target.path.withKeys {
                    judge.judgeWrite(target, $0, entry: entry, after: &progress)
                }
                if let refused { return (refused, judge.probe) }
            }
            return (progress.verdicts, judge.probe)
        }
    }

    /// Looks for a target that is refused whatever a write makes of the tree, in their order, as far as the first one:
    /// to ask before the new tree is made.
    ///
    /// - Returns: the refusal, and how many targets were asked about. Without a refusal nothing is decided.
    package func refuseEarly(
        _ targets: some Sequence<WriteTarget>,
        _ request: RulesRequest
    ) -> (decision: Decision?, judgedCount: Int) {
        withExtendedLifetime((request, table)) {
            var judge = writeJudge(request.root, request, pathCount: 1, SilentProbe())
            var progress = Judge<SilentProbe>.EarlyProgress()
            var judgedCount = 0
            for target in targets {
                judgedCount += 1
                let isRefused = target.path.withKeys {
                    judge.refusesEarly(target, $0, after: &progress)
                }
                if isRefused {
                    let verdicts = Verdicts(
                        isAllowed: false,
                        rule: nil,
                        deniedEntry: judgedCount - 1
                    )
                    return (Decision(verdicts), judgedCount)
                }
            }
            return (nil, judgedCount)
        }
    }

    /// Which targets of a write of all of them at once are refused, each asked about by itself on the same new tree.
    ///
    /// - Parameters:
    ///   - targets: as for `decideWrite`.
    ///   - newRoot: the tree after the whole write.
    ///   - request: the tree before the write and who asks.
    ///   - stepsLeft: steps that all of them may take together, and what they leave; without any left the rest is
    ///     refused.
    /// - Returns: indexes of the targets given, ascending.
    package func refusedTargets(
        of targets: [WriteTarget],
        newRoot: Node,
        _ request: RulesRequest,
        stepsLeft: inout Int
    ) -> [Int] {
        var limited = request
        limited.stepLimit = max(stepsLeft, 0)
        return withExtendedLifetime((limited, newRoot, table)) {
            var judge = writeJudge(newRoot, limited, pathCount: targets.count, SilentProbe())
            var refused: [Int] = []
            for (entry, target) in targets.enumerated() {
                var progress = Judge<SilentProbe>.WriteProgress()
                let refusal = target.path.withKeys {
                    judge.judgeWrite(target, $0, entry: entry, after: &progress)
                }
                if refusal != nil { refused.append(entry) }
            }
            stepsLeft = judge.stepsLeft
            return refused
        }
    }

    /// A judge of a write before its first target.
    private func writeJudge<P: Probe>(
        _ newRoot: Node,
        _ request: RulesRequest,
        pathCount: Int,
        _ probe: P
    ) -> Judge<P> {
        Path.root.withKeys { keys in
            Judge(
                table,
                request,
                query: nil,
                newRoot: newRoot,
                Trail(target: .root, keys),
                pathCount: pathCount,
                probe: probe
            )
        }
    }

    /// Whether a write of the nodes at all paths at once may turn the tree of the request into
    /// `newRoot`.
    package func decideWrite(
        _ paths: [Path],
        newRoot: Node,
        _ request: RulesRequest,
        recording: Recording = Recording()
    ) -> Decision {
        decideWrite(
            paths.map { WriteTarget(path: $0) },
            newRoot: newRoot,
            request,
            recording: recording
        )
    }

    private static func constant(_ value: Bool) -> Ruleset {
        do {
            return try load("{\"rules\":{\".read\":\(value),\".write\":\(value)}}")
        } catch {
            preconditionFailure("constant rules load: \(error)")
        }
    }
}

extension Decision {
    init(_ verdict: Verdicts) {
        self.init(
            isAllowed: verdict.isAllowed,
            rule: verdict.rule,
            deniedEntry: verdict.deniedEntry,
            trace: [],
            lookedAt: [],
            lookedAtTime: false,
            lookedAtAuth: false,
            isCut: false,
            limited: verdict.overLimit
        )
    }

    init(_ verdict: Verdicts, _ recorder: Recorder, isCut: Bool) {
        self.init(
            isAllowed: verdict.isAllowed,
            rule: verdict.rule,
            deniedEntry: verdict.deniedEntry,
            trace: recorder.trace,
            lookedAt: recorder.paths,
            lookedAtTime: recorder.hasLookedAtTime,
            lookedAtAuth: recorder.hasLookedAtAuth,
            isCut: isCut,
            limited: verdict.overLimit
        )
    }
}
