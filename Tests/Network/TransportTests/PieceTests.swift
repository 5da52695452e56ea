import TestSupport
import LoopSupport
import Testing

@testable import Transport

@Suite("The pieces, without a socket")
struct PieceTests {
    @Test(
        "UTF-8 is checked as the standard library does, however it is cut",
        arguments: TestSeed.seeds(300)
    )
    func validator(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let samples: [[UInt8]] = [
            Array("plain text, long enough for words".utf8), Array("\u{e9}\u{20ac}\u{1f600}".utf8),
            [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe0, 0x9f, 0xbf], [0xf5],
            [0xf0, 0x8f, 0xbf, 0xbf], [0x80], [0xe2, 0x82], [0xf4, 0x8f, 0xbf, 0xbf],
            [0xef, 0xbf, 0xbf],
        ]
        var bytes: [UInt8] = []
        for _ in 0..<4 {
            let isGood = Int.random(in: 0..<3, using: &random) > 0
            bytes +=
                samples[
                    isGood
                        ? Int.random(in: 0...1, using: &random)
                        : Int.random(in: 0..<samples.count, using: &random)
                ]
        }
        var validator = UTF8Validator()
        var isValid = true
        var start = 0
        while start < bytes.count, isValid {
            let end = min(bytes.count, start + Int.random(in: 1...12, using: &random))
            isValid = Array(bytes[start..<end]).withUnsafeBufferPointer { validator.accept($0) }
            start = end
        }
        let expected = String(validating: bytes, as: UTF8.self) != nil
        #expect((isValid && validator.isAtBoundary) == expected, "seed \(seed)")
    }

    @Test(
        "an output queue gives back every byte in order, whatever the socket takes",
        arguments: TestSeed.seeds(200)
    )
    func outputQueue(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let scratch = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 64)
        defer { scratch.deallocate() }
        var queue = OutputQueue()
        var expected: [UInt8] = []
        var given: [UInt8] = []
        var lastOffer = 0
        for _ in 0..<400 {
            if Bool.random(using: &random) {
                let bytes = (0..<Int.random(in: 0...100, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                queue.append(bytes)
                expected += bytes
            }
            #expect(queue.byteCount == expected.count - given.count)
            let offered: [UInt8]
            switch queue.next(joiningInto: scratch) {
            case .nothing: offered = []
            case .slice(let bytes, let offset, let count):
                offered = Array(bytes[offset..<offset + count])
            case .joined(let count): offered = Array(scratch[..<count])
            case .source: offered = []
            }
            // TLS: a repeated offer is never shorter than the rest of the last one.
            #expect(offered.count >= lastOffer, "seed \(seed)")
            let taken = Int.random(in: 0...offered.count, using: &random)
            given += offered[..<taken]
            queue.advance(taken)
            lastOffer = offered.count - taken
        }
        #expect(given.elementsEqual(expected.prefix(given.count)), "seed \(seed)")
    }

    @Test("a source that waits counts a little, the one being sent nothing")
    func waitingSources() {
        let one = OutputQueue.sourceByteCount
        let counts = onLoop {
            var queue = OutputQueue()
            var counts: [Int] = []
            for _ in 0..<3 { queue.appendSource(OutputSource { .wait }) }
            counts.append(queue.waitingByteCount)
            queue.prepend([1, 2, 3])
            counts.append(queue.waitingByteCount)
            queue.advance(3)
            for _ in 0..<3 {
                queue.removeSource()
                counts.append(queue.waitingByteCount)
            }
            return counts
        }
        #expect(counts == [2 * one, 2 * one, one, 0, 0])
    }

    @Test("what waits behind the first item is what counts")
    func waiting() {
        let scratch = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 64)
        defer { scratch.deallocate() }
        var queue = OutputQueue()
        #expect(queue.waitingByteCount == 0)
        queue.append([UInt8](repeating: 0, count: 1000))
        #expect(queue.waitingByteCount == 0)
        queue.append([UInt8](repeating: 0, count: 30))
        queue.append([UInt8](repeating: 0, count: 12))
        #expect(queue.waitingByteCount == 42)
        queue.advance(999)
        #expect(queue.waitingByteCount == 42)
        queue.advance(2)
        #expect(queue.waitingByteCount == 12)
        queue.advance(41)
        #expect(queue.isEmpty && queue.byteCount == 0)
    }

    @Test("a chunked body decodes the same however it is cut", arguments: 1...40)
    func chunkCuts(pieceByteCount: Int) throws {
        let text = "a\r\n0123456789\r\n1\r\n!\r\n00\r\nT: v\r\nU: w\r\n\r\nNEXT"
        let bytes = Array(text.utf8)
        var decoder = ChunkedBodyDecoder()
        var body: [UInt8] = []
        var consumed = 0
        while consumed < bytes.count, !decoder.isDone {
            let piece = Array(bytes[consumed..<min(consumed + pieceByteCount, bytes.count)])
            consumed += try piece.withUnsafeBufferPointer {
                try decoder.decode($0, into: &body, limit: 11)
            }
        }
        #expect(String(decoding: body, as: UTF8.self) == "0123456789!")
        #expect(String(decoding: bytes[consumed...], as: UTF8.self) == "NEXT")
    }

    @Test(
        "dates are those of the calendar",
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_709_251_200, "Fri, 01 Mar 2024 00:00:00 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
        ]
    )
    func dates(seconds: Int, text: String) {
        #expect(HTTPDate.text(seconds) == text)
    }

    @Test(
        "the frame header has the shortest length",
        arguments: [(1, 2), (125, 2), (126, 4), (65535, 4), (65536, 10)]
    )
    func frameHeader(payload: Int, header: Int) {
        #expect(
            SharedFrame(text: [UInt8](repeating: 0x61, count: payload)).byteCount == payload
                + header
        )
    }

    @Test("a close reason is cut between characters to fit a control frame")
    func closeReason() {
        let frame = SharedFrame.close(code: 1000, reason: String(repeating: "\u{20ac}", count: 100))
        #expect(frame[1] == 125 && frame.count == 127)
        #expect(String(validating: frame[4...], as: UTF8.self)?.count == 41)
    }

    @Test("a timer queue rings in order under random changes", arguments: TestSeed.seeds(50))
    func timerQueue(seed: UInt64) {
        let isInOrder = onLoop { () -> Bool in
            var random = SeededGenerator(seed: seed)
            var queue = TimerQueue()
            let items = (0..<40).map { _ in TimedCall(period: nil) {} }
            var times: [Int: UInt64] = [:]
            for _ in 0..<300 {
                let index = Int.random(in: 0..<40, using: &random)
                if Int.random(in: 0..<4, using: &random) == 0 {
                    queue.remove(items[index])
                    times[index] = nil
                } else {
                    let time = UInt64.random(in: 0..<1000, using: &random)
                    queue.schedule(items[index], at: time)
                    times[index] = time
                }
            }
            var rung: [UInt64] = []
            while let time = queue.earliestDueTime, queue.popDue(now: 2000) != nil {
                rung.append(time)
            }
            return rung == times.values.sorted()
        }
        #expect(isInOrder, "seed \(seed)")
    }
}
