import CTransport
import Glibc
import Synchronization

/// The one event loop of the process: the thread that owns every socket and all server state.
///
/// A tick: wait for the network, run the callbacks, run what other threads enqueued, run due timers, continue with
/// waiting input, destroy dead connections, call `tickEnded` of the applications, send what is queued.
///
/// Several listeners may share it. It starts once, with `run`, and ends with `stop`.
///
/// `@unchecked Sendable`: `jobs`, `isWoken` and `phase` synchronise themselves; everything else is isolated to
/// `LoopActor`, that is, to the loop thread.
package final class EventLoop: SerialExecutor, @unchecked Sendable {
    /// The loop of this process.
    package static let shared = EventLoop()

    /// Descriptors the process may open: the connection limit and room for files.
    ///
    /// libwebsockets makes a table of this many entries.
    private static let descriptorLimit: Int32 = 65_536

    /// A longer tick counts as slow.
    private static let slowTickNanoseconds: UInt64 = 50_000_000

    private enum Job {
        case executor(UnownedJob)
        case closure(@Sendable @LoopActor () -> Void)
    }

    private struct Inbox {
        var jobs: [Job] = []
        var isStopping = false
        var hasStarted = false
    }

    /// The C loop, as long as other threads may wake it.
    private struct Bell {
        nonisolated(unsafe) var loop: OpaquePointer?
    }

    private let inbox = Mutex(Inbox())
    /// Separate from the inbox: a loop that wakes at once must not wait for the waker's lock on the inbox.
    private let bell = Mutex(Bell())
    private let isWoken = Atomic<Bool>(false)
    /// The loop thread, for `checkIsolated` without taking the lock. Written once.
    private let thread = Atomic<UInt>(0)

    @LoopActor var loop: OpaquePointer?
    @LoopActor private var timers = TimerQueue()
    @LoopActor private var signalBodies: [Int32: @LoopActor () -> Void] = [:]
    @LoopActor var listeners: [Listener] = []
    @LoopActor let flusher = Flusher()
    /// Small items are joined here for one send. The loop owns it and never frees it.
    @LoopActor let scratch = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 64 * 1024)
    /// Bodies are copied here for one send. The loop owns it and never frees it.
    @LoopActor let copyRoom = UnsafeMutableRawBufferPointer.allocate(
        byteCount: TickLimits.copiedByteCount,
        alignment: 4096
    )
    @LoopActor private var alarmTime: UInt64 = .max
    /// When the callbacks of this tick began; 0 while waiting.
    @LoopActor private var tickStart: UInt64 = 0
    /// When the current work must yield to other work.
    @LoopActor private var shareEnd: UInt64 = 0
    /// The connection that last took a message, and when the one before was another.
    @LoopActor private var lastTaker: UInt64 = 0
    @LoopActor private var lastChangeOfTaker: UInt64 = 0
    /// Taken from the inbox and not yet run, from `nextJob` on.
    @LoopActor private var jobs: [Job] = []
    @LoopActor private var nextJob = 0
    /// Monotonic nanoseconds, read at least once a tick.
    @LoopActor private(set) var now: UInt64 = 0
    @LoopActor private var recentTicks = RecentMaximum()
    /// Totals since the start.
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

    /// Runs `job` on the loop, after the callbacks of the current tick. Any thread.
    ///
    /// A job enqueued before the loop starts runs when it starts; one enqueued after the end never runs.
    package func enqueue(_ job: @escaping @Sendable @LoopActor () -> Void) {
        add(.closure(job))
    }

    /// Makes the loop tick once. Any thread; many calls cost one wake.
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
    /// - Throws: `TransportError.loopUnavailable`, or an error of `start`; the loop has ended then.
    package func run(_ start: @LoopActor () throws -> Void) throws {
        let isFirst = inbox.withLock { inbox in
            defer { inbox.hasStarted = true }
            return !inbox.hasStarted
        }
        precondition(isFirst, "the event loop starts once")
        try begin()
        defer { LoopActor.assume { end() } }
        try LoopActor.assume { try start() }
        LoopActor.assume { runUntilStopped() }
    }

    /// Ends the loop after its current tick. Sockets still open are cut. Any thread.
    package func stop() {
        inbox.withLock { $0.isStopping = true }
        wake()
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
        // Jobs enqueued before the start must not wait for the network.
        hearth_loop_wake(loop)
        LoopActor.assume {
            self.loop = loop
            now = monotonicNanoseconds()
        }
    }
}

// MARK: On the loop

@LoopActor
extension EventLoop {
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

    // MARK: Ticking

    private func runUntilStopped() {
        var mayWait = true
        while let loop, !inbox.withLock({ $0.isStopping }) {
            setAlarm()
            tickStart = 0
            let servedCount = Int(hearth_loop_tick(loop, mayWait && !flusher.hasWork))
            counters.servedCount += servedCount
            counters.mostServedCount = max(counters.mostServedCount, servedCount)
            beginWork()
            mayWait = !runJobs()
            runTimers()
            flusher.settle()
            for listener in listeners { listener.application?.tickEnded() }
            if flusher.flush() { counters.flushSliceCount += 1 }
            noteTick()
        }
    }

    private func noteTick() {
        counters.tickCount += 1
        let end = monotonicNanoseconds()
        let elapsed = end - tickStart
        counters.longestTickNanoseconds = max(counters.longestTickNanoseconds, elapsed)
        if elapsed > Self.slowTickNanoseconds { counters.slowTickCount += 1 }
        recentTicks.note(elapsed, at: end)
    }

    /// The longest tick of the last minute, in nanoseconds.
    package var longestRecentTickNanoseconds: UInt64 {
        recentTicks.value(at: monotonicNanoseconds())
    }

    /// The longest tick of so many seconds, at most 60, in nanoseconds.
    package func longestTick(ofSeconds count: UInt64) -> UInt64 {
        recentTicks.value(at: monotonicNanoseconds(), ofSeconds: count)
    }

    /// When the tick began, in nanoseconds of the clock that never goes back.
    package var tickTime: UInt64 { now }

    /// Notes the time of the first callback of a tick: the wait before it is not work.
    func beginWork() {
        guard tickStart == 0 else { return }
        now = monotonicNanoseconds()
        tickStart = now
        shareEnd = now + TickLimits.share.nanoseconds
    }

    /// Gives the work that now begins its own share of the tick.
    func beginShare() {
        shareEnd = monotonicNanoseconds() + TickLimits.share.nanoseconds
    }

    /// Notes that a connection takes messages in this tick.
    func noteTaker(_ id: UInt64) {
        guard id != lastTaker else { return }
        lastTaker = id
        lastChangeOfTaker = now
    }

    /// Whether more than one connection had messages recently.
    var isContended: Bool {
        lastChangeOfTaker != 0 && now < lastChangeOfTaker + TickLimits.contention.nanoseconds
    }

    /// Whether the current work has used its share of the tick; the rest must wait.
    var isShareSpent: Bool { monotonicNanoseconds() >= shareEnd }

    /// Runs what was enqueued before now, within its share of the tick. Returns whether more is enqueued already.
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
        // At once: jobs keep their captured values alive.
        jobs.removeAll(keepingCapacity: jobs.count < 1024)
        nextJob = 0
        return inbox.withLock { !$0.jobs.isEmpty }
    }

    private func runTimers() {
        now = monotonicNanoseconds()
        while let due = timers.popDue(now: now) { due.fire(now: now) }
    }

    private func setAlarm() {
        let next = timers.earliestDueTime ?? .max
        let now = monotonicNanoseconds()
        // libuv counts milliseconds and may fire one early: close to the due time the alarm is set again.
        guard next != alarmTime || next <= now + 2_000_000 else { return }
        alarmTime = next
        guard let loop else { return }
        guard next != .max else {
            hearth_loop_set_alarm(loop, -1)
            return
        }
        // Rounded up, so that the timer is due when the alarm fires.
        hearth_loop_set_alarm(loop, next > now ? Int64((next - now + 999_999) / 1_000_000) : 0)
    }

    // MARK: Timers and signals

    /// Nanoseconds from the first callback of this tick to a time in it, of the monotonic clock.
    package func tickNanoseconds(before time: UInt64) -> UInt64 {
        time > tickStart && tickStart > 0 ? time - tickStart : 0
    }

    /// Calls `body` once, `delay` from now.
    @discardableResult
    package func after(_ delay: Duration, _ body: @escaping @LoopActor () -> Void) -> LoopTimer {
        let call = TimedCall(period: nil, body: body)
        schedule(call, at: monotonicNanoseconds() + delay.nanoseconds)
        return LoopTimer(call)
    }

    /// Calls `body` every `period`, first one period from now. Late periods are skipped.
    @discardableResult
    package func every(_ period: Duration, _ body: @escaping @LoopActor () -> Void) -> LoopTimer {
        let call = TimedCall(period: max(period.nanoseconds, 1), body: body)
        schedule(call, at: monotonicNanoseconds() + period.nanoseconds)
        return LoopTimer(call)
    }

    /// Calls `body` on the loop whenever the process gets the signal; a later body replaces it.
    package func onSignal(_ number: Int32, _ body: @escaping @LoopActor () -> Void) {
        guard let loop else { return }
        let isNew = signalBodies.updateValue(body, forKey: number) == nil
        guard isNew else { return }
        let failure = hearth_loop_on_signal(loop, number)
        precondition(failure == 0, "the signal can be watched")
    }

    func signalled(_ number: Int32) {
        signalBodies[number]?()
    }

    func schedule(_ item: Timed, at time: UInt64) {
        timers.schedule(item, at: time)
    }

    func unschedule(_ item: Timed) {
        timers.remove(item)
    }
}

func monotonicNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// The text before the NUL of a C buffer.
func text(_ buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
