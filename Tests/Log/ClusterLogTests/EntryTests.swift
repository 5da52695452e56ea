import TestSupport
import Testing
import WriteAheadLog

@testable import ClusterLog

/// The bytes that hexadecimal digits say.
func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex)
    return stride(from: 0, to: digits.count, by: 2).map { index in
        UInt8(String(digits[index..<index + 2]), radix: 16) ?? 0
    }
}

/// A commit with such a payload.
func commit(
    _ number: UInt64,
    of database: String = "a",
    time: Int64 = 0,
    payload: [UInt8] = [1]
) throws -> LogRecord {
    LogRecord(
        database: try LogDatabaseName(database),
        commit: number,
        time: time,
        payload: .bytes(payload)
    )
}

/// What a commit holds, to be compared.
struct CommitFacts: Equatable, Decodable, CustomStringConvertible {
    let database: String
    let commit: UInt64
    let time: Int64
    let payload: String

    init(_ record: LogRecord) {
        var list: [UInt8] = []
        CommitCoder.append(record, to: &list)
        database = record.database.description
        commit = record.commit
        time = record.time
        payload = list.suffix(record.payload.byteCount)
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    var description: String { "\(database) \(commit) \(time) \(payload)" }
}

/// An entry of `Specs/entries.json`, which another program computed from the page of the format. Each follows the
/// one before it.
struct EntryCase: Decodable, Sendable {
    let name: String
    let kind: String
    let epoch: UInt64
    let base: UInt64
    let count: UInt32
    let number: UInt64
    let payload: String
    let entry: String
    let chain: String
    let commits: [CommitFacts]

    static let all = spec("entries", of: EntryCase.self)

    var value: LogEntry {
        let kinds: [String: LogEntry.Kind] = ["batch": .batch, "claim": .claim, "part": .part]
        return LogEntry(
            kinds[kind] ?? .batch,
            epoch: epoch,
            base: base,
            count: count,
            writer: Incarnation(node: NodeID(2), number: 0xA1B2_C3D4_E5F6_0718),
            number: number,
            payload: bytes(payload)
        )
    }
}

extension CommitFacts: Sendable {}

@Suite("entries of a replicated log")
struct EntryTests {
    @Test("have the bytes that the page says, and are decoded from them")
    func examples() throws {
        var chain = LogChain.start
        for example in EntryCase.all {
            let (encoded, next) = example.value.encoded(after: chain)
            #expect(encoded == bytes(example.entry), "\(example.name)")
            #expect(next.bytes == bytes(example.chain), "\(example.name)")
            #expect(try LogEntry(decoding: encoded) == example.value, "\(example.name)")
            chain = next
        }
    }

    @Test("hold their commits, also over several parts")
    func commits() throws {
        var replay = LogReplay()
        for (index, example) in EntryCase.all.enumerated() {
            let decision = replay.read(bytes(example.entry), at: UInt64(index + 1))
            switch (example.kind, decision) {
            case ("claim", .claim), ("part", .part): #expect(example.commits.isEmpty)
            case ("batch", .commits(let records)):
                #expect(records.map { CommitFacts($0) } == example.commits, "\(example.name)")
            default: Issue.record("\(example.name): \(decision)")
            }
        }
        #expect(replay.mark.commit == 3)
        #expect(replay.mark == replay.last)
    }

    @Test("with one bit changed are never taken for entries", arguments: EntryCase.all)
    func flippedBits(example: EntryCase) throws {
        let intact = bytes(example.entry)
        for bit in 0..<intact.count * 8 {
            var changed = intact
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: EntryFault.self, "bit \(bit)") { try LogEntry(decoding: changed) }
        }
    }

    @Test("that are cut or have more behind them are no entries", arguments: EntryCase.all)
    func cuts(example: EntryCase) throws {
        let intact = bytes(example.entry)
        for count in 0..<intact.count {
            #expect(throws: EntryFault.self, "\(count) bytes") {
                try LogEntry(decoding: Array(intact[..<count]))
            }
        }
        #expect(throws: EntryFault.self) { try LogEntry(decoding: intact + [0]) }
    }

    /// An entry with some bytes changed and the checksum right.
    private static func sealed(_ change: (inout [UInt8]) -> Void) -> [UInt8] {
        var changed = bytes(EntryCase.all[1].entry)
        change(&changed)
        let sum = (changed[..<96] + changed[100...]).withUnsafeBytes { CRC32C.update(0, $0) }
        for index in 0..<4 { changed[96 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
        return changed
    }

    @Test("that another version wrote are distinguished from damaged ones")
    func otherVersions() throws {
        let cases: [(index: Int, value: UInt8, fault: EntryFault)] = [
            (4, 2, .unknownFormat(2)), (5, 0, .unknownKind(0)), (5, 4, .unknownKind(4)),
            (6, 1, .unknownFlags(1)), (7, 1, .unknownFlags(256)), (56, 1, .unknownFlags(0)),
        ]
        for (index, value, fault) in cases {
            let changed = Self.sealed { $0[index] = value }
            #expect(throws: fault) { try LogEntry(decoding: changed) }
            #expect(fault.isOfAnotherVersion)
        }
        #expect(!EntryFault.checksum.isOfAnotherVersion)
    }

    @Test("that no server writes are refused")
    func impossible() {
        // A batch, claim or part with the count 0 or 2, whose payload has 43 bytes.
        let cases: [(kind: UInt8, count: UInt8, isPossible: Bool)] = [
            (1, 2, true), (1, 0, false), (2, 0, false), (3, 0, true), (3, 2, false),
        ]
        for (kind, count, isPossible) in cases {
            let changed = Self.sealed { ($0[5], $0[24]) = (kind, count) }
            let isTaken = (try? LogEntry(decoding: changed)) != nil
            #expect(isTaken == isPossible, "\(kind) \(count)")
        }
        let (empty, _) = LogEntry(
            .part,
            epoch: 1,
            base: 0,
            writer: Incarnation(node: NodeID(1), number: 1),
            number: 1
        ).encoded(after: .start)
        #expect(throws: EntryFault.self) { try LogEntry(decoding: empty) }
    }
}

@Suite("lists of commits")
struct CommitCoderTests {
    private static func list() throws -> [UInt8] {
        var list: [UInt8] = []
        CommitCoder.append(try commit(1, time: .max, payload: [1, 2, 3]), to: &list)
        CommitCoder.append(try commit(.max, of: "other", time: .min, payload: []), to: &list)
        return list
    }

    @Test("come back as they were")
    func roundTrip() throws {
        let records = try CommitCoder.decode(Self.list(), count: 2).map { CommitFacts($0) }
        #expect(
            records.map(\.description) == [
                "a 1 9223372036854775807 010203",
                "other 18446744073709551615 -9223372036854775808 ",
            ]
        )
    }

    @Test("have as many bytes as they say")
    func byteCounts() throws {
        for record in try [commit(1), commit(2, of: "a long name", payload: [])] {
            var list: [UInt8] = []
            CommitCoder.append(record, to: &list)
            #expect(list.count == CommitCoder.byteCount(of: record))
        }
    }

    @Test("that are cut, too long or of another count are refused")
    func wrongLengths() throws {
        let list = try Self.list()
        for count in 0..<list.count {
            #expect(throws: CommitListFault.self, "\(count) bytes") {
                try CommitCoder.decode(Array(list[..<count]), count: 2)
            }
        }
        #expect(throws: CommitListFault.tooLong(byteCount: 1)) {
            try CommitCoder.decode(list + [0], count: 2)
        }
        #expect(throws: CommitListFault.tooLong(byteCount: 26)) {
            try CommitCoder.decode(list, count: 1)
        }
        #expect(throws: CommitListFault.truncated(offset: list.count)) {
            try CommitCoder.decode(list, count: 3)
        }
    }

    @Test("refuse a commit without name or number")
    func names() throws {
        var list = try Self.list()
        for index in 2..<10 { list[index] = 0 }
        #expect(throws: CommitListFault.noNumber(offset: 0)) {
            try CommitCoder.decode(list, count: 2)
        }
        list = [0] + [UInt8](repeating: 0, count: 20)
        list[1] = 1
        #expect(throws: CommitListFault.badName(offset: 0)) {
            try CommitCoder.decode(list, count: 1)
        }
        list = [64] + [UInt8](repeating: 1, count: 64 + 16) + [0, 0, 0, 0]
        #expect(throws: CommitListFault.badName(offset: 0)) {
            try CommitCoder.decode(list, count: 1)
        }
    }
}

@Suite("beats")
struct BeatTests {
    private static let beat = Beat(
        .leaving,
        of: Incarnation(node: NodeID(3), number: .max),
        logID: 0x0102_0304_0506_0708,
        progress: LogProgress(epoch: 9, commit: 1 << 40),
        sequence: 77,
        checkpointed: 12,
        details: Beat.Details(
            clientAddress: "s-3.example.org:443",
            nodeAddress: "10.0.0.3:7400",
            rulesDigest: 42
        )
    )

    @Test("come back as they were")
    func roundTrip() {
        let encoded = Self.beat.encoded
        #expect(Beat(decoding: encoded) == Self.beat)
        // "RTBT", format, role, two lengths, and the id of the log.
        #expect(
            encoded.prefix(16) == [
                0x52, 0x54, 0x42, 0x54, 1, 3, 19, 13, 8, 7, 6, 5, 4, 3, 2, 1,
            ]
        )
        #expect(encoded.count == 72 + 19 + 13 + 4)
    }

    @Test("with one bit changed, cut or longer are ignored")
    func damage() {
        let intact = Self.beat.encoded
        for bit in 0..<intact.count * 8 {
            var changed = intact
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(Beat(decoding: changed) == nil, "bit \(bit)")
        }
        for count in 0..<intact.count {
            #expect(Beat(decoding: Array(intact[..<count])) == nil, "\(count) bytes")
        }
        #expect(Beat(decoding: intact + [0]) == nil)
    }
}
