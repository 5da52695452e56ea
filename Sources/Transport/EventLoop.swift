import CTransport
import Glibc
import Synchronization

/// The one event loop of the process: the thread that owns every socket and all server state.
///
/// A turn is: wait for the network, run the callbacks, run what other threads enqueued, run due
/// timers, go on with input that had to wait, destroy what has died, tell the applications that the
/// turn ends, send what is queued.
/// Several listeners may share it. It starts once, with `run` or `startThread`, and ends with `stop`.
///
/// `@unchecked Sendable`: `jobs`, `isWoken` and `phase` synchronise themselves; everything else is
/// isolated to `LoopActor`, that is, to the loop thread.
package final class EventLoop: SerialExecutor, @unchecked Sendable {
    /// The loop of this process.
    package static let shared = EventLoop()

    /// Descriptors the process may open: the connection limit and room for files.
    ///
    /// Debian's libwebsockets is built with its self-checks: closing a socket walks a table
    /// of this many entries, so a generous number costs time on every close.
    private static let descriptorLimit: Int32 = 65_536

    /// A turn that takes longer is counted as slow.
    private static let slowTurnNanoseconds: UInt64 = 50_000_000

    private enum Job {
        case executor(UnownedJob)
        case closure(@Sendable @LoopActor () -> Void)
    }

    private struct Inbox {
        var jobs: [Job] = []
        var isStopping = false
        var hasStarted = false
    }

    /// The C loop, while other threads may wake it.
    private struct Bell {
        nonisolated(unsafe) var loop: OpaquePointer?
    }

    private let inbox = Mutex(Inbox())
    /// Apart from the inbox: a loop that wakes at once must not find its inbox locked by the waker.
    private let bell = Mutex(Bell())
    private let isWoken = Atomic<Bool>(false)
    /// The loop thread, for `checkIsolated` without taking the lock. Written once.
    private let thread = Atomic<UInt>(0)

    @LoopActor var loop: OpaquePointer?
    @LoopActor private var timers = TimerQueue()
    @LoopActor private var signalBodies: [Int32: @LoopActor () -> Void] = [:]
    @LoopActor var listeners: [Listener] = []
    @LoopActor let flusher = Flusher()
    /// Where small items are joined for one send. Owned by the loop, for ever.
    @LoopActor let scratch = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 64 * 1024)
    @LoopActor private var alarmTime: UInt64 = .max
    /// When the callbacks of this turn began; 0 while waiting.
    @LoopActor private var turnStart: UInt64 = 0
    /// When the work under way must let other work go on.
    @LoopActor private var shareEnd: UInt64 = 0
    /// The connection that last gave a message, and when it was last another one than before.
    @LoopActor private var lastTaker: UInt64 = 0
    @LoopActor private var lastChangeOfTaker: UInt64 = 0
    /// Taken from the inbox and not run yet, from `nextJob` on.
    @LoopActor private var jobs: [Job] = []
    @LoopActor private var nextJob = 0
    /// Monotonic nanoseconds, read at least once a turn.
    @LoopActor private(set) var now: UInt64 = 0
    @LoopActor private var recentTurns = RecentMaximum()
    /// What the loop has done since it started.
    @LoopActor package private(set) var counters = LoopCounters()

    private init() {}

    // MARK: Executor

    /// Runs a job of the Swift runtime on the loop. Any thread.
    package func enqueue(_ job: consuming ExecutorJob) {
        add(.executor(UnownedJob(job)))
    }

    /// Stops the process when the calling thread is not the loop's.
    package func checkIsolated() {
        precondition(isLoopThread, "only the loop thread may do this")
    }

    /// Whether the calling thread is the loop's.
    package func isIsolatingCurrentContext() -> Bool? {
        isLoopThread
    }

    /// Runs `job` on the loop, after the callbacks of the current turn. Any thread.
    ///
    /// What is enqueued before the loop starts runs when it starts; after it ended, never.
    package func enqueue(_ job: @escaping @Sendable @LoopActor () -> Void) {
        add(.closure(job))
    }

    /// Makes the loop go round once. Any thread; many calls cost one wake.
    package func wake() {
        guard !isWoken.exchange(true, ordering: .acquiringAndReleasing) else { return }
        bell.withLock { bell in
            if let loop = bell.loop { hearth_loop_wake(loop) }
        }
    }

    private var isLoopThread: Bool {
        UInt(pthread_self()) == thread.load(ordering: .relaxed)
    }

    private func add(_ job: Job) {
        inbox.withLock { $0.jobs.append(job) }
        wake()
    }

    // MARK: Life

    /// Runs the loop on the calling thread until `stop`, calling `start` first.
    ///
    /// - Throws: `TransportError.loopUnavailable`, or what `start` throws; the loop has ended then.
    package func run(_ start: @LoopActor () throws -> Void) throws {
        precondition(claimStart(), "the event loop starts once")
        try begin()
        defer { LoopActor.assume { end() } }
        try LoopActor.assume { try start() }
        LoopActor.assume { turnUntilStopped() }
    }

    /// Runs the loop on a thread of its own. Harmless when it runs already.
    ///
    /// For tests and tools; a failure to start stops the process with its reason.
    package func startThread() {
        guard claimStart() else { return }
        var handle = pthread_t()
        let failure = pthread_create(
            &handle,
            nil,
            { _ in
                EventLoop.shared.runDetached()
                return nil
            },
            nil
        )
        precondition(failure == 0, "the loop thread must start")
        pthread_detach(handle)
    }

    /// Ends the loop after its current turn. Sockets still open are cut. Any thread.
    package func stop() {
        inbox.withLock { $0.isStopping = true }
        wake()
    }

    private func runDetached() {
        do {
            try begin()
        } catch {
            preconditionFailure("\(error)")
        }
        LoopActor.assume {
            turnUntilStopped()
            end()
        }
    }

    private func claimStart() -> Bool {
        inbox.withLock { inbox in
            defer { inbox.hasStarted = true }
            return !inbox.hasStarted
        }
    }

    private func begin() throws(TransportError) {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        TransportLog.install()
        var callbacks = Self.callbacks
        var reason = [CChar](repeating: 0, count: Int(HEARTH_REASON_SIZE))
        guard let created = hearth_loop_create(&callbacks, Self.descriptorLimit, &reason) else {
            throw .loopUnavailable(reason: text(reason))
        }
        nonisolated(unsafe) let loop = created
        bell.withLock { $0.loop = loop }
        // What was enqueued before there was a loop to wake must not wait for the network.
        hearth_loop_wake(loop)
        LoopActor.assume {
            self.loop = loop
            now = monotonicNanoseconds()
        }
    }

    @LoopActor
    private func end() {
        for listener in listeners { listener.cut() }
        flusher.reap()
        for listener in listeners { listener.close() }
        timers.removeAll()
        signalBodies = [:]
        bell.withLock { $0.loop = nil }
        guard let loop else { return }
        self.loop = nil
        let leftOver = hearth_loop_destroy(loop)
        precondition(leftOver == 0, "every handle of the loop closes with it")
    }

    // MARK: Turning

    @LoopActor
    private func turnUntilStopped() {
        var mayWait = true
        while let loop, !inbox.withLock({ $0.isStopping }) {
            setAlarm()
            turnStart = 0
            hearth_loop_turn(loop, mayWait && !flusher.hasWork)
            beginWork()
            mayWait = !runJobs()
            runTimers()
            flusher.settle()
            for listener in listeners { listener.application?.turnEnded() }
            if flusher.flush() { counters.flushSliceCount += 1 }
            noteTurn()
        }
    }

    @LoopActor
    private func noteTurn() {
        counters.turnCount += 1
        let end = monotonicNanoseconds()
        let elapsed = end - turnStart
        counters.longestTurnNanoseconds = max(counters.longestTurnNanoseconds, elapsed)
        if elapsed > Self.slowTurnNanoseconds { counters.slowTurnCount += 1 }
        recentTurns.note(elapsed, at: end)
    }

    /// The longest turn of the last minute, in nanoseconds.
    @LoopActor
    package var longestRecentTurnNanoseconds: UInt64 {
        recentTurns.value(at: monotonicNanoseconds())
    }

    /// Notes the time of the first callback of a turn: waiting before it is no work.
    @LoopActor
    func beginWork() {
        guard turnStart == 0 else { return }
        now = monotonicNanoseconds()
        turnStart = now
        shareEnd = now + TurnLimits.share.nanoseconds
    }

    /// Gives the work that now begins a share of the turn of its own.
    @LoopActor
    func beginShare() {
        shareEnd = monotonicNanoseconds() + TurnLimits.share.nanoseconds
    }

    /// Notes that a connection gives messages in this turn.
    @LoopActor
    func noteTaker(_ id: UInt64) {
        guard id != lastTaker else { return }
        lastTaker = id
        lastChangeOfTaker = now
    }

    /// Whether more than one connection had messages of late.
    @LoopActor
    var isContended: Bool {
        lastChangeOfTaker != 0 && now < lastChangeOfTaker + TurnLimits.contention.nanoseconds
    }

    /// Whether the work under way has taken its share of the turn, and the rest of it must wait.
    @LoopActor
    var isShareSpent: Bool { monotonicNanoseconds() >= shareEnd }

    /// Runs what was enqueued before now, as far as its share of the turn goes. Returns whether there
    /// is more already.
    @LoopActor
    private func runJobs() -> Bool {
        if nextJob == jobs.count {
            isWoken.store(false, ordering: .sequentiallyConsistent)
            inbox.withLock { swap(&$0.jobs, &jobs) }
            guard !jobs.isEmpty else { return false }
        }
        beginShare()
        while nextJob < jobs.count {
            let job = jobs[nextJob]
            nextJob += 1
            switch job {
            case .executor(let job): job.runSynchronously(on: asUnownedSerialExecutor())
            case .closure(let body): body()
            }
            if nextJob < jobs.count, isShareSpent { return true }
        }
        // At once, since jobs hold on to what they were given.
        jobs.removeAll(keepingCapacity: jobs.count < 1024)
        nextJob = 0
        return inbox.withLock { !$0.jobs.isEmpty }
    }

    @LoopActor
    private func runTimers() {
        now = monotonicNanoseconds()
        while let due = timers.popDue(now: now) { due.fire(now: now) }
    }

    @LoopActor
    private func setAlarm() {
        let next = timers.earliestDueTime ?? .max
        let now = monotonicNanoseconds()
        // libuv counts milliseconds and may ring one early: near its time the alarm is set anew.
        guard next != alarmTime || next <= now + 2_000_000 else { return }
        alarmTime = next
        guard let loop else { return }
        guard next != .max else {
            hearth_loop_set_alarm(loop, -1)
            return
        }
        // Rounded up, so that the timer is due when the alarm rings.
        hearth_loop_set_alarm(loop, next > now ? Int64((next - now + 999_999) / 1_000_000) : 0)
    }

    // MARK: Timers and signals

    /// From the first callback of this turn to a time in it, of the monotonic clock.
    @LoopActor
    package func turnNanoseconds(before time: UInt64) -> UInt64 {
        time > turnStart && turnStart > 0 ? time - turnStart : 0
    }

    /// Calls `body` once, `delay` from now.
    @LoopActor @discardableResult
    package func after(
        _ delay: Duration,
        _ body: @escaping @LoopActor () -> Void
    ) -> LoopTimer {
        let call = TimedCall(period: nil, body: body)
        schedule(call, at: monotonicNanoseconds() + delay.nanoseconds)
        return LoopTimer(call)
    }

    /// Calls `body` every `period`, first one period from now. Late periods are skipped.
    @LoopActor @discardableResult
    package func every(
        _ period: Duration,
        _ body: @escaping @LoopActor () -> Void
    ) -> LoopTimer {
        let call = TimedCall(period: max(period.nanoseconds, 1), body: body)
        schedule(call, at: monotonicNanoseconds() + period.nanoseconds)
        return LoopTimer(call)
    }

    /// Calls `body` on the loop whenever the process gets the signal; a later body replaces it.
    @LoopActor
    package func onSignal(_ number: Int32, _ body: @escaping @LoopActor () -> Void) {
        guard let loop else { return }
        let isNew = signalBodies.updateValue(body, forKey: number) == nil
        guard isNew else { return }
        let failure = hearth_loop_on_signal(loop, number)
        precondition(failure == 0, "the signal can be watched")
    }

    @LoopActor
    func signalled(_ number: Int32) {
        signalBodies[number]?()
    }

    @LoopActor
    func schedule(_ item: Timed, at time: UInt64) {
        timers.schedule(item, at: time)
    }

    @LoopActor
    func unschedule(_ item: Timed) {
        timers.remove(item)
    }
}

/// Nanoseconds of the monotonic clock.
func monotonicNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// The text before the NUL of a C buffer.
func text(_ buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
