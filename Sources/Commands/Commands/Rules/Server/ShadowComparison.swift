import Files
import JSONTree

/// The server's comparison of a database's shadow rules with those in force.
struct ShadowComparison {
    /// The identifier of the shadow rules; nil when there are none.
    let candidate: String?
    private let report: Node

    /// Reads the answer of a server; nil when it is something else.
    init?(_ report: Node) {
        guard report.member("judged").integer != nil else { return nil }
        self.report = report
        candidate = report.member("canary").string
    }

    var differs: Bool { count("newlyAllowed") + count("newlyRefused") > 0 }

    private func count(_ name: String) -> Int64 { report.member(name).integer ?? 0 }

    /// For people:
    ///
    ///     shadow rules -Oa1 at http://127.0.0.1:9000 (demo), counted since 2026-01-31T23:59:59.999Z
    ///     decided 120: 117 agreed, 1 newly allowed, 2 newly refused
    ///
    ///     newly refused: set, 2 times
    ///       in force  write /rooms/$room (3:17): auth != null
    ///       shadow    nothing grants it
    ///         2026-01-31T23:59:59.999Z  /rooms/a  ann
    func text(at location: String) -> String {
        let since = ISO8601.text(of: count("since"))
        var lines = [
            "shadow rules \(candidate ?? "-") at \(location), counted since \(since)",
            "decided \(count("judged")): \(count("agreed")) agreed, \(count("newlyAllowed")) newly allowed, "
                + "\(count("newlyRefused")) newly refused",
        ]
        for difference in report.member("differences").elements {
            lines += [""] + Self.lines(of: difference)
        }
        if count("unlisted") > 0 {
            lines += ["", "in further ways differ: \(count("unlisted"))"]
        }
        return lines.joined(separator: "\n")
    }

    private static func lines(of difference: Node) -> [String] {
        let isNewlyAllowed = difference.member("verdict").string == "newlyAllowed"
        let decision = isNewlyAllowed ? "newly allowed" : "newly refused"
        let count = difference.member("count").integer ?? 0
        let operation = difference.member("operation").string ?? "?"
        // Where nothing grants what is allowed, there are no rules: for files, in development.
        let inForce = isNewlyAllowed ? ungranted : "no rules: everything is allowed"
        var lines = [
            "\(decision): \(operation), \(count == 1 ? "once" : "\(count) times")",
            "  in force  \(rule(difference.member("live"), without: inForce))",
            "  shadow    \(rule(difference.member("shadow"), without: ungranted))",
        ]
        for example in difference.member("examples").elements {
            let time = ISO8601.text(of: example.member("time").integer ?? 0)
            let uid = example.member("uid").string ?? "(no user)"
            let path = example.member("path").string ?? "?"
            // Prefixes of files and identifiers of users may have characters that a terminal would act on.
            let line = "    \(time)  \(path)  \(uid)".replacing("\n", with: " ")
            lines.append(TerminalText.shown(line))
        }
        return lines
    }

    private static let ungranted = "nothing grants it"

    private static func rule(_ rule: Node, without words: String) -> String {
        guard let kind = rule.member("kind").string, let path = rule.member("path").string else {
            return words
        }
        let location = "\(rule.member("line").integer ?? 0):\(rule.member("column").integer ?? 0)"
        return "\(kind) \(path) (\(location)): \(rule.member("source").string ?? "")"
    }
}
