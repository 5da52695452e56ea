import JSONTree
import Logging

/// One log event as one line of text.
///
/// Text for people, `2026-01-31T23:59:59.999Z warning slow reader closed bytes=8388609 connection=7`; JSON for
/// machines, one object with `time`, `level`, `message`, `metadata`. No control character passes: an event
/// can never look like two, nor steer a terminal.
struct LogLine: Sendable {
    private let format: Configuration.LogFormat

    init(_ format: Configuration.LogFormat) {
        self.format = format
    }

    /// The line with its newline; `time` is in milliseconds since 1970, metadata comes in the order of its keys.
    func text(
        time: Int64,
        level: Logger.Level,
        message: String,
        metadata: Logger.Metadata,
    ) -> String {
        let pairs = metadata.map { ($0.key, $0.value.description) }.sorted { $0.0 < $1.0 }
        switch format {
        case .text:
            let fields = pairs.map { " \(Self.plain($0.0))=\(Self.quotedIfNeeded($0.1))" }
            return "\(ISO8601.text(of: time)) \(level.rawValue) \(Self.plain(message))"
                + fields.joined() + "\n"
        case .json:
            let fields = pairs.map { "\(Self.json($0.0)):\(Self.json($0.1))" }
            let metadata = fields.isEmpty ? "" : ",\"metadata\":{\(fields.joined(separator: ","))}"
            return "{\"time\":\"\(ISO8601.text(of: time))\",\"level\":\"\(level.rawValue)\","
                + "\"message\":\(Self.json(message))\(metadata)}\n"
        }
    }

    /// The text with `\n`, `\u{1b}` and the like for control characters.
    private static func plain(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        return escaped(text, quotes: false) { "\\u{\($0)}" }
    }

    /// Has `code` write a control character without a short escape, by its number in hexadecimal.
    private static func escaped(
        _ text: String,
        quotes: Bool,
        _ code: (String) -> String
    ) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"" where quotes: "\\\""
            case "\\" where quotes: "\\\\"
            case "\n": "\\n"
            case "\r": "\\r"
            case "\t": "\\t"
            case _ where isControl(scalar): code(String(scalar.value, radix: 16))
            default: String(scalar)
            }
        }.joined()
    }

    private static func quotedIfNeeded(_ text: String) -> String {
        // By bytes: a mark may stand on a quote, and they are one character then.
        let isBare = !text.isEmpty && !text.utf8.contains { " \"=\\".utf8.contains($0) }
        guard !isBare else { return plain(text) }
        return "\"" + escaped(text, quotes: true) { "\\u{\($0)}" } + "\""
    }

    private static func json(_ text: String) -> String {
        let escaped = escaped(text, quotes: true) {
            "\\u" + String(repeating: "0", count: 4 - $0.count) + $0
        }
        return "\"\(escaped)\""
    }

    /// C0, delete, C1, and the line and paragraph separators.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || scalar.value == 0x2028
            || scalar.value == 0x2029
    }
}
