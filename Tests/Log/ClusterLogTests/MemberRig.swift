import WriteAheadLog

@testable import ClusterLog

/// A generator that gives one number for ever.
struct OneNumber: RandomNumberGenerator {
    let number: UInt64

    mutating func next() -> UInt64 { number }
}

/// One member over a log of entries that the test writes, and what the member has asked for.
struct MemberRig {
    static let details = Beat.Details(clientAddress: "c", nodeAddress: "n", rulesDigest: 7)

    private(set) var member: ClusterMember
    private(set) var now = Duration.zero
    /// Every effect since `takeLines`.
    private(set) var effects: [MemberEffect] = []
    /// What the engine holds.
    var entries: [[UInt8]] = []

    /// A member of node 1 whose link is up, with a silence of 2.5 s.
    init(
        from mark: LogMark = .start,
        options: ClusterOptions = ClusterOptions(),
        entries: [[UInt8]] = [],
        first: UInt64 = 1
    ) {
        member = ClusterMember(
            Incarnation(node: NodeID(1), number: 1),
            from: mark,
            details: Self.details,
            options: options,
            random: OneNumber(number: 512),
            at: now
        )
        self.entries = entries
        give(.news(.link(isUp: true)))
        deliver(from: max(first, max(1, mark.sequence)), first: first)
    }

    mutating func give(_ input: MemberInput) { effects += member.step(input, at: now) }

    mutating func give(_ news: LogNews) { give(.news(news)) }

    /// Lets time pass, with ticks of 50 ms.
    mutating func wait(_ milliseconds: Int) {
        for _ in 0..<milliseconds / 50 {
            now += .milliseconds(50)
            give(.tick)
        }
    }

    /// The bounds of the log, and its entries from one on.
    mutating func deliver(from sequence: UInt64, first: UInt64 = 1) {
        give(.bounds(first: first, last: UInt64(entries.count)))
        for index in Int(sequence) - 1..<max(Int(sequence) - 1, entries.count) {
            give(.entry(sequence: UInt64(index + 1), bytes: entries[index]))
        }
    }

    /// The engine stores an entry and delivers it.
    mutating func store(_ entry: [UInt8]) {
        entries.append(entry)
        give(.entry(sequence: UInt64(entries.count), bytes: entry))
    }

    /// The engine stores the entries that were sent and not taken, and delivers them.
    mutating func storeSent() { for entry in takeSent() { store(entry.bytes) } }

    /// Waits, claims, and owns the group.
    mutating func own() {
        wait(2_600)
        storeSent()
        _ = takeLines()
    }

    /// Entries that were sent since the last time; the other effects stay.
    mutating func takeSent() -> [LogAppend] {
        let sent = effects.compactMap { effect -> LogAppend? in
            guard case .append(let bytes, let number, let last) = effect else { return nil }
            return LogAppend(bytes: bytes, number: number, expected: last)
        }
        effects.removeAll {
            if case .append = $0 { true } else { false }
        }
        return sent
    }

    /// The effects since the last time, but beats, as lines of a journal.
    mutating func takeLines() -> [String] {
        defer { effects = [] }
        return effects.compactMap(\.line)
    }

    /// The beats since the last time; the other effects stay.
    mutating func takeBeats() -> [Beat] {
        let beats = effects.compactMap { effect -> Beat? in
            guard case .beat(let bytes) = effect else { return nil }
            return Beat(decoding: bytes)
        }
        effects.removeAll {
            if case .beat = $0 { true } else { false }
        }
        return beats
    }

    /// Another node's beat.
    mutating func hear(
        _ role: Beat.Role,
        node: UInt64 = 2,
        logID: UInt64? = nil,
        epoch: UInt64,
        commit: UInt64 = 0,
        checkpointed: UInt64 = 0
    ) {
        let beat = Beat(
            role,
            of: Incarnation(node: NodeID(node), number: 1),
            logID: logID ?? member.mark.logID,
            progress: LogProgress(epoch: epoch, commit: commit),
            sequence: 0,
            checkpointed: checkpointed,
            details: Self.details
        )
        give(.beat(beat.encoded))
    }

    /// The claim of another node on what this one has read.
    func claimOfOther(node: UInt64 = 2) -> [UInt8] {
        LogEntry(
            .claim,
            epoch: member.mark.epoch + 1,
            base: member.mark.commit,
            writer: Incarnation(node: NodeID(node), number: 1),
            number: 1
        ).encoded(after: member.mark.chain).bytes
    }
}
