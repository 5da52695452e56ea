import JSONTree

/// How the shadow rules of a database compare with those in force, as its server tells it.
struct ShadowComparison {
    /// The identifier of the shadow rules; nil when there are none.
    let candidate: String?
    private let report: Node

    /// Reads the answer of a server; nil when it is something else.
    init?(_ report: Node) {
        guard report["judged"].integer != nil else { return nil }
        self.report = report
        candidate = report["canary"].string
    }

    var differs: Bool { count("newlyAllowed") + count("newlyRefused") > 0 }

    private func count(_ name: String) -> Int64 { report[name].integer ?? 0 }

    /// For people:
    ///
    ///     shadow rules -Oa1 at http://127.0.0.1:9000 (demo), counted since 2026-01-31T23:59:59.999Z
    ///     judged 120: 117 agreed, 1 newly allowed, 2 newly refused
    ///
    ///     newly refused: set, 2 times
    ///       in force  write /rooms/$room (3:17): auth != null
    ///       shadow    nothing grants it
    ///         2026-01-31T23:59:59.999Z  /rooms/a  ann
    func text(at place: String) -> String {
        let since = ISO8601.text(of: count("since"))
        var lines = [
            "shadow rules \(candidate ?? "-") at \(place), counted since \(since)",
            "judged \(count("judged")): \(count("agreed")) agreed, \(count("newlyAllowed")) newly allowed, "
                + "\(count("newlyRefused")) newly refused",
        ]
        report["differences"].visitChildren { _, difference in
            lines.append("")
            lines += Self.lines(of: difference)
            return true
        }
        if count("unlisted") > 0 {
            lines += ["", "in further ways differ: \(count("unlisted"))"]
        }
        return lines.joined(separator: "\n")
    }

    private static func lines(of difference: Node) -> [String] {
        let verdict =
            difference["verdict"].string == "newlyAllowed" ? "newly allowed" : "newly refused"
        let count = difference["count"].integer ?? 0
        let operation = difference["operation"].string ?? "?"
        var lines = [
            "\(verdict): \(operation), \(count == 1 ? "once" : "\(count) times")",
            "  in force  \(rule(difference["live"]))",
            "  shadow    \(rule(difference["shadow"]))",
        ]
        difference["examples"].visitChildren { _, example in
            let time = ISO8601.text(of: example["time"].integer ?? 0)
            let uid = example["uid"].string ?? "(nobody)"
            lines.append("    \(time)  \(example["path"].string ?? "?")  \(uid)")
            return true
        }
        return lines
    }

    private static func rule(_ rule: Node) -> String {
        guard let kind = rule["kind"].string, let path = rule["path"].string else {
            return "nothing grants it"
        }
        let place = "\(rule["line"].integer ?? 0):\(rule["column"].integer ?? 0)"
        return "\(kind) \(path) (\(place)): \(rule["source"].string ?? "")"
    }
}
