import Foundation
import HearthCore
import Synchronization
import TestSupport
import Testing

@testable import HearthStorage

@Suite("files over a connection that fails")
struct TwinTests {
    /// A size of each kind: nothing, one request, a few chunks, at the borders and between them.
    private static func size(_ random: inout SeededGenerator) -> Int {
        let unit = 262_144
        switch random.index(6) {
        case 0: return random.index(3)
        case 1: return unit - 1 + random.index(3)
        case 2: return unit * (1 + random.index(8))
        case _: return random.index(8 * unit)
        }
    }

    private static func count(_ usual: Int) -> Int { TestSeed.rounds.map { $0 * usual } ?? usual }

    @Test(
        "uploads arrive whole, or are refused and leave nothing",
        arguments: TestSeed.seeds(count(60))
    )
    func uploads(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let server = TwinServer(SeededGenerator(seed: seed &+ 1_000_003), trouble: random.index(60))
        let files = try TwinFiles(server)
        let bytes = randomBytes(Self.size(&random), &random)
        let isDenied = random.index(6) == 0
        let isPausing = random.index(2) == 0
        if isDenied { server.state.withLock { _ = $0.denied.insert("a") } }
        let task = files.reference().putData(bytes)
        if isPausing {
            // Breaks the task off at requests of the seed, and lets it go on at once.
            let pauses = Set((0..<8).map { _ in 1 + random.index(30) })
            server.state.withLock { state in
                state.hook = { number in
                    guard pauses.contains(number) else { return }
                    task.pause()
                    task.resume()
                }
            }
        }
        let outcome = await withCheckedContinuation { waiting in
            task.onEnd { waiting.resume(returning: $0) }
        }
        let state = server.state.withLock { $0 }
        #expect(state.faults == [], "seed \(seed)")
        switch outcome {
        case .success(let metadata):
            #expect(!isDenied, "seed \(seed)")
            #expect(state.objects["a"]?.bytes == bytes, "seed \(seed)")
            #expect(metadata?.size == Int64(bytes.count), "seed \(seed)")
        case .failure(let error):
            #expect(isDenied && error.code == .unauthorized, "seed \(seed): \(error)")
            #expect(state.objects["a"] == nil, "seed \(seed)")
        }
        #expect(state.requestCount < 2_000, "seed \(seed)")
    }

    @Test("downloads are one whole content", arguments: TestSeed.seeds(count(60)))
    func downloads(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let server = TwinServer(SeededGenerator(seed: seed &+ 2_000_003), trouble: random.index(60))
        let files = try TwinFiles(server)
        let (first, second) = (
            randomBytes(Self.size(&random), &random), randomBytes(Self.size(&random), &random)
        )
        server.state.withLock { state in
            state.objects["a"] = TwinServer.Object(bytes: first, generation: 0)
            if random.index(2) == 0 { state.change = second }
        }
        let data: Data
        if random.index(2) == 0 {
            data = try await files.reference().data(maxSize: 4_000_000)
        } else {
            let folder = try TemporaryFolder()
            let url = URL(fileURLWithPath: "\(folder.path)/down")
            try await files.reference().writeAsync(toFile: url)
            data = try Data(contentsOf: url)
            #expect(folder.names() == ["down"], "seed \(seed)")
        }
        #expect(data == first || data == second, "seed \(seed)")
        #expect(data == server.state.withLock { $0.objects["a"]?.bytes }, "seed \(seed)")
    }

    @Test("a deletion whose answer was lost has happened", arguments: TestSeed.seeds(count(20)))
    func deletions(seed: UInt64) async throws {
        let server = TwinServer(SeededGenerator(seed: seed), trouble: 50)
        let files = try TwinFiles(server)
        server.state.withLock { $0.objects["a"] = TwinServer.Object(bytes: Data(), generation: 1) }
        do {
            try await files.reference().delete()
        } catch let error as StorageError {
            // A proxy sent it twice, and the second answer came.
            #expect(error.code == .objectNotFound, "seed \(seed)")
        }
        #expect(server.state.withLock { $0.objects.isEmpty }, "seed \(seed)")
    }

    @Test("what never gets through ends in its time")
    func noServer() async throws {
        let server = TwinServer(TestSeed.generator(7), trouble: 0)
        let files = try TwinFiles(server)
        let lost = LostServer()
        let service = StorageService(
            files.app,
            origin: "http://localhost:1",
            over: lost,
            files.storage.service.clock
        )
        let storage = Storage(service, files.app, bucket: "B")
        storage.callbackQueue = files.queue
        let reference = storage.reference(withPath: "a")
        #expect(await code { try await reference.getMetadata() } == .retryLimitExceeded)
        #expect(await code { try await reference.data(maxSize: 5) } == .retryLimitExceeded)
        #expect(await code { try await reference.putDataAsync(Data([1])) } == .retryLimitExceeded)
        storage.maxOperationRetryTime = 0
        let before = lost.count
        #expect(await code { try await reference.delete() } == .retryLimitExceeded)
        #expect(lost.count == before + 1)
    }
}

/// A server that is not there.
private final class LostServer: StorageTransport {
    private let requests = Atomic(0)
    var count: Int { requests.load(ordering: .relaxed) }

    func send(_ call: StorageCall) async throws(TransportFault) -> StorageAnswer {
        requests.add(1, ordering: .relaxed)
        throw .passing("not connected")
    }
}

/// The code of the error that `body` throws; nil when it throws none.
func code<Value>(_ body: () async throws -> Value) async -> StorageErrorCode? {
    do {
        _ = try await body()
        return nil
    } catch let error as StorageError {
        return error.code
    } catch {
        Issue.record(error, "it is no StorageError")
        return nil
    }
}
