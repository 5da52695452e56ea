import FileProtocol
import Testing

/// A head from its lines: `GET /v0/b/B/o`, then headers.
func head(_ text: String) throws -> FileRequestHead {
    let lines = text.split(separator: "\n").map { $0.drop { $0 == " " } }
    let words = try #require(lines.first).split(separator: " ", maxSplits: 1)
    return try FileRequestHead(
        method: String(words[0]),
        target: String(words[1]),
        headers: lines.dropFirst().map { line in
            let sides = line.split(separator: ":", maxSplits: 1)
            return (
                name: String(sides[0]),
                value: String(sides.count > 1 ? sides[1].drop { $0 == " " } : "")
            )
        }
    )
}

extension FileAnswer {
    /// The body as text.
    var text: String { String(decoding: body, as: UTF8.self) }
}
