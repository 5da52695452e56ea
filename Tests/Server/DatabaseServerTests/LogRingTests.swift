import JSONTree
import Logging
import Testing

@testable import DatabaseServer

@Suite("the kept lines of the log")
struct LogRingTests {
    @Test("are 10,000 at most, and 8 MiB")
    func limits() {
        #expect(LogRing.countLimit == 10_000)
        #expect(LogRing.byteLimit == 8 * 1024 * 1024)
    }

    @Test("are the newest ones, by number", arguments: [0, 1, 3, 4, 10])
    func newest(count: Int) {
        let ring = LogRing(countLimit: 3)
        for number in 0..<count { ring.add(at: Int64(number), .info, "line \(number)", [:]) }
        let (lines, last) = ring.lines(after: 0)
        #expect(last == UInt64(count))
        #expect(lines.map(\.message) == (0..<count).suffix(3).map { "line \($0)" })
        for after in 0...UInt64(count + 1) {
            let later = ring.lines(after: after).lines.map(\.number)
            #expect(later == lines.map(\.number).filter { $0 > after })
        }
    }

    @Test("take no more bytes than they may, and the newest stays")
    func bytes() {
        let ring = LogRing(byteLimit: 50_000)
        for number in 0..<100 {
            let text = String(repeating: "x", count: number * 100)
            ring.add(at: 0, .info, text, ["field": "\(text)"])
            #expect(ring.byteCount <= 50_000)
        }
        #expect(ring.lines(after: 0).lines.last?.number == 100)
    }

    @Test("cut a text that is too long")
    func cut() {
        let ring = LogRing()
        ring.add(at: 0, .info, String(repeating: "x", count: 1_000_000), ["f": "y"])
        #expect(ring.lines(after: 0).lines[0].message.utf8.count == KeptLine.textByteCount + 3)
    }

    @Test(
        "are found by level, text and database",
        arguments: [
            ("", [1, 2, 3]), ("level=warning", [2, 3]), ("text=DISK", [2]), ("text=ann", [3]),
            ("database=main", [1]), ("level=warning&text=disk&database=main", []),
            ("after=2", [3]), ("limit=2", [2, 3]), ("level=&text=", [1, 2, 3]),
        ] as [(String, [UInt64])]
    )
    func filters(query: String, numbers: [UInt64]) throws {
        let ring = LogRing()
        ring.add(at: 0, .info, "rules read", ["database": "main"])
        ring.add(at: 1, .warning, "the disk is full", [:])
        ring.add(at: 2, .error, "refused", ["uid": "Ann", "database": "other"])
        let pairs = query.split(separator: "&").map { part in
            let (name, value) = (part.prefix { $0 != "=" }, part.drop { $0 != "=" }.dropFirst())
            return (name: String(name), value: String(value))
        }
        let text = String(decoding: try LogFilter(pairs).answer(ring).text, as: UTF8.self)
        let found = text.split(separator: "\"number\":").dropFirst().map { $0.prefix { $0 != "," } }
        #expect(found.map { UInt64($0) } == numbers)
        #expect(text.hasSuffix(#""last":3}"#))
    }
}
