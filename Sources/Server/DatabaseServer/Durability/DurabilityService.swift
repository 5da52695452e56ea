import DatabaseCore
import JSONTree
import Logging
import Transport
import WriteAheadLog

/// What the log can take, and the checkpoints that keep it short.
@LoopActor
final class DurabilityService: Service {
    let server: Server
    /// nil when nothing is kept on disk.
    private let checkpointer: Checkpointer?
    /// How the log uses its disk; nil when nothing is kept on one.
    private let options: LogOptions?

    /// Whether writes are taken, and if not, why.
    private(set) var condition = LogCondition.ready
    private var space = SpaceState.ok
    private var isLogBehind = false

    private var commitTimes = CommitTimes()
    /// From the beginning of the tick that made a commit until it was durable.
    private(set) var putTimes = LatencyHistogram()
    /// The newest checkpoint of this process.
    private(set) var lastCheckpoint: (position: LogPosition, time: Timestamp)?
    private var commitCount = 0
    /// Bytes of the payloads of all commits.
    private var commitByteCount = 0
    private var checkpointCount = 0
    private var failedCheckpointCount = 0
    /// nil while the last checkpoint counts.
    private(set) var failedCheckpoint: FailedCheckpoint?
    private var isCheckpointing = false
    /// Bytes of commits when the last checkpoint was begun.
    private var checkpointedByteCount = 0
    private var lastCheckpointByteCount = 0
    /// When the next checkpoint may be begun only to make room.
    private var nextTightTry = ContinuousClock.now

    /// Bytes of commits after which a checkpoint is due; with a large tree, half its size.
    private static let checkpointByteCount = 32 << 20
    /// Between two checkpoints that are begun only to make room.
    private static let tightCheckpointPause = Duration.seconds(30)

    init(_ server: Server, _ checkpointer: Checkpointer?, _ options: LogOptions?) {
        self.server = server
        self.checkpointer = checkpointer
        self.options = options
    }

    /// Hands a commit to the log.
    func append(_ record: CommitRecord) {
        commitCount += 1
        commitByteCount += record.payloadByteCount
        commitTimes.append(record.number, of: record.database, at: EventLoop.shared.tickTime)
        commits.append(record)
    }

    /// Counts a commit that another node made and this one has in its log.
    func entered(_ record: CommitRecord) {
        commitCount += 1
        commitByteCount += record.payloadByteCount
    }

    /// The log has everything of these databases up to these commits.
    func flushed(_ commits: [(database: DatabaseID, through: CommitNumber)]) {
        commitTimes.take(commits, at: Clock.monotonicNanoseconds(), into: &putTimes)
    }

    /// Bytes free on the disk below which writes are refused; 0 when nothing is kept on one.
    var reserveByteCount: Int { Int(clamping: options?.reserveByteCount ?? 0) }

    func addMetrics(to metrics: inout Metrics) {
        for (name, help, count) in [
            ("hearth_commits_total", "Commits handed to the log.", commitCount),
            ("hearth_commit_bytes_total", "Bytes of their payloads.", commitByteCount),
            ("hearth_checkpoints_total", "Checkpoints written and read back.", checkpointCount),
            (
                "hearth_checkpoint_failures_total",
                "Checkpoints that could not be written or did not read back.", failedCheckpointCount
            ),
        ] { metrics.counter(name, help, count) }
        let (waiting, isTaking) = (commits.waitingCount, condition == .ready ? 1 : 0)
        metrics.gauge("hearth_commits_waiting", "Commits that wait for the disk.", waiting)
        metrics.histogram(
            "hearth_put_acknowledged_seconds",
            "From the beginning of the tick that made a commit until it was durable.",
            putTimes
        )
        if let lastCheckpoint {
            metrics.gauge(
                "hearth_checkpoint_timestamp_seconds",
                "When the newest checkpoint of this process was written, since 1970.",
                Double(lastCheckpoint.time.milliseconds) / 1000
            )
        }
        metrics.gauge("hearth_log_taking_writes", "1 while writes are taken.", isTaking)
    }

    /// Tells the engine when commits come faster than the disk takes them, and when that is over.
    func watchLog() {
        let waiting = commits.waitingCount
        if waiting > CommitWriter.commitLimit / 2 {
            isLogBehind = true
        } else if waiting < CommitWriter.commitLimit / 8 {
            isLogBehind = false
        }
        let found: LogCondition =
            switch space {
            case .full: .diskFull
            case .low: isLogBehind ? .behind : .diskLow
            case .ok: isLogBehind ? .behind : .ready
            }
        if found == condition { return }
        condition = found
        step(.log(condition))
        guard let writeRefusal else { return log.notice("writes are taken again") }
        if condition == .behind {
            log.warning("\(writeRefusal)")
        } else {
            log.critical("\(writeRefusal); reads go on")
        }
    }

    /// Why writes are refused now, with the room that the disk must have, for people; nil while they are taken.
    var writeRefusal: String? {
        let reserve = (options?.reserveByteCount ?? 0) >> 20
        let resume = (options?.resumeByteCount ?? 0) >> 20
        let until = "until \(resume) MiB are free"
        return switch condition {
        case .ready: nil
        case .behind: "the disk cannot keep up: writes are refused for now"
        case .diskLow:
            """
            the disk is nearly full, with less than \(reserve) MiB free: writes are refused \(until), \
            but for some that only remove data
            """
        case .diskFull: "the disk is full: writes are refused \(until)"
        }
    }

    /// What the log thread says about the room on the disk.
    func spaceChanged(_ state: SpaceState) {
        space = state
        watchLog()
    }

    /// Begins a checkpoint once the log has grown enough, so that a restart has little to replay.
    func checkpointIfDue() {
        let grown = commitByteCount - checkpointedByteCount
        let due = max(Self.checkpointByteCount, lastCheckpointByteCount / 2)
        if isCheckpointing { return }
        if let failed = failedCheckpoint {
            if ContinuousClock.now < failed.nextTry { return }
        } else if grown < due {
            // What is removed while the disk is low makes room only with the segments that a checkpoint drops.
            let mayMakeRoom = space != .ok && ContinuousClock.now >= nextTightTry
            guard mayMakeRoom, grown > 0 else { return }
            nextTightTry = .now + Self.tightCheckpointPause
        }
        writeCheckpoint()
    }

    private func writeCheckpoint() {
        guard let checkpointer else { return }
        isCheckpointing = true
        checkpointedByteCount = commitByteCount
        let write = { @Sendable [self] (snapshots: [DatabaseSnapshot], position, heads) in
            checkpointer.write(snapshots, at: position, heads: heads) { result in
                EventLoop.shared.enqueue { [self] in checkpointed(result) }
            }
        }
        if server.cluster?.leads == false {
            // The loop has applied what the log thread reported before, and nothing after.
            commits.barrier { position, heads in
                EventLoop.shared.enqueue { [self] in write(engine.snapshots(), position, heads) }
            }
        } else {
            // The commits in these snapshots are exactly those that stand before the barrier.
            let snapshots = engine.snapshots()
            commits.barrier { position, heads in write(snapshots, position, heads) }
        }
    }

    private func checkpointed(_ outcome: Checkpointer.Outcome) {
        isCheckpointing = false
        switch outcome {
        case .success(let finished):
            let receipt = finished.receipt
            checkpointCount += 1
            failedCheckpoint = nil
            lastCheckpoint = (receipt.info.position, Clock.now())
            lastCheckpointByteCount = Int(receipt.info.byteCount)
            log.info(
                "checkpoint written",
                metadata: [
                    "position": "\(receipt.info.position)", "bytes": "\(receipt.info.byteCount)",
                    "droppedSegments": "\(receipt.droppedSegmentCount)",
                    "readBack": "\(finished.readBackTime)",
                ]
            )
        case .failure(let error):
            failedCheckpointCount += 1
            let failed = FailedCheckpoint(after: failedCheckpoint)
            failedCheckpoint = failed
            // What to do about a damaged folder does not help here: the folder is not.
            let reason = if case .damage(let damage) = error { damage.summary } else { "\(error)" }
            log.critical(
                """
                a checkpoint failed and does not count; the log is whole, keeps everything since the \
                one before, and grows until one succeeds; the next try is in \(failed.pause): \(reason)
                """
            )
        }
    }
}

/// That the last checkpoint does not count, and when the next is tried.
struct FailedCheckpoint {
    private static let shortestPause = Duration.seconds(5)
    /// Trying then costs little, however large the state.
    private static let longestPause = Duration.seconds(320)

    /// From the failure to the next try; doubles with each failure in a row.
    let pause: Duration
    let nextTry: ContinuousClock.Instant

    init(after last: FailedCheckpoint?) {
        pause = last.map { min($0.pause * 2, Self.longestPause) } ?? Self.shortestPause
        nextTry = .now + pause
    }
}
