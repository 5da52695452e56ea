import TestSupport
import Testing
import WriteAheadLog

@testable import ClusterLog

/// Entries of one writer, each built on the one before it.
private struct Writer {
    let incarnation: Incarnation
    private(set) var last: LogMark
    private var number: UInt64 = 0

    /// Begins on what some beginning of a log made.
    init(_ node: UInt64, on last: LogMark = .start) {
        incarnation = Incarnation(node: NodeID(node), number: node << 32)
        self.last = last
    }

    mutating func write(
        _ kind: LogEntry.Kind,
        count: UInt32 = 0,
        _ payload: [UInt8] = []
    ) -> [UInt8] {
        number += 1
        let entry = LogEntry(
            kind,
            epoch: kind == .claim ? last.epoch + 1 : last.epoch,
            base: last.commit,
            count: count,
            writer: incarnation,
            number: number,
            payload: payload
        )
        let (bytes, chain) = entry.encoded(after: last.chain)
        last.epoch = entry.epoch
        last.commit += UInt64(count)
        last.chain = chain
        return bytes
    }

    mutating func claim() -> [UInt8] { write(.claim) }

    /// Builds the next entry on another mark.
    mutating func goOn(from mark: LogMark) { last = mark }

    /// A batch of so many commits, numbered on from the base.
    mutating func batch(_ count: Int = 1) throws -> [UInt8] {
        var list: [UInt8] = []
        for index in 0..<count {
            let number = last.commit + UInt64(index) + 1
            CommitCoder.append(try commit(number, time: Int64(incarnation.node.value)), to: &list)
        }
        return write(.batch, count: UInt32(count), list)
    }
}

/// A decision as its name.
private func name(_ decision: LogDecision) -> String {
    switch decision {
    case .commits(let records): "commits \(records.count)"
    case .part: "part"
    case .claim(let incarnation): "claim of \(incarnation.node)"
    case .void(let reason, _): "void: \(reason)"
    case .stop(let fault): "stop: \(fault)"
    }
}

@Suite("which entries of a log count")
struct LogReplayTests {
    /// What the rule says of these entries, one after another.
    private static func decisions(_ entries: [[UInt8]]) -> [String] {
        var replay = LogReplay()
        return entries.enumerated().map { name(replay.read($1, at: UInt64($0 + 1))) }
    }

    @Test("a claim begins an epoch, and batches of its writer count")
    func oneWriter() throws {
        var a = Writer(1)
        let entries = try [a.claim(), a.batch(3), a.batch()]
        #expect(Self.decisions(entries) == ["claim of 1", "commits 3", "commits 1"])
    }

    @Test("of two claims of an epoch the first counts, and entries on the other are void")
    func race() throws {
        var (a, b) = (Writer(1), Writer(2))
        let entries = try [a.claim(), b.claim(), b.batch(), a.batch()]
        #expect(
            Self.decisions(entries) == [
                "claim of 1", "void: lostClaim", "void: otherChain", "commits 1",
            ]
        )
    }

    @Test("what an owner writes after the claim of another is void, what it wrote before counts")
    func deposed() throws {
        var a = Writer(1)
        let first = try [a.claim(), a.batch()]
        var b = Writer(2, on: a.last)
        let (claim, late) = try (b.claim(), a.batch(2))
        #expect(
            Self.decisions(first + [claim, late] + [try b.batch()])
                == ["claim of 1", "commits 1", "claim of 2", "void: oldEpoch", "commits 1"]
        )
        // The other way round the batch counts, and the claim was overtaken.
        #expect(
            Self.decisions(first + [late, claim]).suffix(2) == ["commits 2", "void: otherBase"]
        )
    }

    @Test("copies, and entries before the one they build on, are void")
    func copies() throws {
        var a = Writer(1)
        let (claim, one, two) = try (a.claim(), a.batch(), a.batch())
        #expect(
            Self.decisions([claim, claim, two, one, one, two, two]) == [
                "claim of 1", "void: lostClaim", "void: otherBase", "commits 1", "void: otherBase",
                "commits 1", "void: otherBase",
            ]
        )
    }

    @Test("a claim drops parts that were not ended, and one from before them is void")
    func parts() throws {
        var a = Writer(1)
        let claim = a.claim()
        let before = a.last
        var list: [UInt8] = []
        CommitCoder.append(try commit(1, payload: [1, 2, 3]), to: &list)
        let part = a.write(.part, Array(list[..<5]))
        var (early, late) = (Writer(2, on: before), Writer(3, on: a.last))
        let claims = (early.claim(), late.claim())
        let end = a.write(.batch, count: 1, Array(list[5...]))
        #expect(
            Self.decisions([claim, part, claims.0, claims.1, end, try late.batch()]) == [
                "claim of 1", "part", "void: otherChain", "claim of 3", "void: oldEpoch",
                "commits 1",
            ]
        )
        #expect(Self.decisions([claim, part, end]).last == "commits 1")
    }

    @Test("an entry of a future that this log cannot have had stops the node")
    func future() throws {
        var a = Writer(1)
        let (claim, one) = try (a.claim(), a.batch())
        var b = Writer(2, on: a.last)
        let claimB = b.claim()
        var c = Writer(3, on: b.last)
        let stop = "stop: \(LogFault.otherLog(sequence: 2))"
        // A claim with more commits, a batch and a claim of later epochs.
        for entry in try [claimB, b.batch(), c.claim()] {
            #expect(Self.decisions([claim, entry]).last == stop)
        }
        #expect(Self.decisions([claim, one, claimB]).last == "claim of 2")
    }

    @Test("a gap and a damaged entry stop the node, and change nothing")
    func faults() throws {
        var a = Writer(1)
        let (claim, one) = try (a.claim(), a.batch())
        var replay = LogReplay()
        _ = replay.read(claim, at: 1)
        let before = replay
        #expect(name(replay.read(one, at: 3)) == "stop: \(LogFault.gap(expected: 2, found: 3))")
        #expect(name(replay.read(claim, at: 1)) == "stop: \(LogFault.gap(expected: 2, found: 1))")
        for bit in 0..<one.count * 8 {
            var changed = one
            changed[bit / 8] ^= 1 << (bit % 8)
            guard case .stop(.badEntry(2, _)) = replay.read(changed, at: 2) else {
                Issue.record("bit \(bit) is not noticed")
                continue
            }
        }
        #expect(replay.last == before.last)
        #expect(replay.sequence == 1)
        #expect(name(replay.read(one, at: 2)) == "commits 1")
    }

    @Test("a batch whose list is not what it counts stops the node")
    func badList() throws {
        var a = Writer(1)
        let claim = a.claim()
        let entry = a.write(.batch, count: 1, [1])
        #expect(Self.decisions([claim, entry]).last?.hasPrefix("stop: entry 2") == true)
    }

    @Test("a mark stands where no commit is unfinished, and replay goes on from it alike")
    func marks() throws {
        var a = Writer(1)
        let claim = a.claim()
        var list: [UInt8] = []
        CommitCoder.append(try commit(1, payload: [1, 2, 3]), to: &list)
        let part = a.write(.part, Array(list[..<5]))
        let end = a.write(.batch, count: 1, Array(list[5...]))
        var replay = LogReplay()
        _ = replay.read(claim, at: 1)
        let mark = replay.mark
        #expect(mark.sequence == 1 && mark.epoch == 1 && mark.logID == mark.chain.prefix)
        _ = replay.read(part, at: 2)
        #expect(replay.mark == mark)
        #expect(replay.last.sequence == 2)
        #expect(replay.faultOfLast(part) == nil)
        #expect(replay.faultOfLast(claim) == .otherLog(sequence: 2))
        #expect(replay.faultOfLast([]) == .badEntry(sequence: 2, .tooShort(byteCount: 0)))
        _ = replay.read(end, at: 3)
        #expect(replay.mark == replay.last && replay.mark.commit == 1)
        var again = LogReplay(from: mark)
        for (index, entry) in [part, end].enumerated() {
            _ = again.read(entry, at: UInt64(index + 2))
        }
        #expect(again.mark == replay.mark)
    }
}

@Suite("logs of racing writers")
struct LogRaceTests {
    /// What must have happened in the logs of a run.
    private struct Reached {
        var counts: [String: Int] = [:]

        mutating func note(_ name: String) { counts[name, default: 0] += 1 }

        static let floors = [
            "claim": 50, "commits": 50, "part": 20, "ended part": 10, "dropped part": 10,
            "lostClaim": 50, "oldEpoch": 50, "otherBase": 50, "otherChain": 20, "restart": 50,
            "rewind": 50,
        ]

        var missing: [String] {
            Self.floors.filter { counts[$0.key, default: 0] < $0.value }
                .map { "\($0.key): \(counts[$0.key, default: 0]) of \($0.value)" }.sorted()
        }
    }

    /// A node that writes: it knows some beginning of the log, and believes in what it knows.
    private struct Racer {
        var writer: Writer
        var known = LogReplay()
        var isOwner = false

        /// Reads so many entries on.
        mutating func read(_ entries: ArraySlice<[UInt8]>) {
            for bytes in entries {
                guard case .claim(let owner) = known.read(bytes, at: known.sequence + 1) else {
                    continue
                }
                isOwner = owner == writer.incarnation
                if isOwner { writer.goOn(from: known.last) }
            }
        }

        /// What it sends: batches and large commits as an owner, else a claim.
        mutating func write(_ random: inout SeededGenerator) throws -> [[UInt8]] {
            guard isOwner else {
                writer.goOn(from: known.last)
                return [writer.claim()]
            }
            guard random.index(3) == 0 else { return [try writer.batch(1 + random.index(3))] }
            var list: [UInt8] = []
            CommitCoder.append(
                try commit(writer.last.commit + 1, payload: [5, 6, 7, 8]),
                to: &list
            )
            return [
                writer.write(.part, Array(list[..<9])), writer.write(.part, Array(list[9..<11])),
                writer.write(.batch, count: 1, Array(list[11...])),
            ]
        }
    }

    /// The entries of racing writers; copies and late ones among them.
    private static func log(_ random: inout SeededGenerator) throws -> [[UInt8]] {
        var entries: [[UInt8]] = []
        var racers = (1...3).map { Racer(writer: Writer(UInt64($0))) }
        var unsent: [[UInt8]] = []
        while entries.count < 60 {
            let index = random.index(racers.count)
            let known = Int(racers[index].known.sequence)
            // Most read all that there is; some know less, and write all the same.
            let count = random.index(4) == 0 ? random.index(4) : entries.count
            racers[index].read(entries[known...].prefix(count))
            if racers[index].isOwner || random.index(4) == 0 {
                unsent += try racers[index].write(&random)
            }
            if !entries.isEmpty, random.index(8) == 0 {
                unsent.append(entries[random.index(entries.count)])
            }
            // In their order mostly; some stay for later.
            while !unsent.isEmpty, random.index(5) > 0 {
                let isOutOfOrder = random.index(6) == 0
                entries.append(unsent.remove(at: isOutOfOrder ? random.index(unsent.count) : 0))
            }
        }
        return entries
    }

    @Test("give equal states on all nodes, and one winner at each base")
    func equalStates() throws {
        var reached = Reached()
        for seed in TestSeed.seeds(TestSeed.rounds ?? 200) {
            var random = SeededGenerator(seed: seed)
            let entries = try Self.log(&random)
            try Self.check(entries, seed, &random, &reached)
        }
        #expect(reached.missing.isEmpty, "from seed \(TestSeed.first) on: \(reached.missing)")
    }

    private static func check(
        _ entries: [[UInt8]],
        _ seed: UInt64,
        _ random: inout SeededGenerator,
        _ reached: inout Reached
    ) throws {
        var twin = NaiveReplay()
        var replay = LogReplay()
        // Reads the same, and is restarted and sent back again and again.
        var restless = LogReplay()
        var commits: [[UInt8]] = []
        var openParts = 0
        for (index, bytes) in entries.enumerated() {
            let decision = replay.read(bytes, at: UInt64(index + 1))
            var isValid = true
            switch decision {
            case .commits(let records):
                for record in records {
                    var list: [UInt8] = []
                    CommitCoder.append(record, to: &list)
                    commits.append(list)
                }
                reached.note("commits")
                if openParts > 0 { reached.note("ended part") }
                openParts = 0
            case .part:
                openParts += 1
                reached.note("part")
            case .claim:
                if openParts > 0 { reached.note("dropped part") }
                openParts = 0
                reached.note("claim")
            case .void(let reason, _):
                isValid = false
                reached.note("\(reason)")
            case .stop(let fault):
                Issue.record("seed \(seed), entry \(index + 1): \(fault)")
                return
            }
            #expect(twin.read(bytes) == isValid, "seed \(seed), entry \(index + 1)")
            #expect(twin.chain == replay.last.chain.bytes, "seed \(seed), entry \(index + 1)")
            #expect(twin.commits.count == Int(replay.last.commit), "seed \(seed)")
            #expect(twin.epoch == Int(replay.last.epoch), "seed \(seed)")
            switch random.index(6) {
            case 0:
                restless = LogReplay(from: restless.mark)
                reached.note("restart")
            case 1:
                restless.rewind()
                reached.note("rewind")
            default: break
            }
            while restless.sequence <= index {
                _ = restless.read(entries[Int(restless.sequence)], at: restless.sequence + 1)
            }
            #expect(restless.last == replay.last, "seed \(seed), entry \(index + 1)")
            #expect(restless.mark == replay.mark, "seed \(seed), entry \(index + 1)")
        }
        #expect(commits == twin.commits, "seed \(seed)")
    }
}
