package import DataCommands
package import Files
import JSONTree

/// `hearth rules history`: the versions of the rules of a database.
package enum RulesHistory {
    /// Lists the versions for people, the newest first.
    package static func list(_ database: RemoteDatabase) throws(CommandError) -> CommandOutcome {
        let rules = try PublishedRules(of: database)
        let inForce = rules.inForceText.map { "\n\($0)" } ?? ""
        guard !rules.versions.isEmpty else {
            return .done("\(database.place) never had rules of its own\(inForce)")
        }
        return .done(table(rules.versions) + inForce)
    }

    /// Prints the list as the server gives it.
    package static func copy(_ database: RemoteDatabase) throws(CommandError) {
        try database.copySetting(PublishedVersion.address, [], to: nil)
    }

    /// A line for each version, in columns.
    static func table(_ versions: [PublishedVersion]) -> String {
        let head = ["version", "time", "author", "bytes", ""]
        let rows = versions.map { version in
            [
                "\(version.number)",
                version.time.map { ISO8601.text(of: $0.milliseconds) } ?? "unknown",
                version.author ?? "unknown",
                version.isDetached ? "-" : "\(version.byteCount)",
                [version.isInForce ? "in force" : "", version.isDetached ? "detached" : ""]
                    .filter { !$0.isEmpty }.joined(separator: ", "),
            ]
        }
        let table = [head] + rows
        let widths = head.indices.map { column in
            table.map { $0[column].unicodeScalars.count }.max() ?? 0
        }
        let lines = table.map { row in
            let cells = zip(row, widths).enumerated().map { column, cell in
                let space = String(repeating: " ", count: cell.1 - cell.0.unicodeScalars.count)
                // Numbers stand at the right.
                return column == 0 || column == 3 ? space + cell.0 : cell.0 + space
            }
            return cells.joined(separator: "  ")
        }
        return lines.map { String($0.reversed().drop { $0 == " " }.reversed()) }
            .joined(separator: "\n")
    }
}
