import ClusterLog
import DatabaseCore
import Files
import JSONTree
import SimulatedStorage
import Synchronization
import TestSupport
import Testing
import WriteAheadLog

@testable import DatabaseServer

/// A shared log in memory that takes what is built on its last entry; what becomes of it waits in `news`.
private final class ListLog: ReplicatedLog {
    private(set) var entries: [[UInt8]] = []
    var news: [LogNews] = []
    private(set) var purged: [UInt64] = []
    private(set) var beats: [Beat] = []
    /// Whether entries that were taken come back.
    var delivers = true

    func append(_ entry: [UInt8], number: UInt64, expecting last: UInt64) {
        guard last == UInt64(entries.count) else {
            return news.append(.refused(number: number, last: UInt64(entries.count)))
        }
        entries.append(entry)
        news.append(.stored(number: number, sequence: last + 1))
        if delivers { news.append(.entry(sequence: last + 1, bytes: entry)) }
    }

    func tail(from sequence: UInt64) {
        news.append(.bounds(first: 1, last: UInt64(entries.count)))
        for number in Int(sequence)..<max(Int(sequence), entries.count + 1) {
            news.append(.entry(sequence: UInt64(number), bytes: entries[number - 1]))
        }
    }

    func purge(through sequence: UInt64) { purged.append(sequence) }

    func beat(_ bytes: [UInt8]) { if let beat = Beat(decoding: bytes) { beats.append(beat) } }
}

/// What a thread has reported.
private final class Heard: Sendable {
    struct Events {
        var flushed: [(database: DatabaseID, through: CommitNumber)] = []
        var entered: [CommitRecord] = []
        var reached: [UInt64] = []
        var owned = 0
        var stopped: [LogFault] = []
        var deposed: [String] = []
        var positions: [LogPosition] = []
        var heads: [[LogHead]] = []
        var nodes: [Beat] = []
    }

    let events = Mutex(Events())

    var reports: ClusterLink.Reports {
        ClusterLink.Reports(
            entered: { [self] commits, taken in
                events.withLock { $0.entered += commits }
                taken()
            },
            reached: { [self] count in events.withLock { $0.reached.append(count) } },
            owned: { [self] in events.withLock { $0.owned += 1 } },
            deposed: { [self] reason in events.withLock { $0.deposed.append(reason) } },
            stalled: { _ in },
            stopped: { [self] fault in events.withLock { $0.stopped.append(fault) } },
            status: { [self] status in events.withLock { $0.nodes = status.nodes } }
        )
    }

    func barrier() -> LogMessage {
        .barrier { [self] position, heads in
            events.withLock {
                $0.positions.append(position)
                $0.heads.append(heads)
            }
        }
    }

    func read<Value: Sendable>(_ body: (Events) -> Value) -> Value {
        events.withLock { body($0) }
    }
}

/// One life of a node over a data folder and a shared log.
private struct Node: ~Copyable {
    let heard: Heard
    let shared: ListLog
    /// Records that the folder held at the start.
    let recoveredCount: Int
    private let folder: DataFolder
    private var thread: ClusterThread

    init(
        _ storage: SimulatedLogStorage,
        _ shared: ListLog,
        secret: GroupSecret? = nil
    ) throws {
        let folder = try DataFolder.open(storage, options: LogOptions(syncPolicy: .onRequest))
        var records = 0
        let recovered = try folder.recover { step in
            if case .record = step { records += 1 }
        }
        let mark = try MarkFile.read(folder) ?? .start
        let heard = Heard()
        let link = ClusterLink(
            incarnation: Incarnation(node: NodeID(1), number: .random(in: 1...UInt64.max)),
            details: Beat.Details(clientAddress: "a", nodeAddress: "a", rulesDigest: 0),
            mark: mark,
            folder: folder,
            secret: secret,
            open: { _ in preconditionFailure("the test has opened it") },
            reports: heard.reports
        )
        var now = Duration.zero
        self.folder = folder
        self.shared = shared
        self.heard = heard
        recoveredCount = records
        thread = ClusterThread(
            link,
            recovered.writer,
            shared,
            NewsCredit(8),
            // A tenth of a second passes with each look.
            now: {
                now += .milliseconds(100)
                return now
            },
            returned: { _ in },
            flushed: { flushed in heard.events.withLock { $0.flushed += flushed } }
        )
    }

    /// Takes messages, and all news that they lead to.
    mutating func take(_ messages: [LogMessage]) throws {
        try thread.take(messages)
        while !shared.news.isEmpty {
            let news = shared.news
            shared.news = []
            try thread.take(news.map { .news($0) })
        }
    }

    /// Follows until it owns the group.
    mutating func own() throws {
        try take([.news(.link(isUp: true))])
        while heard.read({ $0.owned }) == 0 { try take([]) }
    }

    mutating func settle() throws { try thread.settle() }

    func close() { folder.close() }
}

private func commit(_ number: UInt64, _ name: String = "default") -> CommitRecord {
    CommitRecord(
        database: DatabaseID(name),
        number: CommitNumber(number),
        time: Timestamp(milliseconds: 1),
        payload: [UInt8(number)]
    )
}

@Suite("the log thread of a node")
struct ClusterThreadTests {
    @Test("acknowledges what came back, and knows at a new start where it stood")
    func restart() throws {
        let (storage, shared) = (SimulatedLogStorage(seed: 1), ListLog())
        var node = try Node(storage, shared)
        try node.own()
        try node.take([.commit(commit(1)), .commit(commit(2))])
        #expect(node.heard.read { $0.flushed.map(\.through.value) } == [2])
        try node.settle()
        // Behind the mark: in the local log when the process ends, and known by its number when it comes again.
        try node.take([.commit(commit(3))])
        node.close()
        storage.kill()

        var next = try Node(storage, shared)
        try next.take([.news(.link(isUp: true))])
        #expect(next.heard.read { $0.entered.isEmpty && $0.stopped.isEmpty })
        try next.own()
        try next.take([.commit(commit(4))])
        #expect(next.heard.read { $0.flushed.map(\.through.value) } == [4])
        next.close()
    }

    @Test("gives the loop what another owner made, once")
    func follows() throws {
        let shared = ListLog()
        var owner = try Node(SimulatedLogStorage(seed: 1), shared)
        try owner.own()
        try owner.take([.commit(commit(1)), .commit(commit(1, "other")), .commit(commit(2))])

        let storage = SimulatedLogStorage(seed: 2)
        var follower = try Node(storage, shared)
        try follower.take([.news(.link(isUp: true))])
        let entered = follower.heard.read { $0.entered }
        #expect(
            entered.map { "\($0.database) \($0.number.value)" } == [
                "default 1", "other 1", "default 2",
            ]
        )
        #expect(entered.map(\.payload) == [[1], [1], [2]])
        #expect(follower.heard.read { $0.flushed.isEmpty })
        follower.close()
        // What was never synced is gone with the power, and comes again.
        storage.restart()
        var again = try Node(storage, shared)
        try again.take([.news(.link(isUp: true))])
        #expect(again.recoveredCount + again.heard.read { $0.entered.count } == 3)
        again.close()
        owner.close()
    }

    @Test("ends as an owner that hears no broker for 15 seconds, and not before")
    func cutOff() throws {
        let shared = ListLog()
        var node = try Node(SimulatedLogStorage(seed: 1), shared)
        try node.own()
        // No look brings anything, and each takes at least a tenth of a second.
        for _ in 0..<40 { try node.take([]) }
        #expect(node.heard.read { $0.deposed.isEmpty })
        for _ in 0..<150 { try node.take([]) }
        #expect(node.heard.read { $0.deposed } == ["no broker was heard for 15 s"])
        node.close()
    }

    @Test("stops being the owner at the entry that is the claim of another")
    func deposed() throws {
        let shared = ListLog()
        var first = try Node(SimulatedLogStorage(seed: 1), shared)
        try first.own()
        try first.take([.commit(commit(1))])
        var second = try Node(SimulatedLogStorage(seed: 2), shared)
        try second.own()
        try second.take([.commit(commit(2))])
        shared.tail(from: 1)
        try first.take([.commit(commit(2))])
        #expect(first.heard.read { $0.deposed } == ["another node owns the group"])
        #expect(first.heard.read { $0.flushed.map(\.through.value) } == [1])
        #expect(second.heard.read { $0.flushed.map(\.through.value) } == [2])
        first.close()
        second.close()
    }

    @Test("passes a barrier exactly behind the commits before it, in the middle of an entry too")
    func barriers() throws {
        let shared = ListLog()
        var node = try Node(SimulatedLogStorage(seed: 1), shared)
        try node.own()
        // The first entry is in flight, so that the next ones are one batch.
        shared.delivers = false
        try node.take([.commit(commit(1))])
        try node.take([.commit(commit(2)), node.heard.barrier(), .commit(commit(3))])
        #expect(node.heard.read { $0.positions.isEmpty })
        shared.delivers = true
        shared.tail(from: 1)
        try node.take([])
        #expect(node.heard.read { $0.positions } == [LogPosition(2)])
        #expect(node.heard.read { $0.heads.map { $0.map(\.commit) } } == [[2]])
        #expect(node.heard.read { $0.flushed.map(\.through.value) } == [1, 2, 3])
        node.close()
    }

    /// What a node beats next.
    private func nextBeat(_ node: inout Node) throws -> Beat {
        let count = node.shared.beats.count
        // Each look takes at least a tenth of a second, and a beat is due after half of one.
        for _ in 0..<10 where node.shared.beats.count == count { try node.take([]) }
        return try #require(node.shared.beats.dropFirst(count).first)
    }

    @Test("beats the digest of the rules that are in force")
    func rules() throws {
        var node = try Node(SimulatedLogStorage(seed: 1), ListLog())
        try node.own()
        #expect(try nextBeat(&node).details.rulesDigest == 0)
        try node.take([.rules(digest: 9)])
        #expect(try nextBeat(&node).details.rulesDigest == 9)
        node.close()
    }

    @Test("hears beats that were signed with its secret, and no others")
    func signedBeats() throws {
        let folder = try TemporaryFolder()
        func secret(_ name: String) throws -> GroupSecret {
            let path = "\(folder.path)/\(name)"
            let text = String(repeating: name, count: 32)
            _ = try SmallFile.createPrivate(path, Array(text.utf8))
            return try GroupSecret(file: path, keyLifetime: 3600)
        }
        let (own, strange) = try (secret("a"), secret("b"))
        var node = try Node(SimulatedLogStorage(seed: 1), ListLog(), secret: own)
        let beat = Beat(
            .following,
            of: Incarnation(node: NodeID(2), number: 5),
            logID: 0,
            progress: LogProgress(epoch: 0, commit: 0),
            sequence: 0,
            checkpointed: 0,
            details: Beat.Details(clientAddress: "b", nodeAddress: "b", rulesDigest: 0)
        ).encoded
        var changed = own.sign(beat)
        changed[10] ^= 1
        try node.take([.news(.link(isUp: true))])
        for bytes in [[], beat, strange.sign(beat), changed, Array(own.sign(beat).dropLast())] {
            try node.take([.news(.beat(bytes))])
        }
        try node.settle()
        #expect(node.heard.read { $0.nodes.isEmpty })
        try node.take([.news(.beat(own.sign(beat)))])
        try node.settle()
        #expect(node.heard.read { $0.nodes.count } == 1)
        node.close()
    }

    @Test("keeps what a copy of its data needs of the shared log for an hour, and no longer")
    func keeps() throws {
        var node = try Node(SimulatedLogStorage(seed: 1), ListLog())
        try node.own()
        try node.take([.commit(commit(1))])
        try node.settle()
        let first = try nextBeat(&node)
        try node.take([.keep(after: first.sequence), .commit(commit(2)), .commit(commit(3))])
        try node.settle()
        let kept = try nextBeat(&node)
        #expect(kept.checkpointed == first.sequence && kept.sequence > first.sequence)
        // Its own beats come back: it is not cut off.
        for _ in 0..<36_000 { try node.take([.news(.beat(kept.encoded))]) }
        try node.take([.commit(commit(4))])
        try node.settle()
        let later = try nextBeat(&node)
        #expect(later.checkpointed == later.sequence)
        node.close()
    }

    @Test("stops before a commit that does not follow what its folder holds")
    func foreign() throws {
        let shared = ListLog()
        var owner = try Node(SimulatedLogStorage(seed: 1), shared)
        try owner.own()
        try owner.take([.commit(commit(1)), .commit(commit(2))])
        let other = ListLog()
        let storage = SimulatedLogStorage(seed: 2)
        var node = try Node(storage, other)
        try node.own()
        try node.take([.commit(commit(1, "other"))])
        try node.settle()
        node.close()
        storage.kill()
        var moved = try Node(storage, shared)
        try moved.take([.news(.link(isUp: true))])
        #expect(moved.heard.read { $0.stopped.count } == 1)
        #expect(moved.heard.read { $0.entered.isEmpty })
        moved.close()
        owner.close()
    }
}

@Suite("the mark of a node")
struct MarkFileTests {
    private let mark = LogMark(
        sequence: 7,
        epoch: 2,
        commit: 1 << 40,
        chain: LogChain((0..<32).map { UInt8($0) }[...]),
        logID: .max
    )

    private func read(_ storage: SimulatedLogStorage) throws -> LogMark? {
        let folder = try DataFolder.open(storage)
        defer { folder.close() }
        return try MarkFile.read(folder)
    }

    @Test("is read as it was written, and nil before")
    func roundTrip() throws {
        let storage = SimulatedLogStorage(seed: 1)
        #expect(try read(storage) == nil)
        let folder = try DataFolder.open(storage)
        try MarkFile.write(mark, to: folder)
        folder.close()
        storage.restart()
        #expect(try read(storage) == mark)
    }

    @Test("is written before the first commit, and data without one is refused")
    func beginning() throws {
        let storage = SimulatedLogStorage(seed: 1)
        let folder = try DataFolder.open(storage)
        #expect(throws: ClusterStartError.self) {
            try ClusterStart.mark(of: folder, isEmpty: false)
        }
        #expect(try ClusterStart.mark(of: folder, isEmpty: true) == .start)
        folder.close()
        storage.restart()
        let again = try DataFolder.open(storage)
        #expect(try ClusterStart.mark(of: again, isEmpty: false) == .start)
        again.close()
    }

    @Test("is the one before or the new one, wherever the power fails")
    func powerCuts() throws {
        var seen: Set<LogMark?> = []
        for calls in 1...12 {
            let storage = SimulatedLogStorage(seed: UInt64(calls))
            let folder = try DataFolder.open(storage)
            try MarkFile.write(.start, to: folder)
            storage.cutPower(afterCalls: calls)
            do throws(LogError) { try MarkFile.write(mark, to: folder) } catch {}
            folder.close()
            storage.restart()
            seen.insert(try read(storage))
        }
        #expect(seen == [.start, mark])
    }

    @Test("of another folder, of another length or with any flipped bit is refused")
    func damage() throws {
        let storage = SimulatedLogStorage(seed: 1)
        let folder = try DataFolder.open(storage)
        defer { folder.close() }
        try MarkFile.write(mark, to: folder)
        let file = try #require(try storage.open("cluster-mark"))
        var bytes = [UInt8](repeating: 0, count: 84)
        _ = try bytes.withUnsafeMutableBufferPointer { buffer throws(LogError) in
            try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
        }
        func put(_ bytes: [UInt8], in storage: SimulatedLogStorage) throws {
            let file = try storage.create("cluster-mark")
            try bytes.withUnsafeBufferPointer { buffer throws(LogError) in
                try file.write(UnsafeRawBufferPointer(buffer), at: 0)
            }
        }
        for bit in 0..<(8 * bytes.count) {
            var damaged = bytes
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            try put(damaged, in: storage)
            #expect(throws: LogError.self, "bit \(bit)") { try MarkFile.read(folder) }
        }
        for count in [0, 1, 83, 85] {
            try put(Array((bytes + [0]).prefix(count)), in: storage)
            #expect(throws: LogError.self, "\(count) bytes") { try MarkFile.read(folder) }
        }
        let other = SimulatedLogStorage(seed: 2)
        let otherFolder = try DataFolder.open(other)
        defer { otherFolder.close() }
        try put(bytes, in: other)
        #expect(throws: LogError.self) { try MarkFile.read(otherFolder) }
    }
}
