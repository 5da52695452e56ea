import BlobStore
import LoopSupport
import Synchronization
import TestSupport
import Testing
import Transport

@testable import DatabaseServer

@Suite("bytes of files on their way out")
struct BlobBodyTests {
    /// A blob of which the system has some bytes in memory.
    private final class Reader: BlobReader {
        struct State {
            /// Bytes from any offset on that are in memory.
            var cachedCount = 0
            var reads: [Range<Int64>] = []
            var fails = false
        }

        let bytes: [UInt8]
        let state = Mutex(State())
        var byteCount: Int64 { Int64(bytes.count) }

        init(_ byteCount: Int) {
            let block = (0..<65_003).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 8) }
            var bytes: [UInt8] = []
            while bytes.count < byteCount { bytes += block }
            self.bytes = Array(bytes[..<byteCount])
        }

        func read(at offset: Int64, count: Int) throws(BlobError) -> [UInt8] {
            let end = min(bytes.count, Int(offset) + count)
            let fails = state.withLock { state in
                state.reads.append(offset..<Int64(end))
                return state.fails
            }
            if fails { throw .remote("as asked") }
            return Array(bytes[Int(offset)..<end])
        }

        func readCached(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int? {
            let cachedCount = state.withLock { $0.cachedCount }
            let count = min(cachedCount, buffer.count, bytes.count - Int(offset))
            guard count > 0 else { return nil }
            buffer.copyBytes(from: bytes[Int(offset)..<Int(offset) + count])
            return count
        }

        func close() {}
    }

    /// A socket that takes what it likes, and a body that is copied to it.
    @LoopActor
    private final class Sending {
        private(set) var received: [UInt8] = []
        private(set) var isOver = false
        private(set) var waitCount = 0
        private(set) var askCount = 0
        private(set) var isBroken = false
        private var body: BlobBody?
        private static let hash = BlobHash([UInt8](repeating: 0, count: 32))
        private var room = [UInt8](repeating: 0, count: 65_536)
        private var owedCount = 0
        private var takes: @LoopActor (Int) -> Int = { $0 }
        private let over = Semaphore()

        nonisolated init() {}

        func begin(
            _ reader: Reader,
            _ range: Range<Int64>,
            _ worker: Worker,
            takes: @escaping @LoopActor (Int) -> Int
        ) {
            self.takes = takes
            let blob = OpenBlob(Self.hash, reader, worker)
            body = BlobBody(blob, range, worker, WorkSlot {}) { [self] in
                goOn()
            } note: { [self] event in
                switch event {
                case .diskRead: askCount += 1
                case .broken: isBroken = true
                }
            }
            goOn()
        }

        nonisolated func wait() -> Bool { over.wait() }

        private func goOn() {
            while let body, !isOver {
                let step = room.withUnsafeMutableBytes { body.copy(into: $0) }
                switch step {
                case .wait:
                    waitCount += 1
                    return
                case .end: isOver = true
                case .next(let count):
                    #expect(count >= owedCount, "bytes that were not taken come again")
                    let taken = min(takes(count), count)
                    received += room[..<taken]
                    owedCount = count - taken
                    body.advance(taken)
                }
            }
            body = nil
            over.signal()
        }
    }

    @Test("need no worker where all of them are in memory")
    func cached() {
        let worker = Worker(jobLimit: 10)
        defer { worker.stop() }
        let reader = Reader(300_000)
        reader.state.withLock { $0.cachedCount = .max }
        let sending = Sending()
        onLoop { sending.begin(reader, 10..<299_990, worker) { $0 } }
        #expect(sending.wait())
        #expect(onLoop { sending.received } == Array(reader.bytes[10..<299_990]))
        #expect(reader.state.withLock { $0.reads } == [])
        #expect(onLoop { sending.askCount } == 0)
    }

    @Test("are read in pieces by a worker where none of them is")
    func pieces() {
        let worker = Worker(jobLimit: 10)
        defer { worker.stop() }
        let reader = Reader(600_000)
        let sending = Sending()
        onLoop { sending.begin(reader, 1..<600_000, worker) { $0 } }
        #expect(sending.wait())
        #expect(onLoop { sending.received } == Array(reader.bytes[1...]))
        let reads = reader.state.withLock { $0.reads }
        #expect(reads == [1..<262_145, 262_145..<524_289, 524_289..<600_000])
        #expect(onLoop { sending.askCount } == 3)
    }

    @Test("are whole in every mixture of both, to a socket that takes any part of them")
    func mixtures() {
        let worker = Worker(jobLimit: 10)
        defer { worker.stop() }
        var reached = (cut: 0, both: 0)
        for seed in TestSeed.seeds(40) {
            var random = SeededGenerator(seed: seed)
            let reader = Reader(Int.random(in: 1...900_000, using: &random))
            let sending = Sending()
            let generator = Mutex(random)
            onLoop {
                sending.begin(reader, 0..<reader.byteCount, worker) { offered in
                    generator.withLock { random in
                        // What was in memory may have left it, or come.
                        let cached = [0, 1, 100, 30_000, .max].randomElement(using: &random) ?? 0
                        reader.state.withLock { $0.cachedCount = cached }
                        return Bool.random(using: &random)
                            ? offered : Int.random(in: 1...offered, using: &random)
                    }
                }
            }
            #expect(sending.wait(), "seed \(seed)")
            #expect(onLoop { sending.received } == reader.bytes, "seed \(seed)")
            let reads = reader.state.withLock { $0.reads.reduce(0) { $0 + $1.count } }
            if reads > 0, reads < reader.bytes.count { reached.both += 1 }
            if onLoop({ sending.waitCount }) > 1 { reached.cut += 1 }
        }
        #expect(reached.both > 0 && reached.cut > 0, "\(reached)")
    }

    @Test("end early when they cannot be read")
    func failure() {
        let worker = Worker(jobLimit: 10)
        defer { worker.stop() }
        let reader = Reader(600_000)
        let sending = Sending()
        onLoop {
            sending.begin(reader, 0..<600_000, worker) { count in
                reader.state.withLock { $0.fails = true }
                return count
            }
        }
        #expect(sending.wait())
        #expect(onLoop { sending.received } == Array(reader.bytes[..<262_144]))
        #expect(onLoop { sending.isBroken })
    }
}
