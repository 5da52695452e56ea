import DatabaseCore
import EventProtocol
import JSONTree
import Synchronization
import Transport
import WireProtocol

/// A thread for sums that would hold the loop.
///
/// Work that can be cut (lengths of large values) is done in slices, between other work that has
/// arrived, so that a small value does not wait for the length of a huge one.
final class Worker: Sendable {
    enum Job: Sendable {
        /// Learns how long a message is, up to a limit of bytes; nil when it is longer.
        case measure(StreamedMessage, byteLimit: Int, @Sendable (StreamedMessage?) -> Void)
        /// The same for the plain event protocol.
        case measureEvent(StreamedEvent, byteLimit: Int, @Sendable (StreamedEvent?) -> Void)
        /// The bytes of a text that is written piece by piece, up to a limit; nil when there are more.
        case count(TextCount, byteLimit: Int, @Sendable (Int?) -> Void)
        /// Anything else.
        case read(@Sendable () -> Void)
        /// Lets go of the last reference to a node, after it has said how many bytes the node takes.
        case release(Node, @Sendable (Int) -> Void)
    }

    /// What a worker has done since it began.
    struct Figures: Sendable {
        /// Jobs that wait, the one under way included.
        var waiting = 0
        var done = 0
        /// The longest that one job, or one slice of a job, took.
        var longestNanoseconds: UInt64 = 0

        /// Those of several workers together.
        static func of(_ workers: [Worker]) -> Figures {
            var sum = Figures()
            for figures in workers.map(\.figures) {
                sum.waiting += figures.waiting
                sum.done += figures.done
                sum.longestNanoseconds = max(sum.longestNanoseconds, figures.longestNanoseconds)
            }
            return sum
        }
    }

    /// Bytes whose length is found out before the next job goes first: some 10 ms.
    private static let sliceByteCount = 4 << 20

    private let mailbox: Mailbox<Job>
    private let thread: WorkThread
    private let tally = Tally()

    /// Counted by the poster and by the thread, read by the metrics.
    private final class Tally: Sendable {
        let posted = Atomic<Int>(0)
        let done = Atomic<Int>(0)
        let longest = Atomic<UInt64>(0)
    }

    /// - Parameter jobLimit: jobs that may wait.
    init(jobLimit: Int) {
        let mailbox = Mailbox<Job>(limit: jobLimit)
        self.mailbox = mailbox
        let tally = tally
        thread = WorkThread { Worker.run(mailbox, tally) }
    }

    /// Whether the job was taken; its outcome then comes on the worker's thread.
    @discardableResult
    func post(_ job: Job) -> Bool {
        let isTaken = mailbox.post(job)
        if isTaken { tally.posted.add(1, ordering: .relaxed) }
        return isTaken
    }

    /// Does `work` on the worker's thread, and then `done` on the loop. Returns whether there is room for it.
    func perform<Outcome: Sendable>(
        _ work: @escaping @Sendable () -> Outcome,
        then done: @escaping @LoopActor (Outcome) -> Void
    ) -> Bool {
        post(
            .read {
                let outcome = work()
                EventLoop.shared.enqueue { done(outcome) }
            }
        )
    }

    /// What the worker has done so far.
    var figures: Figures {
        let done = tally.done.load(ordering: .relaxed)
        return Figures(
            // The thread may have done a job before its poster has counted it.
            waiting: max(0, tally.posted.load(ordering: .relaxed) - done),
            done: done,
            longestNanoseconds: tally.longest.load(ordering: .relaxed)
        )
    }

    /// Finishes what waits, then ends the thread.
    func stop() {
        mailbox.close()
        thread.join()
    }

    // MARK: - On the worker's thread

    private static func run(_ mailbox: Mailbox<Job>, _ tally: Tally) {
        var arrived: [Job] = []
        var unfinished: [Job] = []
        while mailbox.takeAll(&arrived, waits: unfinished.isEmpty) || !unfinished.isEmpty {
            let earlier = unfinished
            unfinished = []
            for job in earlier { advance(job, tally, &unfinished) }
            for job in arrived { advance(job, tally, &unfinished) }
        }
    }

    private static func advance(_ job: Job, _ tally: Tally, _ unfinished: inout [Job]) {
        let start = Clock.monotonicNanoseconds()
        let rest = perform(job)
        let elapsed = Clock.monotonicNanoseconds() - start
        // Only this thread stores it.
        if elapsed > tally.longest.load(ordering: .relaxed) {
            tally.longest.store(elapsed, ordering: .relaxed)
        }
        if let rest {
            unfinished.append(rest)
        } else {
            tally.done.add(1, ordering: .relaxed)
        }
    }

    /// Does a job, or a slice of it; what is left goes behind the other jobs.
    private static func perform(_ job: Job) -> Job? {
        switch job {
        case .measure(var message, let byteLimit, let report):
            do throws(StreamedMessage.TooBig) {
                let isMeasured = try message.measure(atLeast: sliceByteCount)
                if message.byteCount > byteLimit {
                    report(nil)
                } else if isMeasured {
                    report(message)
                } else {
                    return .measure(message, byteLimit: byteLimit, report)
                }
            } catch {
                // Longer than clients of this protocol can take.
                report(nil)
            }
        case .measureEvent(var message, let byteLimit, let report):
            do throws(StreamedEvent.TooBig) {
                let isMeasured = try message.measure(byteLimit: byteLimit, atLeast: sliceByteCount)
                if !isMeasured { return .measureEvent(message, byteLimit: byteLimit, report) }
                report(message)
            } catch {
                report(nil)
            }
        case .count(var count, let byteLimit, let report):
            let isCounted = count.advance(atLeast: sliceByteCount)
            if count.byteCount > byteLimit {
                report(nil)
            } else if isCounted {
                report(count.byteCount)
            } else {
                return .count(count, byteLimit: byteLimit, report)
            }
        case .read(let body): body()
        case .release(let node, let report):
            // The reference goes with the job.
            report(node.encodingByteCount)
        }
        return nil
    }
}

/// Whether a request still waits for a piece of long work: set on the loop, read by the worker.
final class WorkTicket: Sendable {
    private let cancelled = Atomic<Bool>(false)

    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    func cancel() { cancelled.store(true, ordering: .relaxed) }
}

/// The length of a text that is made piece by piece, as far as it is known.
struct TextCount: Sendable {
    private var source: any PiecewiseText
    private(set) var byteCount = 0

    init(_ source: any PiecewiseText) {
        self.source = source
    }

    /// Goes on by so many bytes. Returns whether the end was reached.
    mutating func advance(atLeast target: Int) -> Bool {
        var chunk: [UInt8] = []
        var left = target
        while left > 0 {
            chunk.removeAll(keepingCapacity: true)
            let isMore = source.next(into: &chunk, atLeast: min(left, 256 * 1024))
            byteCount += chunk.count
            left -= chunk.count
            if !isMore { return true }
        }
        return false
    }
}

/// The threads that do the loop's long sums, each for work of one kind, so that short work never waits for long.
struct Workers: Sendable {
    /// Signatures of tokens: a tenth of a millisecond each.
    let credentials = Worker(jobLimit: 100_000)
    /// Hashes of passwords: 100 to 500 ms each, so that few may wait (`PasswordQueue`).
    let passwords = Worker(jobLimit: PasswordQueue.developmentLimit)
    /// Lengths of large values, in slices, and giving memory back: that of large trees, and to the system.
    let values = Worker(jobLimit: 100_000)
    /// Large messages and bodies on their way in: up to seconds each. `ReadingService` gives them their jobs.
    let reading = (0..<ReadingService.readerCount).map { _ in Worker(jobLimit: 2) }
    /// Answers on their way out, in slices of some milliseconds.
    let compressing = Worker(jobLimit: 100_000)
    /// What the engine asks for (`Effect.work`): indexes, hashes, comparisons, up to seconds each.
    let jobs = Worker(jobLimit: 10_000)
    /// Exports and pieces of backups: long, and only their own request waits.
    let archives = Worker(jobLimit: 64)
    /// Bytes of files to and from the disk, in pieces; each upload and download stays with one of them.
    let files = (0..<FileDisk.workerCount).map { _ in Worker(jobLimit: 10_000) }

    /// Those of each kind, with the name that metrics show.
    var byKind: [(kind: String, workers: [Worker])] {
        [
            ("credentials", [credentials]), ("passwords", [passwords]), ("values", [values]),
            ("reading", reading), ("compressing", [compressing]), ("jobs", [jobs]),
            ("archives", [archives]), ("files", files),
        ]
    }

    /// Finishes what waits, then ends the threads.
    func stop() {
        for worker in byKind.flatMap(\.workers) { worker.stop() }
    }
}
