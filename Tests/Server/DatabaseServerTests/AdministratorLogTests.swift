import Logging
import Testing

@testable import DatabaseServer

@Suite("what administrators do")
struct AdministratorLogTests {
    private static func deed(_ what: String) -> AdministratorLog.Deed {
        AdministratorLog.Deed(what: what, by: "admin", peer: "::1", database: "demo")
    }

    @Test(
        "is one line for requests that follow each other, with their sum, and another after a pause"
    )
    func series() {
        var log = AdministratorLog()
        let start = ContinuousClock.now
        for second in 0...10 {
            let now = start + .seconds(second)
            log.add(Self.deed("data written"), path: "/a\(second)", ["bytes": 5], at: now)
            #expect(log.takeEnded(at: now + .milliseconds(1_999)).isEmpty)
        }
        let ended = log.takeEnded(at: start + .seconds(12))
        #expect(ended.map(\.deed.what) == ["data written"])
        let all: Logger.Metadata = [
            "by": "admin", "peer": "::1", "database": "demo", "path": "/a0", "requests": "11",
            "bytes": "55",
        ]
        #expect(ended.first?.metadata == all)
        #expect(log.takeEnded(at: start + .seconds(100)).isEmpty)
    }

    @Test("has one line a minute where it does not end")
    func longSeries() {
        var log = AdministratorLog()
        let start = ContinuousClock.now
        var requests: [String] = []
        for second in 0..<130 {
            let now = start + .seconds(second)
            log.add(Self.deed("data written"), [:], at: now)
            requests += log.takeEnded(at: now).map { "\($0.metadata["requests"] ?? "1")" }
        }
        #expect(requests == ["61", "61"])
        #expect(log.takeEnded(at: start, isOver: true).count == 1)
    }

    @Test("has one line a minute for a connection, however long it pauses")
    func connection() {
        var log = AdministratorLog()
        let start = ContinuousClock.now
        var deed = Self.deed("data written")
        deed.door = "/.ws"
        var lines: [Logger.Metadata] = []
        for second in stride(from: 0, to: 140, by: 10) {
            let now = start + .seconds(second)
            log.add(deed, path: "/a", ["bytes": 3], at: now)
            lines += log.takeEnded(at: now + .seconds(9)).map(\.metadata)
        }
        let all: Logger.Metadata = [
            "by": "admin", "peer": "::1", "database": "demo", "door": "/.ws", "path": "/a",
            "requests": "7", "bytes": "21",
        ]
        #expect(lines == [all, all])
    }

    @Test("has a bounded number of series at a time, and tells the rest together")
    func manySeries() {
        var log = AdministratorLog()
        let now = ContinuousClock.now
        let limit = AdministratorLog.seriesLimit
        for round in 1...3 {
            for number in 0..<limit + 10 {
                var deed = Self.deed("data written")
                deed.database = "d\(number)"
                log.add(deed, path: "/a\(round)", ["bytes": 2], at: now)
            }
        }
        let lines = log.takeEnded(at: now, isOver: true).map(\.metadata)
        #expect(lines.count == limit + 1)
        #expect(lines.map { $0["database"] }.prefix(3) == ["d0", "d1", "d2"])
        #expect(lines.dropLast().allSatisfy { $0["bytes"] == "6" && $0["path"] == "/a1" })
        let rest: Logger.Metadata = [
            "by": "others", "peer": "-", "requests": "30", "bytes": "60",
        ]
        #expect(lines.last == rest)
        #expect(log.takeEnded(at: now, isOver: true).isEmpty)
    }
}
