import DatabaseCore
import JSONTree
import Logging
import SecurityRules

/// Which refusals get a line in the log: so many a second, and then how many more there were.
struct RefusalLog {
    static let linesPerSecond = 10

    /// Scalars of a path or uid in a line.
    static let shownScalarCount = 200

    private var second: Int64 = 0
    private var lineCount = 0
    private var suppressedCount = 0

    /// Whether a refusal at this time, in milliseconds, gets a line.
    mutating func admits(at time: Int64) -> Bool {
        if time / 1000 != second {
            second = time / 1000
            lineCount = 0
        }
        if lineCount < Self.linesPerSecond {
            lineCount += 1
            return true
        }
        suppressedCount += 1
        return false
    }

    /// How many got no line since it was last asked.
    mutating func takeSuppressed() -> Int {
        defer { suppressedCount = 0 }
        return suppressedCount
    }

    /// What a line says beside its message. No values: data does not belong into logs.
    static func metadata(_ record: DecisionRecord, of database: DatabaseID) -> Logger.Metadata {
        let path = (record.deniedTarget ?? record.target).description
        var metadata: Logger.Metadata = [
            "database": "\(database)", "path": "\(shown(path))",
            "protocol": "\(record.channel.rawValue)", "rule": "\(record.rule)",
        ]
        if let over = record.decision.overLimit {
            metadata["rule"] = "\(DecisionRecord.name(over))"
            if case .error(let error) = over.result { metadata["error"] = "\(error.message)" }
        }
        if let uid = record.uid { metadata["uid"] = "\(shown(uid))" }
        return metadata
    }

    /// A path or uid, cut at `shownScalarCount`.
    static func shown(_ text: String) -> String {
        let scalars = text.unicodeScalars
        if scalars.count <= shownScalarCount { return text }
        return String(String.UnicodeScalarView(scalars.prefix(shownScalarCount))) + "..."
    }
}
