package import ClusterLog

/// An engine that keeps a replicated log, in memory, and does by a seed what real ones do on bad days.
///
/// It delays, refuses, forgets answers, stores late or twice, loses links, elects while nothing is stored, and goes
/// back in time. Each node has a `SimulatedLink`, whose news keep their order, as on one connection.
package final class SimulatedReplicatedLog {
    /// What goes wrong, in parts of a thousand, and how long it takes, in microseconds.
    package struct Faults: Sendable {
        /// Whether an append is stored only after the entry that it expects.
        package var checksConditions = true
        /// A message takes from the first of these up to the second.
        package var latency = 200..<3_000
        /// Answers to appends that are lost.
        package var lostAnswers = 0
        /// Appends that are stored after their outcome was called unknown.
        package var lateAppends = 0
        /// Appends that are stored once more later, whatever they expect.
        package var copies = 0
        /// Appends that overtake earlier ones.
        package var overtaking = 0
        /// Beats that are lost.
        package var lostBeats = 0

        /// None.
        package init() {}
    }

    let time: SimulatedTime
    var random: SplitMix64
    /// What goes wrong from now on.
    package var faults: Faults
    /// Every entry that the log holds, trimmed ones too.
    package private(set) var entries: [[UInt8]] = []
    /// The first entry that was not trimmed.
    package private(set) var first: UInt64 = 1
    private var links: [SimulatedLink] = []
    /// Nothing is stored or said before.
    private var electsUntil = 0
    /// Pairs of nodes whose beats do not arrive, as sender and receiver.
    private var silent: Set<[Int]> = []

    /// Makes an empty log.
    package init(time: SimulatedTime, seed: UInt64, faults: Faults = Faults()) {
        self.time = time
        self.faults = faults
        random = SplitMix64(state: seed)
    }

    /// The last entry; 0 in an empty log.
    package var last: UInt64 { UInt64(entries.count) }

    /// Whether it elects, and stores nothing.
    package var isElecting: Bool { time.now < electsUntil }

    /// Connects a process of a node; its link comes up by itself.
    package func connect(
        node: Int,
        _ receive: @escaping (LogNews) throws -> Void
    ) -> SimulatedLink {
        let link = SimulatedLink(self, node: node, receive)
        links.append(link)
        time.after(delay()) { try link.comeUp() }
        return link
    }

    /// Forgets the link of a process that has ended. What it has sent may be stored all the same.
    package func disconnect(_ link: SimulatedLink) {
        link.end()
        links.removeAll { $0 === link }
    }

    /// Stores nothing and answers nothing for a while, as without a leader.
    package func elect(for duration: Int) { electsUntil = max(electsUntil, time.now + duration) }

    /// Loses beats between two nodes, in one direction, until `hearAll`.
    package func silence(from sender: Int, to receiver: Int) { silent.insert([sender, receiver]) }

    /// Delivers beats of all nodes again.
    package func hearAll() { silent = [] }

    /// Loses every entry behind one, and all links for a while.
    package func goBack(to last: UInt64) {
        precondition(last + 1 >= first, "what was trimmed cannot come back")
        entries.removeSubrange(Int(last)...)
        for link in links { link.cut(for: 100_000 + number(below: 900_000)) }
    }

    // MARK: - What links ask for

    func number(below bound: Int) -> Int { Int(random.next(below: bound)) }

    func happens(_ parts: Int) -> Bool { number(below: 1000) < parts }

    func delay() -> Int {
        faults.latency.lowerBound + number(below: faults.latency.count)
    }

    /// Does something once there is a leader.
    func whenElected(_ work: @escaping () throws -> Void) {
        time.at(max(time.now, electsUntil), work)
    }

    /// An append arrives. `answer` is given its outcome, and nothing when the answer is lost.
    func take(
        _ entry: [UInt8],
        expecting expected: UInt64,
        answer: @escaping (SimulatedOutcome) throws -> Void
    ) throws {
        if isElecting {
            // Half of what came meanwhile is stored by the next leader, long after the sender has given up.
            guard happens(500) else { return }
            return whenElected { try self.take(entry, expecting: expected) { _ in } }
        }
        if happens(faults.lateAppends) {
            let late = 500_000 + number(below: 3_000_000)
            return time.after(late) { try self.take(entry, expecting: expected) { _ in } }
        }
        guard !faults.checksConditions || expected == last else {
            return try answer(.refused(last: last))
        }
        try store(entry)
        if happens(faults.copies) {
            time.after(number(below: 2) * number(below: 3_000_000)) { try self.store(entry) }
        }
        if !happens(faults.lostAnswers) { try answer(.stored(last)) }
    }

    private func store(_ entry: [UInt8]) throws {
        entries.append(entry)
        for link in links { link.deliver() }
    }

    func purge(through sequence: UInt64) {
        first = max(first, min(sequence, last) + 1)
    }

    func beat(_ bytes: [UInt8], of sender: Int) {
        for link in links where !silent.contains([sender, link.node]) {
            if link.node != sender, happens(faults.lostBeats) { continue }
            link.say(.beat(bytes))
        }
    }
}

/// What becomes of an append that is answered.
enum SimulatedOutcome {
    case stored(UInt64)
    case refused(last: UInt64)
}

/// The connection of one process to a `SimulatedReplicatedLog`.
package final class SimulatedLink: ReplicatedLog {
    private let log: SimulatedReplicatedLog
    let node: Int
    private let receive: (LogNews) throws -> Void
    private var isUp = false
    private var hasEnded = false
    /// Counts how often the link was cut: what was on its way then is lost.
    private var cuts = 0
    /// When what was sent last arrives.
    private var arrivesAt = 0
    /// When what was said last arrives here.
    private var heardAt = 0
    /// Appends without an outcome, and when they count as unknown.
    private var unanswered: [UInt64] = []
    /// The next entry of the tail; nil without a tail.
    private var next: UInt64?
    /// Entries wait until then.
    private var slowUntil = 0
    /// Appends that have not arrived.
    package private(set) var onTheWayCount = 0
    /// The next entry that is delivered has a bit changed.
    package var damagesNext = false

    /// Microseconds after which an append without an answer counts as unknown.
    private static let answerLimit = 2_000_000

    init(
        _ log: SimulatedReplicatedLog,
        node: Int,
        _ receive: @escaping (LogNews) throws -> Void
    ) {
        self.log = log
        self.node = node
        self.receive = receive
    }

    // MARK: - Trouble

    /// Loses the link for a while, with all that is on its way here, and half of what is on its way there.
    package func cut(for duration: Int) {
        guard !hasEnded else { return }
        isUp = false
        cuts += 1
        let life = cuts
        next = nil
        let lost = unanswered
        unanswered = []
        // Said by the process itself, without a link.
        log.time.after(0) {
            guard !self.hasEnded else { return }
            try self.receive(.link(isUp: false))
            for number in lost { try self.receive(.unknown(number: number)) }
        }
        log.time.after(duration) { if self.cuts == life { try self.comeUp() } }
    }

    /// Holds entries back for a while.
    package func slowDown(for duration: Int) {
        slowUntil = log.time.now + duration
        log.time.at(slowUntil) { self.deliver() }
    }

    func comeUp() throws {
        guard !hasEnded, !isUp else { return }
        isUp = true
        heardAt = log.time.now
        try receive(.link(isUp: true))
        sayBounds()
    }

    func end() {
        hasEnded = true
        isUp = false
        cuts += 1
        next = nil
    }

    // MARK: - What the process asks for

    package func append(_ entry: [UInt8], number: UInt64, expecting last: UInt64) {
        guard isUp else {
            log.time.after(0) { if !self.hasEnded { try self.receive(.unknown(number: number)) } }
            return
        }
        unanswered.append(number)
        onTheWayCount += 1
        let life = cuts
        send(isOvertaking: log.happens(log.faults.overtaking)) {
            self.onTheWayCount -= 1
            if self.cuts != life, self.log.happens(500) { return }
            try self.log.take(entry, expecting: last) { outcome in
                guard self.cuts == life else { return }
                self.unanswered.removeAll { $0 == number }
                switch outcome {
                case .stored(let sequence): self.say(.stored(number: number, sequence: sequence))
                case .refused(let last): self.say(.refused(number: number, last: last))
                }
            }
        }
        log.time.after(Self.answerLimit) {
            guard self.cuts == life, self.unanswered.contains(number) else { return }
            self.unanswered.removeAll { $0 == number }
            try self.receive(.unknown(number: number))
        }
    }

    package func tail(from sequence: UInt64) {
        guard isUp else { return }
        let life = cuts
        send(isOvertaking: false) {
            self.log.whenElected {
                guard self.cuts == life else { return }
                self.next = max(sequence, self.log.first)
                self.sayBounds()
                self.deliver()
            }
        }
    }

    package func purge(through sequence: UInt64) {
        guard isUp else { return }
        send(isOvertaking: false) { self.log.purge(through: sequence) }
    }

    package func beat(_ bytes: [UInt8]) {
        guard isUp else { return }
        send(isOvertaking: false) { self.log.beat(bytes, of: self.node) }
    }

    private func send(isOvertaking: Bool, _ work: @escaping () throws -> Void) {
        let arrival = log.time.now + log.delay()
        if !isOvertaking { arrivesAt = max(arrivesAt, arrival) }
        log.time.at(isOvertaking ? arrival : arrivesAt, work)
    }

    // MARK: - What the process is given

    /// Sends the entries of the tail that were not sent.
    func deliver() {
        guard log.time.now >= slowUntil else { return }
        while let wanted = next, wanted <= log.last {
            let sequence = max(wanted, log.first)
            var bytes = log.entries[Int(sequence) - 1]
            if damagesNext {
                damagesNext = false
                bytes[log.number(below: bytes.count)] ^= UInt8(1 << log.number(below: 8))
            }
            next = sequence + 1
            say(.entry(sequence: sequence, bytes: bytes))
        }
    }

    private func sayBounds() {
        let life = cuts
        log.whenElected {
            guard self.cuts == life else { return }
            self.say(.bounds(first: self.log.first, last: self.log.last))
        }
    }

    func say(_ news: LogNews) {
        guard isUp else { return }
        heardAt = max(heardAt, log.time.now + log.delay())
        let life = cuts
        log.time.at(heardAt) { if self.cuts == life { try self.receive(news) } }
    }
}
