import Glibc
import JSONTree
import SimulatedStorage
import TestSupport
import Testing
import WriteAheadLog

@testable import BlobStore

/// The errors that a call may fail with.
@Sendable func errorNumbers(_ operation: DiskFailure.Operation) -> [Int32] {
    switch operation {
    case .create: [EIO, ENOSPC, EMFILE]
    case .createFolder, .write, .rename, .sync, .link: [EIO, ENOSPC]
    case .open, .list, .protect: [EIO, EMFILE]
    case .read, .truncate, .remove, .status, .measureFreeSpace, .lock, .preallocate: [EIO]
    }
}

/// A random life of a store on a disk that fails, fills up and loses its power.
private struct History {
    var twin: StoreTwin
    private var random: SeededGenerator

    private static let sizes = [
        0, 1, 2, 1000, 65_535, 65_536, 65_537, 262_143, 262_144, 262_145, 300_000,
    ]

    init(seed: UInt64) throws {
        twin = try StoreTwin(seed: seed)
        random = SeededGenerator(seed: seed)
    }

    mutating func run(steps: Int) throws {
        for _ in 0..<steps where twin.faults.isEmpty {
            switch random.index(16) {
            case 0: twin.disk.cutPower(afterCalls: 1 + random.index(12))
            case 1:
                let kind = random.index(3)
                twin.disk.failCall(1 + random.index(12)) { operation in
                    let kinds = errorNumbers(operation)
                    return kinds[kind % kinds.count]
                }
            default: break
            }
            do throws(BlobError) { try step() } catch {
                twin.say(error)
                // Where nothing has stopped, the server goes on.
                if twin.store.folder.failure != nil || random.index(3) == 0 {
                    restart(afterPowerCut: random.index(2) == 0)
                }
            }
        }
        restart(afterPowerCut: true)
        try twin.end()
    }

    /// Starts again until that goes well: a planned power cut may meet it.
    private mutating func restart(afterPowerCut: Bool) {
        twin.disk.cancelFailures()
        for _ in 0..<3 {
            do throws(BlobError) {
                try twin.restart(afterPowerCut: afterPowerCut || isOff)
                return try twin.check()
            } catch {
                twin.say(error)
            }
        }
        Issue.record("no start goes well")
    }

    /// Whether the disk has lost its power: every call fails.
    private var isOff: Bool {
        do throws(LogError) { _ = try twin.disk.freeByteCount() } catch { return true }
        return false
    }

    private mutating func step() throws(BlobError) {
        let ids = twin.live
        let id = ids.isEmpty ? nil : ids[random.index(ids.count)]
        switch (random.index(20), id) {
        case (0...2, _), (_, nil): _ = try twin.create(stream: random.index(3))
        case (3...8, let id?): try twin.append(Self.sizes[random.index(Self.sizes.count)], to: id)
        case (9, let id?): try twin.cut(id)
        case (10...11, let id?): try twin.storeSession(id)
        case (12, let id?): try twin.adopt(id)
        case (13...14, let id?): try twin.commit(id)
        case (15, let id?): try twin.remove(id)
        case (16, _):
            let hashes = twin.referenced.keys.sorted()
            if !hashes.isEmpty { twin.forget(hashes[random.index(hashes.count)]) }
        case (17, _):
            twin.pass(hours: Int64(random.index(30)))
            try twin.sweep()
        case (18, _): try twin.check()
        default: restart(afterPowerCut: random.index(2) == 0)
        }
    }
}

@Suite("random lives of a store")
struct StoreHistoryTests {
    @Test("keep what was acknowledged, show nothing half, and leave nothing")
    func histories() throws {
        var reached: [String: Int] = [:]
        for seed in TestSeed.seeds((TestSeed.rounds ?? 1) * 80) {
            var history = try History(seed: seed)
            do { try history.run(steps: 60) } catch { Issue.record("seed \(seed): \(error)") }
            #expect(history.twin.faults == [], "seed \(seed)")
            reached.merge(history.twin.reached) { $0 + $1 }
        }
        let states = [
            "committed", "new", "stored", "removed", "power cut", "killed", "failed",
            "session found", "reopened", "present", "swept", "put in order", "full",
        ]
        for state in states { #expect(reached[state] ?? 0 > 0, "\(state): \(reached)") }
    }
}
