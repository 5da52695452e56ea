import DatabaseCore
import JSONTree
import SecurityRules

/// `/.inspect/shadow.json`:
///
///     {"canary":ID|null,"since":ms,"judged":n,"agreed":n,"newlyAllowed":n,"newlyRefused":n,"undecided":n,"unlisted":n,
///      "differences":[{"operation","verdict":"newlyAllowed"|"newlyRefused","live":R|null,"shadow":R|null,
///                      "count":n,"examples":[{"path","uid":text|null,"time":ms}]}]}
///     R: {"kind","path","line","column","source"}
///
/// The most frequent difference comes first, of its examples the newest.
extension ShadowReport {
    func json() -> [UInt8] {
        var out = Array("{\"canary\":".utf8)
        Self.append(candidate, to: &out)
        let counts: [(String, Int)] = [
            ("judged", totals.judgedCount), ("agreed", totals.agreedCount),
            ("newlyAllowed", totals.newlyAllowedCount),
            ("newlyRefused", totals.newlyRefusedCount), ("undecided", totals.undecidedCount),
            ("unlisted", unlistedCount),
        ]
        out += Array(",\"since\":\(since.milliseconds)".utf8)
        for (name, count) in counts { out += Array(",\"\(name)\":\(count)".utf8) }
        out += Array(",\"differences\":[".utf8)
        // What was seen first goes first among equals.
        let order = differences.indices.sorted { left, right in
            (differences[right].count, left) < (differences[left].count, right)
        }
        for (place, index) in order.enumerated() {
            if place > 0 { out.append(UInt8(ascii: ",")) }
            Self.append(differences[index], to: &out)
        }
        out += Array("]}".utf8)
        return out
    }

    private static func append(_ difference: ShadowDifference, to out: inout [UInt8]) {
        let verdict = difference.isNewlyAllowed ? "newlyAllowed" : "newlyRefused"
        let operation = difference.operation.rawValue
        out += Array("{\"operation\":\"\(operation)\",\"verdict\":\"\(verdict)\",\"live\":".utf8)
        append(difference.live, to: &out)
        out += Array(",\"shadow\":".utf8)
        append(difference.shadow, to: &out)
        out += Array(",\"count\":\(difference.count),\"examples\":[".utf8)
        for (index, example) in difference.examples.reversed().enumerated() {
            out += Array((index > 0 ? ",{\"path\":" : "{\"path\":").utf8)
            appendJSONString(example.path, to: &out)
            out += Array(",\"uid\":".utf8)
            append(example.uid, to: &out)
            out += Array(",\"time\":\(example.time.milliseconds)}".utf8)
        }
        out += Array("]}".utf8)
    }

    private static func append(_ rule: DecidingRule?, to out: inout [UInt8]) {
        guard let rule else {
            out += Array("null".utf8)
            return
        }
        out += Array("{\"kind\":\"\(rule.kind.rawValue)\",\"path\":".utf8)
        appendJSONString(rule.path, to: &out)
        out += Array(",\"line\":\(rule.line),\"column\":\(rule.column),\"source\":".utf8)
        appendJSONString(rule.source, to: &out)
        out.append(UInt8(ascii: "}"))
    }

    private static func append(_ text: String?, to out: inout [UInt8]) {
        if let text { appendJSONString(text, to: &out) } else { out += Array("null".utf8) }
    }
}
