/// Hard limits of security rules.
///
/// The size of a rules text is documented by Firebase; the other numbers are Hearth's own, far
/// above anything seen in use, so that no rules file can stall the server or exhaust its memory.
package enum RulesLimits {
    /// Bytes of UTF-8 in one rules text, 256 KB. Source: Firebase, "Usage and limits".
    package static let textByteCount = 256 * 1024

    /// Objects and arrays of a rules text that may be open at once; data is at most 32 deep.
    package static let textNesting = 100

    /// Bytes of UTF-8 in one expression, 64 KB; Firebase is known to take 4.4 KB.
    package static let expressionByteCount = 64 * 1024

    /// Levels of one expression, brackets and operators alike. A chain of `&&` or of `||` is one level.
    package static let expressionNesting = 200

    /// Scalars in one regular expression.
    package static let patternScalarCount = 4_096

    /// States a regular expression may expand to; `a{1,500}` takes about 1,000.
    package static let patternStateCount = 10_000

    /// Groups of a regular expression that may be open at once.
    package static let patternNesting = 100

    /// Steps one request may take: an operation of a rule is one, a child visited is one, a key of a path that a rule
    /// builds is one, an occurrence replaced is two, 64 bytes of text built or compared are one, 4 bytes changed in
    /// case are one, a number written out is 40, 8 states of a pattern visited are one (4 in a pattern of more than
    /// 64 states, whose lists cost a step for 32 states more).
    ///
    /// Work is paid for before it is done, or during it. A step is 2 to 100 ns (`bench
    /// security-rules`), so that the worst request stays near the 50 ms tick of the loop.
    package static let stepsPerRequest = 500_000

    /// Steps that each path of an update adds: rules are asked of each, and an honest update has many. A post of
    /// `rules/timeline.json` takes 65 for each follower.
    package static let stepsPerPath = 100

    /// Steps that an update may take at the most, some 50 ms of those that walk the tree.
    package static let stepsPerUpdate = 2_500_000

    /// Steps that a write of `pathCount` paths may take.
    package static func steps(pathCount: Int) -> Int {
        min(stepsPerRequest + stepsPerPath * max(pathCount - 1, 0), stepsPerUpdate)
    }

    /// Steps that rules on trial may take for one request, so that requests hardly wait for them: some 5 ms at most.
    package static let stepsPerTrial = 50_000

    /// Bytes of UTF-8 in a string that `+`, `replace`, or a change of case makes, 10 MiB.
    package static let builtStringByteCount = 10 * 1024 * 1024

    /// Paths that are recorded of a decision that is of use with few: looking at them again takes about 1 ms.
    package static let fewPathCount = 1_000

    /// Consulted rules that one trace holds.
    package static let tracedRuleCount = 1_000

    /// Bytes of UTF-8 in the expressions of the rules that one trace holds, 1 MiB: an answer repeats
    /// the expression for every rule consulted.
    package static let tracedSourceByteCount = 1024 * 1024

    /// Operations whose values one trace holds. A value takes some 20 to 60 ns to record, so that a
    /// trace adds less than a millisecond to a request.
    package static let tracedValueCount = 10_000

    /// Bytes of strings and of keys below the decided path that the values of one trace hold, 256 KiB.
    package static let tracedByteCount = 256 * 1024

    /// Bytes of UTF-8 of one string that a trace shows; the rest is cut off.
    package static let tracedStringByteCount = 256

    /// Bytes of the keys that one snapshot of a trace was reached by, below the path of its rule or
    /// the root; a longer path is not shown.
    package static let tracedKeyByteCount = 4_096

    /// Scalars of a sub-expression that a trace quotes; the rest is cut off.
    package static let tracedTextScalarCount = 512

    /// Operations of a refusing rule, and steps it may take, that are run once more for its values
    /// when the trace had no room left for them; half a millisecond at most.
    package static let replayStepCount = 5_000

    /// Bytes of strings and keys that such a run may record.
    package static let replayByteCount = 16 * 1024

    /// Distinct values that coverage keeps apart for one sub-expression; further ones are counted together.
    package static let coveredValueCount = 8

    /// Bytes of UTF-8 of one string that coverage shows; the rest is cut off.
    package static let coveredStringByteCount = 64

    /// Bytes of UTF-8 in all strings that the coverage of one ruleset keeps, 256 KiB; further strings
    /// are counted together.
    package static let coveredByteCount = 256 * 1024

    /// Faults reported for one text; the rest is cut off.
    package static let faultCount = 1_000

    /// Nodes of new data, and pieces of 256 bytes of its texts, that a simulator shows; at most some 5 MB.
    package static let simulatedWeight = 20_000

    /// Bytes of UTF-8 in one explanation.
    package static let explanationByteCount = 16 * 1024

    /// The same for an explanation that is sent unasked.
    package static let shortExplanationByteCount = 2 * 1024

    /// Scalars of one expression, path or text that an explanation shows.
    package static let explanationPieceScalarCount = 300

    /// Lines of reasons that an explanation gives for one rule.
    package static let explanationReasonCount = 40

    /// Rules that an explanation lists, but for those that decided.
    package static let explanationRuleCount = 40

    /// Rules that validated and held which an explanation lists.
    package static let explanationPassingCount = 5
}
