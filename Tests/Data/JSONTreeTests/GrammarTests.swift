import JSONTree
import TestSupport
import Testing

/// A text of RFC 8259 and RFC 3629, and its value; nil when it is none.
struct GrammarCase: Decodable, Sendable, CustomTestStringConvertible {
    let what: String
    /// Each character stands for a byte; a tilde for `fill`, `count` times, if there is one.
    let bytes: String
    let fill: String?
    let count: Int?
    /// JSON in its simplest form.
    let `is`: String?

    var testDescription: String { what }

    var text: [UInt8] {
        bytes.unicodeScalars.flatMap { scalar -> [UInt8] in
            guard let fill, let count, scalar == "~" else { return [UInt8(scalar.value)] }
            return Array(String(repeating: fill, count: count).utf8)
        }
    }
}

/// `test_json_table.py` sends the same rows through the doors of the server.
@Suite("what is JSON and what is not")
struct GrammarTests {
    private static let cases: [GrammarCase] = spec("grammar")

    @Test("the table has each form once")
    func table() {
        #expect(Set(Self.cases.map(\.what)).count == Self.cases.count)
        #expect(Set(Self.cases.map(\.text)).count == Self.cases.count)
    }

    @Test(
        "a text read whole, skipped, or cut at any byte is its value, or is refused",
        arguments: cases
    )
    func everyDoor(row: GrammarCase) throws {
        let text = row.text
        let value = try row.is.map { try Node(json: $0) }
        #expect(Self.node { () throws(JSONError) in try Draft(json: text).node } == value)
        let isSkipped = Self.node { () throws(JSONError) in
            try text.withBytes { bytes throws(JSONError) in
                var scanner = JSONScanner(bytes)
                _ = try scanner.skipValue()
                try scanner.expectEnd()
            }
            return .absent
        }
        #expect((isSkipped != nil) == (value != nil), "skipped")
        for cut in 0...text.count {
            for window in [1, 5, 1_000] {
                let parts = [Array(text[..<cut]), Array(text[cut...])]
                let found = Self.node { () throws(JSONError) in try Self.assembled(parts, window) }
                #expect(found == value, "cut at \(cut), window \(window)")
            }
        }
        let bytewise = Self.node { () throws(JSONError) in try Self.assembled(text.map { [$0] }, 1)
        }
        #expect(bytewise == value, "byte by byte")
        for window in [1, 5, 1_000] {
            let isTaken = Self.node { () throws(JSONError) in
                var pieces = JSONPieces(byteCount: window)
                for byte in text {
                    pieces.append([byte])
                    while try pieces.next() != nil {}
                }
                pieces.end()
                while try pieces.next() != nil {}
                return .absent
            }
            #expect((isTaken != nil) == (value != nil), "in pieces of \(window)")
        }
    }

    private static func node(_ read: () throws(JSONError) -> Node) -> Node? {
        do throws(JSONError) { return try read() } catch { return nil }
    }

    private static func assembled(_ parts: [[UInt8]], _ window: Int) throws(JSONError) -> Node {
        var assembly = JSONAssembly(windowByteCount: window)
        for part in parts { try assembly.append(part) }
        return try assembly.finish().node
    }
}
