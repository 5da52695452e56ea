import BlobStore
import LoopSupport
import Testing
import Transport

@testable import DatabaseServer

@Suite("files in turn")
struct FileLineTests {
    @LoopActor
    private final class Begun {
        var events: [(number: Int, tick: Int)] = []

        nonisolated init() {}
    }

    @Test("a few requests are begun in a tick, all in the order in which they came")
    func line() {
        let line = FileLine()
        let begun = Begun()
        let isOver = Semaphore()
        onLoop {
            for number in 0..<100 {
                line.append {
                    begun.events.append((number, EventLoop.shared.counters.tickCount))
                    // One that comes while others wait is behind them.
                    if number == 50 {
                        line.append { isOver.signal() }
                    }
                }
            }
            let count = begun.events.count
            #expect(count == FileLine.limit)
        }
        #expect(isOver.wait())
        let events = onLoop { begun.events }
        #expect(onLoop { line.count } == 0)
        #expect(events.map(\.number) == Array(0..<100))
        let counts = Dictionary(grouping: events, by: \.tick).mapValues(\.count)
        #expect(counts.values.max() == FileLine.limit)
    }

    /// A blob that says when it is closed.
    private final class Reader: BlobReader {
        let byteCount: Int64 = 0
        private let closed: @Sendable () -> Void

        init(_ closed: @escaping @Sendable () -> Void) { self.closed = closed }
        deinit { closed() }

        func read(at offset: Int64, count: Int) throws(BlobError) -> [UInt8] { [] }
        func close() {}
    }

    private static func hash(_ number: Int) throws -> BlobHash {
        let digits = String(number, radix: 16)
        let text = String(repeating: "0", count: 64 - digits.count) + digits
        return try #require(BlobHash(hex: text))
    }

    @Test("blobs stay open for five seconds, a bounded number, the newest")
    func openBlobs() throws {
        let worker = Worker(jobLimit: 1_000)
        defer { worker.stop() }
        let closed = Semaphore()
        var open = OpenBlobs()
        func keep(_ number: Int, at time: UInt64) throws {
            let blob = OpenBlob(try Self.hash(number), Reader { closed.signal() }, worker)
            open.keep(blob, now: time)
        }
        try keep(0, at: 0)
        let first = try #require(open.blob(Self.hash(0)))
        // Another download has opened it too: that one's closes.
        try keep(0, at: 1)
        #expect(closed.wait())
        #expect(open.blob(try Self.hash(0)) === first)
        #expect(open.count == 1)
        for number in 1...OpenBlobs.limit { try keep(number, at: UInt64(number)) }
        #expect(open.count == OpenBlobs.limit)
        #expect(open.blob(try Self.hash(0)) == nil)
        #expect(open.blob(try Self.hash(1)) != nil)
        open.removeOld(now: OpenBlobs.lifetime)
        #expect(open.count == OpenBlobs.limit)
        open.removeOld(now: OpenBlobs.lifetime + 1)
        #expect(open.blob(try Self.hash(1)) == nil)
        #expect(open.blob(try Self.hash(2)) != nil)
        #expect(closed.wait())
        let second = try #require(open.blob(try Self.hash(2)))
        open.forget(second)
        #expect(open.blob(try Self.hash(2)) == nil)
        open.removeOld(now: .max)
        #expect(open.count == 0)
        // One is read on while it is not kept any more.
        #expect(first.reader.byteCount == 0)
    }
}
