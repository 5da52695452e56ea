import Foundation
import Testing

@testable import HearthStorage

@Suite("the steps of an upload")
struct UploadStateTests {
    private static let unit: Int64 = 256 * 1024

    private func answer(
        _ status: Int = 200,
        _ state: String? = "active",
        received: Int64? = nil,
        body: String = "",
    ) -> StorageAnswer {
        var headers: [String: String] = [:]
        headers["x-goog-upload-status"] = state
        headers["x-goog-upload-size-received"] = received.map { "\($0)" }
        return StorageAnswer(status: status, headers: headers, body: Data(body.utf8))
    }

    private func begun(_ byteCount: Int64, granularity: Int64 = 262_144) -> UploadState {
        var state = UploadState(byteCount: byteCount)
        #expect(state.step == .start)
        var begun = answer()
        begun.headers["x-goog-upload-url"] = "http://h/v0/b/B/o?upload_id=7"
        begun.headers["x-goog-upload-chunk-granularity"] = "\(granularity)"
        #expect(state.take(begun) == .atOnce)
        #expect(state.session == "/v0/b/B/o?upload_id=7")
        return state
    }

    @Test("a small one is one request", arguments: [0, 1, 262_144] as [Int64])
    func small(byteCount: Int64) {
        var state = UploadState(byteCount: byteCount)
        #expect(state.step == .whole)
        #expect(state.take(answer(503, nil)) == .later)
        #expect(state.step == .whole)
        state.lose()
        #expect(state.step == .whole)
        let end = answer(200, nil, body: "{}")
        #expect(state.take(end) == .atOnce)
        #expect(state.step == .done(end))
        #expect(state.isEnded)
    }

    @Test("chunks double up to the largest, and the last one ends it")
    func doubling() {
        let total = 3 * StorageLimits.chunkByteCount + 5
        var state = begun(total)
        var sizes: [Int64] = []
        while case .chunk(let range, let isLast) = state.step {
            #expect(range.lowerBound == state.offset)
            sizes.append(Int64(range.count))
            let end = answer(
                200,
                isLast ? "final" : "active",
                received: range.upperBound,
                body: isLast ? "{}" : ""
            )
            #expect(state.take(end) == .atOnce)
        }
        #expect(state.isEnded)
        #expect(sizes.reduce(0, +) == total)
        #expect(Array(sizes.prefix(4)) == [1, 2, 4, 8].map { $0 * Self.unit })
        #expect(sizes.max() == StorageLimits.chunkByteCount)
        #expect(sizes.dropLast().allSatisfy { $0 % Self.unit == 0 })
    }

    @Test("a lost answer is asked for, and chunks begin anew in small")
    func cut() {
        var state = begun(100 * Self.unit)
        _ = state.take(answer(received: Self.unit))
        #expect(state.step == .chunk(Self.unit..<3 * Self.unit, isLast: false))
        state.lose()
        #expect(state.step == .query)
        // More than was acknowledged, less than was sent.
        #expect(state.take(answer(received: 2 * Self.unit)) == .atOnce)
        #expect(state.step == .chunk(2 * Self.unit..<3 * Self.unit, isLast: false))
        for status in [408, 429, 500, 503] {
            #expect(state.take(answer(status, nil)) == .later)
            #expect(state.step == .query)
            #expect(state.take(answer(503, nil)) == .later)
            #expect(state.step == .query)
            _ = state.take(answer(received: 2 * Self.unit))
        }
    }

    @Test("a server that has lost bytes gets them again")
    func lostBytes() {
        var state = begun(10 * Self.unit)
        _ = state.take(answer(received: Self.unit))
        state.lose()
        _ = state.take(answer(received: 0))
        #expect(state.step == .chunk(0..<Self.unit, isLast: false))
    }

    @Test("a chunk behind an odd offset ends at a whole unit")
    func oddOffsets() {
        var state = begun(10 * Self.unit)
        state.lose()
        _ = state.take(answer(received: 1000))
        #expect(state.step == .chunk(1000..<Self.unit, isLast: false))
        state = begun(1_000_000, granularity: 10_000)
        #expect(state.step == .chunk(0..<260_000, isLast: false))
        state = begun(10 * Self.unit, granularity: 4 * Self.unit)
        #expect(state.step == .chunk(0..<4 * Self.unit, isLast: false))
    }

    @Test("a final answer ends it, at a query too")
    func final() {
        let good = answer(200, "final", body: "{\"name\":\"a\"}")
        var state = begun(2 * Self.unit)
        state.lose()
        #expect(state.take(good) == .atOnce)
        #expect(state.step == .done(good))
        // Without metadata they are read.
        state = begun(2 * Self.unit)
        state.lose()
        _ = state.take(answer(200, "final"))
        #expect(state.step == .metadata)
        #expect(state.take(answer(503, nil)) == .later)
        let metadata = answer(200, nil, body: "{}")
        _ = state.take(metadata)
        #expect(state.step == .done(metadata))
    }

    @Test("a final refusal is never sent again", arguments: [400, 403, 503])
    func denied(status: Int) {
        let denied = answer(status, "final", body: "Permission denied. No WRITE permission.")
        var state = begun(2 * Self.unit)
        #expect(state.take(denied) == .atOnce)
        #expect(state.step == .refused(denied))
        state.lose()
        #expect(state.step == .refused(denied))
        #expect(state.take(answer()) == .atOnce)
        #expect(state.step == .refused(denied))
    }

    @Test("a refusal of an active one is about the offset: it is asked for, and not for ever")
    func offsets() {
        var state = begun(4 * Self.unit)
        var count = 0
        while !state.isEnded, count < 100 {
            count += 1
            if state.step == .query {
                _ = state.take(answer(received: 0))
            } else {
                _ = state.take(answer(400))
                #expect(state.step == .query || state.isEnded)
            }
        }
        guard case .broken = state.step else {
            Issue.record("it goes on after \(count) steps")
            return
        }
    }

    @Test("a server that takes nothing is given up")
    func stalled() {
        var state = begun(4 * Self.unit)
        var count = 0
        while !state.isEnded, count < 100 {
            count += 1
            #expect(state.take(answer(received: 0)) == (state.isEnded ? .atOnce : .later))
        }
        #expect(count == StorageLimits.stallCount)
    }

    @Test("all bytes without an end are ended by an empty chunk")
    func unfinished() {
        var state = begun(2 * Self.unit)
        state.lose()
        _ = state.take(answer(received: 2 * Self.unit))
        #expect(state.step == .chunk(2 * Self.unit..<2 * Self.unit, isLast: true))
    }

    @Test("a session that is gone is replaced once")
    func gone() {
        var state = begun(4 * Self.unit)
        _ = state.take(answer(received: Self.unit))
        #expect(state.take(answer(404, nil)) == .atOnce)
        #expect(state.step == .start)
        #expect(state.session == nil)
        var second = answer()
        second.headers["x-goog-upload-url"] = "http://h/v0/b/B/o?upload_id=8"
        _ = state.take(second)
        #expect(state.step == .chunk(0..<Self.unit, isLast: false))
        _ = state.take(answer(404, nil))
        #expect(state.step == .refused(answer(404, nil)))
    }

    @Test("answers that make no sense end it")
    func nonsense() {
        var state = UploadState(byteCount: 2 * Self.unit)
        _ = state.take(answer())
        #expect(state.step == .broken("the server began an upload and gave no address for it"))
        for wrong in [
            answer(received: 3 * Self.unit), answer(200, "cancelled", received: 0),
        ] {
            state = begun(2 * Self.unit)
            _ = state.take(wrong)
            #expect(state.isEnded)
        }
        // A query needs a number; a chunk was taken whole without one.
        state = begun(8 * Self.unit)
        _ = state.take(answer())
        #expect(state.offset == Self.unit)
        state.lose()
        _ = state.take(answer())
        #expect(state.isEnded)
        for status in [400, 401, 403, 413] {
            state = begun(2 * Self.unit)
            _ = state.take(answer(status, nil))
            #expect(state.step == .refused(answer(status, nil)))
        }
    }
}

@Suite("the attempts of a download")
struct DownloadStateTests {
    private func answer(_ status: Int, _ headers: [String: String]) -> StorageAnswer {
        StorageAnswer(status: status, headers: headers)
    }

    @Test("go on, or begin anew, as the server says")
    func placements() {
        var state = DownloadState()
        #expect(state.begin(answer(200, ["content-length": "10", "etag": "\"a\""])) == .restart)
        state.add(4)
        #expect(!state.isWhole)
        #expect(state.begin(answer(206, ["content-range": "bytes 4-9/10"])) == .append)
        state.add(6)
        #expect(state.isWhole)
        #expect(state.byteCount == 10)
        // The object is another one now.
        #expect(state.begin(answer(200, ["content-length": "3", "etag": "\"b\""])) == .restart)
        #expect(state.byteCount == 0)
        #expect(state.totalByteCount == 3)
    }

    @Test(
        "take no other bytes than were asked for",
        arguments: ["bytes 3-9/10", "bytes 0-9/10", "x"]
    )
    func others(range: String) {
        var state = DownloadState()
        _ = state.begin(answer(200, ["content-length": "10", "etag": "\"a\""]))
        state.add(4)
        #expect(state.begin(answer(206, ["content-range": range])) == .unusable)
        var fresh = DownloadState()
        #expect(fresh.begin(answer(206, ["content-range": "bytes 0-9/10"])) == .unusable)
    }
}

@Suite("waits between attempts")
struct RetryTests {
    @Test("double, are spread, and end")
    func delays() {
        var budget = RetryBudget(.seconds(100))
        var (now, delays): (Duration, [Duration]) = (.seconds(5), [])
        while let delay = budget.delay(now: now, spread: 1) {
            delays.append(delay)
            now += delay
        }
        #expect(delays == [1, 2, 4, 8, 16, 32].map { .seconds($0) })
        budget.succeed()
        #expect(budget.delay(now: now, spread: 0) == .milliseconds(750))
        var long = RetryBudget(.seconds(100_000))
        let last = (0..<20).compactMap { _ in long.delay(now: .zero, spread: 1) }.last
        #expect(last == .seconds(64))
        var none = RetryBudget(.zero)
        #expect(none.delay(now: .zero, spread: 0) == nil)
    }
}
