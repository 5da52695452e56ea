import Logging
import Testing

@testable import DatabaseServer

@Suite("a log line")
struct LogLineTests {
    private let time: Int64 = 1_769_903_999_042

    @Test("for people has time, level, message and sorted fields")
    func text() {
        let line = LogLine(.text).text(
            time: time,
            level: .warning,
            message: "slow reader closed",
            metadata: [
                "connection": "7", "bytes": "8388609", "why": "a b", "empty": "", "q": "x\"y\\",
            ]
        )
        #expect(
            line
                == #"2026-01-31T23:59:59.042Z warning slow reader closed bytes=8388609 connection=7 "#
                + #"empty="" q="x\"y\\" why="a b""# + "\n"
        )
    }

    @Test("for machines is one JSON object")
    func json() {
        let line = LogLine(.json).text(
            time: time,
            level: .info,
            message: "say \"hi\"\n",
            metadata: ["b": "2", "a": "\u{1}\u{7f}\\"]
        )
        #expect(
            line == #"{"time":"2026-01-31T23:59:59.042Z","level":"info","message":"say \"hi\"\n","#
                + #""metadata":{"a":"\u0001\u007f\\","b":"2"}}"# + "\n"
        )
        let bare = LogLine(.json).text(time: time, level: .info, message: "m", metadata: [:])
        #expect(bare == #"{"time":"2026-01-31T23:59:59.042Z","level":"info","message":"m"}"# + "\n")
    }

    @Test("escapes a quote that has a mark on it")
    func markedQuote() {
        let line = LogLine(.text).text(
            time: time,
            level: .info,
            message: "m",
            metadata: ["u": "\"\u{301}"]
        )
        #expect(Array(line.utf8).suffix(8) == Array("u=\"\\\"\u{301}\"\n".utf8).suffix(8))
    }

    @Test("is one line whatever stands in the event", arguments: Configuration.LogFormat.allCases)
    func oneLine(format: Configuration.LogFormat) {
        let hostile = "a\r\nb\u{1b}[31mc\u{85}\u{2028}\u{2029}\u{0}\t\u{9b}é"
        let line = LogLine(format).text(
            time: 0,
            level: .error,
            message: hostile,
            metadata: ["k\n": "\(hostile)"]
        )
        #expect(line.hasSuffix("\n"))
        let inner = line.dropLast().unicodeScalars
        #expect(
            inner.allSatisfy {
                $0.value >= 32 && !(0x7F...0x9F).contains($0.value) && $0.value != 0x2028
            }
        )
        #expect(inner.contains("é"))
    }
}
