import DatabaseCore
import JSONTree
import RulesTools
import SecurityRules

extension DecisionRecord: KeptDecision {
    var byteCount: Int {
        var sum = 512 + target.path.wireByteCount + (explanation?.utf8.count ?? 0)
        for target in targets { sum += 32 + target.path.wireByteCount }
        if let auth { sum += auth.value.encodingByteCount }
        if let query { sum += query.byteCount }
        for outcome in decision.trace { sum += outcome.heldByteCount }
        return sum
    }

    var rulesByteCount: Int { rules.text.utf8.count }

    var words: String { explanation ?? explain() }

    func json(number: UInt64) -> JSONValue {
        let (trace, isCut) = jsonOfTrace
        let paths = targets.map { JSONValue.string($0.description) }
        return [
            "id": .number(number), "time": .integer(time.milliseconds),
            "operation": .string(operation.rawValue), "protocol": .string(channel.rawValue),
            "connection": connection.map { .string($0.shortText) },
            "path": .string(target.description),
            "pathCount": paths.isEmpty ? nil : .number(targetCount),
            "paths": paths.isEmpty ? nil : .list(paths),
            "refusedPath": deniedTarget.map { .string($0.description) }, "query": query?.json,
            "auth": jsonOfAuth, "allowed": .boolean(decision.isAllowed),
            "rule": decision.rule?.json ?? .null, "trace": .list(trace),
            "traceIsCut": .boolean(isCut), "explanation": .string(words),
        ]
    }

    /// The rules that were consulted, the last one in any case; whether some are missing.
    private var jsonOfTrace: ([JSONValue], isCut: Bool) {
        var shown: [JSONValue] = []
        // Without a comma before the first.
        var byteCount = -1
        for outcome in decision.trace.prefix(InspectionLimits.ruleCount) {
            if byteCount > InspectionLimits.traceByteCount { break }
            let text = outcome.json.text
            shown.append(.raw(text))
            byteCount += 1 + text.count
        }
        var left = decision.trace.count - shown.count
        if left > 0, let last = decision.trace.last {
            left -= 1
            shown.append(last.json)
        }
        return (shown, decision.isCut || left > 0)
    }

    /// What rules see as `auth`; null without a user.
    var jsonOfAuth: JSONValue {
        guard let auth else { return .null }
        return auth.value.isAbsent ? [:] : .raw(auth.value.json(.value))
    }
}

/// The newest decisions of one database.
typealias DecisionList = KeptDecisionList<DecisionRecord>

/// The newest decisions of one kind, to be written out on a worker.
struct KeptDecisionList<Record: KeptDecision>: Sendable {
    let level: InspectionLevel
    let records: [(number: UInt64, record: Record)]

    /// Says how to see anything when decisions are not recorded.
    var hint: String? {
        switch level {
        case .off:
            "Nothing is recorded. Start the server with --inspect refused (or all), or switch it on"
                + " now: PUT \"refused\" to /.inspect/level.json."
        case .refused: "Only refused requests are recorded (--inspect refused)."
        case .all: nil
        }
    }

    /// `{"inspection":"all","requests":[...]}`, newest first; with `"leftOut"`, a number, when the
    /// answer has no room for the oldest of them.
    func json() -> [UInt8] {
        var out = Array("{\"inspection\":\"\(level.rawValue)\"".utf8)
        if level == .off, let hint {
            out += Array(",\"hint\":".utf8)
            appendJSONString(hint, to: &out)
        }
        out += Array(",\"requests\":[".utf8)
        var left = records.count
        for entry in records {
            if out.count > InspectionLimits.answerByteCount { break }
            if left < records.count { out += Array(",\n".utf8) }
            entry.record.json(number: entry.number).append(to: &out)
            left -= 1
        }
        out += Array((left > 0 ? "],\"leftOut\":\(left)}\n" : "]}\n").utf8)
        return out
    }

    /// For terminals, the newest last.
    func text() -> [UInt8] {
        var texts: [String] = []
        var byteCount = 0
        for (number, record) in records {
            if byteCount > InspectionLimits.answerByteCount { break }
            var text =
                "#\(number) \(ISO8601.text(of: record.time.milliseconds)) \(record.summary)\n"
            let lines = record.words.split(separator: "\n", omittingEmptySubsequences: false)
            for line in lines { text += line.isEmpty ? "\n" : "    \(line)\n" }
            byteCount += text.utf8.count
            texts.append(text)
        }
        var out = ""
        let left = records.count - texts.count
        if left > 0 { out += InspectionLimits.words(leftOut: left) + "\n\n" }
        for text in texts.reversed() { out += text + "\n" }
        if records.isEmpty { out += "Nothing is recorded that fits.\n" }
        if let hint { out += hint + "\n" }
        return Array(out.utf8)
    }
}

extension DecisionRecord {
    var summary: String {
        let outcome = decision.isAllowed ? "allowed" : "refused"
        return "\(outcome) \(operation.rawValue) \(target) by \(who) over \(channel.rawValue)"
    }

    /// Who asked, in words.
    var who: String {
        if auth == nil { return "no user" }
        guard let uid else { return "a user without a uid" }
        return "\"\(uid)\""
    }

    /// The rule that decided: `/a/$b .write, line 7`; when none did, the last one that did not grant.
    var rule: String {
        if let rule = decision.rule { return Self.name(rule) }
        guard let last = decision.trace.last(where: { $0.kind != .validate }) else {
            return decision.isAllowed ? "none is needed" : "none grants it"
        }
        return "none grants it, last \(Self.name(last))"
    }

    static func name(_ rule: RuleOutcome) -> String {
        "\(rule.path) .\(rule.kind.rawValue), line \(rule.line)"
    }
}
