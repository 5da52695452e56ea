import DatabaseCore
import JSONTree
import Queries
import SecurityRules

extension DecisionRecord {
    /// Appends it as one object of `/.inspect/requests.json`.
    func appendJSON(number: UInt64, to out: inout [UInt8]) {
        let head =
            "{\"id\":\(number),\"time\":\(time.milliseconds),\"operation\":\"\(operation.rawValue)\""
            + ",\"protocol\":\"\(channel.rawValue)\""
        out += Array(head.utf8)
        if let connection { out += Array(",\"connection\":\"\(connection.shortText)\"".utf8) }
        out += Array(",\"path\":".utf8)
        appendJSONString(target.description, to: &out)
        if !targets.isEmpty {
            out += Array(",\"pathCount\":\(targetCount),\"paths\":[".utf8)
            for (index, target) in targets.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                appendJSONString(target.description, to: &out)
            }
            out.append(UInt8(ascii: "]"))
        }
        if let deniedTarget {
            out += Array(",\"refusedPath\":".utf8)
            appendJSONString(deniedTarget.description, to: &out)
        }
        if let query {
            out += Array(",\"query\":".utf8)
            query.appendJSON(to: &out)
        }
        out += Array(",\"auth\":".utf8)
        appendAuth(to: &out)
        out += Array(",\"allowed\":\(decision.isAllowed),\"rule\":".utf8)
        if let rule = decision.rule {
            rule.appendJSON(to: &out)
        } else {
            out += Array("null".utf8)
        }
        let isCut = appendTrace(to: &out)
        out += Array(",\"traceIsCut\":\(isCut),\"explanation\":".utf8)
        appendJSONString(explanation ?? explain(), to: &out)
        out.append(UInt8(ascii: "}"))
    }

    /// Appends the rules that were consulted, the last one in any case; whether some are missing.
    private func appendTrace(to out: inout [UInt8]) -> Bool {
        out += Array(",\"trace\":[".utf8)
        let end = out.count + InspectionLimits.traceByteCount
        var left = decision.trace.count
        for (index, outcome) in decision.trace.prefix(InspectionLimits.ruleCount).enumerated() {
            if out.count > end { break }
            if index > 0 { out.append(UInt8(ascii: ",")) }
            outcome.appendJSON(to: &out)
            left -= 1
        }
        if left > 0, let last = decision.trace.last {
            left -= 1
            out.append(UInt8(ascii: ","))
            last.appendJSON(to: &out)
        }
        out.append(UInt8(ascii: "]"))
        return decision.isCut || left > 0
    }

    /// Appends what rules see as `auth`; null for nobody.
    func appendAuth(to out: inout [UInt8]) {
        guard let auth else {
            out += Array("null".utf8)
            return
        }
        if auth.value.isAbsent {
            out += Array("{}".utf8)
        } else {
            auth.value.appendJSON(to: &out, .value)
        }
    }
}

/// The newest decisions of one database, to be written out on a worker.
struct DecisionList: Sendable {
    let database: DatabaseID
    let level: InspectionLevel
    let filter: RequestFilter
    let records: [(number: UInt64, record: DecisionRecord)]
    /// How many are kept, whatever the filter says.
    let keptCount: Int

    /// Says how to see anything, when decisions are not told.
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
            entry.record.appendJSON(number: entry.number, to: &out)
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
            let lines = (record.explanation ?? record.explain()).split(
                separator: "\n",
                omittingEmptySubsequences: false
            )
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
    /// One line: `refused set /a/b by "ann" over rest`.
    var summary: String {
        let verdict = decision.isAllowed ? "allowed" : "refused"
        return "\(verdict) \(operation.rawValue) \(target) by \(who) over \(channel.rawValue)"
    }

    /// Who asked, in words.
    var who: String {
        if auth == nil { return "nobody" }
        guard let uid else { return "somebody without a uid" }
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
