import DatabaseCore
import IdentityToolkit
import JSONTree
import SecurityRules

/// `/.inspect/shadow.json`:
///
///     {"service"?:"files","canary":ID|null,"since":ms,"judged":n,"agreed":n,"newlyAllowed":n,"newlyRefused":n,"undecided":n,"unlisted":n,
///      "differences":[{"operation","verdict":"newlyAllowed"|"newlyRefused","live":R|null,"shadow":R|null,
///                      "count":n,"examples":[{"path","uid":text|null,"time":ms}]}]}
///     R: {"kind","path","line","column","source"}
///
/// Of rules for files a path is a bucket, a slash and a name; `kind` of a rule is its words, such as `allow get, list`.
/// The most frequent difference comes first, of its examples the newest.
extension ShadowReport {
    func json(isForFiles: Bool = false) -> JSONValue {
        // What was seen first goes first among equals.
        let order = differences.indices.sorted { left, right in
            (differences[right].count, left) < (differences[left].count, right)
        }
        return [
            "service": isForFiles ? "files" : nil,
            "canary": candidate.map { .string($0) } ?? .null,
            "since": .integer(since.milliseconds), "judged": .number(totals.decidedCount),
            "agreed": .number(totals.agreedCount),
            "newlyAllowed": .number(totals.newlyAllowedCount),
            "newlyRefused": .number(totals.newlyRefusedCount),
            "undecided": .number(totals.undecidedCount), "unlisted": .number(unlistedCount),
            "differences": .list(order.map { Self.json(ofDifference: differences[$0]) }),
        ]
    }

    private static func json(ofDifference difference: ShadowDifference) -> JSONValue {
        let examples = difference.examples.reversed().map { example -> JSONValue in
            [
                "path": .string(example.path), "uid": example.uid.map { .string($0) } ?? .null,
                "time": .integer(example.time.milliseconds),
            ]
        }
        return [
            "operation": .string(difference.operation),
            "verdict": difference.isNewlyAllowed ? "newlyAllowed" : "newlyRefused",
            "live": json(ofRule: difference.live), "shadow": json(ofRule: difference.shadow),
            "count": .number(difference.count), "examples": .list(examples),
        ]
    }

    private static func json(ofRule rule: DecidingRule?) -> JSONValue {
        guard let rule else { return .null }
        return [
            "kind": .string(rule.kind), "path": .string(rule.path),
            "line": .number(rule.line), "column": .number(rule.column),
            "source": .string(rule.source),
        ]
    }
}
