import FileProtocol
import FileRecords
import Foundation
import JSONTree
import Testing

/// Reads a table of cases that lies beside the tests.
func spec<Case: Decodable>(_ name: String, of type: Case.Type = Case.self) -> [Case] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    do {
        let data = try Data(contentsOf: folder.appending(path: "Specs/\(name).json"))
        return try JSONDecoder().decode([Case].self, from: data)
    } catch {
        preconditionFailure("Specs/\(name).json is a table of cases: \(error)")
    }
}

extension FileRecord {
    /// A record of `hello` for tests.
    static func sample(
        _ name: String = "p/a.txt",
        bucket: String = "demo.appspot.com",
        blob: Character = "a",
        byteCount: Int64 = 5,
        uid: String? = nil,
        fields: FileFields = FileFields(),
        tokens: [String] = []
    ) throws -> FileRecord {
        FileRecord(
            bucket: try BucketName(bucket),
            name: try ObjectName(name),
            content: FileContent(
                blob: String(repeating: blob, count: 64),
                byteCount: byteCount,
                md5: Base64.decode("XUFAKrxLKna5cZ2REBfFkg=="),
                crc32c: 2_591_144_780
            ),
            generation: 1_790_789_164_648_913,
            now: Timestamp(milliseconds: 1_790_789_164_648),
            fields: fields,
            tokens: tokens,
            uid: uid
        )
    }
}

extension Timestamp {
    /// Some time after that of the sample.
    static let later = Timestamp(milliseconds: 1_790_789_200_000)
}

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
