import EventProtocol
import Foundation
import JSONTree
import TestSupport
import Testing

@Suite("docs/reference/EVENTS.md")
struct PageTests {
    private static func page() throws -> String {
        try String(contentsOfFile: "\(Checkout.path)/docs/reference/EVENTS.md", encoding: .utf8)
    }

    @Test("has a row for every error", arguments: EventErrorCode.allCases)
    func errors(code: EventErrorCode) throws {
        let rows = try Self.page().split(separator: "\n").filter {
            $0.hasPrefix("| `\(code.rawValue)` |")
        }
        #expect(rows.count == 1)
    }

    @Test("has a row for every event", arguments: EventSet.names.map(\.name))
    func events(name: String) throws {
        #expect(try Self.page().contains("| `\(name)` |"))
    }

    @Test("names the limits that this module sets")
    func limits() throws {
        let page = try Self.page()
        for text in ["65,536 bytes; \(EventLimits.queryLimit)", "1 to \(EventLimits.queryLimit)"] {
            #expect(page.contains(text))
        }
        #expect(EventLimits.queryByteCount == 65_536)
        #expect(page.contains("| keys down from the root | \(Limits.depth) |"))
    }

    @Test("shows every transcript line as JSON that is read or refused")
    func transcripts() throws {
        let lines = try Self.page().split(separator: "\n").filter { $0.hasPrefix("C {") }
        #expect(lines.count >= 25)
        for line in lines { #expect(!words(Array(line.dropFirst(2).utf8)).hasPrefix("closes")) }
    }
}
