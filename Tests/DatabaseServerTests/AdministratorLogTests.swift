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
            #expect(
                log.add(Self.deed("data written"), path: "/a\(second)", ["bytes": 5], at: now)
                    == nil
            )
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

    @Test("is told once a minute where it does not end")
    func longSeries() {
        var log = AdministratorLog()
        let start = ContinuousClock.now
        var requests: [String] = []
        for second in 0..<130 {
            let now = start + .seconds(second)
            _ = log.add(Self.deed("data written"), [:], at: now)
            requests += log.takeEnded(at: now).map { "\($0.metadata["requests"] ?? "1")" }
        }
        #expect(requests == ["61", "61"])
        #expect(log.takeEnded(at: start, isOver: true).count == 1)
    }

    @Test("has a bounded number of series at a time, and the oldest gives way")
    func manySeries() {
        var log = AdministratorLog()
        let now = ContinuousClock.now
        let names = (0..<AdministratorLog.seriesLimit).map { "deed \($0)" }
        for name in names { #expect(log.add(Self.deed(name), [:], at: now) == nil) }
        #expect(log.add(Self.deed(names[1]), [:], at: now) == nil)
        #expect(log.add(Self.deed("one more"), [:], at: now)?.deed.what == "deed 0")
        #expect(
            log.takeEnded(at: now, isOver: true).map(\.deed.what) == names.dropFirst() + [
                "one more"
            ]
        )
    }
}
