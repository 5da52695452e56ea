import RulesTools
import SecurityRules

/// What the decisions of many rulesets were about.
package struct OracleCounts: Sendable {
    var tally = OracleTally()
    /// How often each kind of decision was met.
    package private(set) var decisions: [String: Int] = [:]
    var results: [String: Int] = [:]

    /// What may be recorded instead of trace and paths, by turns: nothing, which is other code, less, or more.
    private static let recordings: [Recording] = [[], .paths, .values, .trace]
    private var turn = 0

    mutating func nextRecording() -> Recording {
        turn += 1
        return OracleCounts.recordings[turn % OracleCounts.recordings.count]
    }

    /// Counts nothing yet.
    package init() {}

    /// Adds the counts of others.
    package mutating func add(_ other: OracleCounts) {
        tally.add(other.tally)
        decisions.merge(other.decisions, uniquingKeysWith: +)
        results.merge(other.results, uniquingKeysWith: +)
    }

    mutating func count(_ name: String) { decisions[name, default: 0] += 1 }

    /// Counts a decision of the oracle.
    mutating func count(
        _ request: OracleRequest,
        _ decision: OracleDecision,
        _ evaluated: OracleTally
    ) {
        tally.add(evaluated)
        for outcome in decision.trace {
            results["\(outcome.kind) \(outcome.result.rawValue)", default: 0] += 1
        }
        count("\(request.kind) \(decision.isAllowed ? "allowed" : "refused")")
    }

    /// What came less than `floor` times, or a multiple of that: parts of the language, both decisions, all results.
    package func missing(_ floor: Int) -> [String] {
        var floors = OracleCounts.names.map { ($0, tally.counts[$0, default: 0], floor) }
        for kind in ["read", "write", "update"] {
            let (yes, no) = (kind + " allowed", kind + " refused")
            let all = decisions[yes, default: 0] + decisions[no, default: 0]
            // Neither of them is rare.
            for name in [yes, no] { floors.append((name, decisions[name, default: 0], all / 5)) }
        }
        for result in ["holds", "fails", "aborts"] {
            for kind in OracleRules.Kind.allCases {
                let name = "\(kind) \(result)"
                floors.append((name, results[name, default: 0], 5 * floor))
            }
        }
        for kind in ["write", "update"] {
            let least = decisions[kind + " refused", default: 0] / 10
            floors.append((kind + " foreseen", decisions[kind + " foreseen", default: 0], least))
        }
        for (name, times) in [("untouched", 10), ("early", 1), ("several refused", 1)] {
            floors.append((name, decisions[name, default: 0], times * floor))
        }
        if floor == 0 { return [] }
        return floors.filter { $0.1 < $0.2 }.map { "\($0.0): \($0.1) of \($0.2)" }
    }

    private static let names =
        OracleExpression.Variable.allCases.map(\.rawValue)
        + OracleExpression.Operator.allCases.map(\.rawValue)
        + OracleType.snapshotMethods.keys + OracleType.stringMethods.keys
        + (OracleType.queryFlags + OracleType.queryValues).map { "." + $0 }
        + [
            "$", "!", "negative", "?", ":", "[]", ".length", ".member", "hasChildren[]",
            "&& not reached", "|| not reached",
        ]
}
