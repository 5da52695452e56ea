import DatabaseCore
import JSONTree
import Logging
import Transport
import WriteAheadLog

/// What the server knows of itself: the process, its disk, and the course of the last hour.
///
/// Every ten seconds a worker asks the system, and the loop adds a sample to a ring. `/.inspect/history.json` and
/// `/.inspect/state.json` show them to administrators.
@LoopActor
final class FigureService: Service {
    let server: Server
    /// As of the newest sample.
    private(set) var process: ProcessFigures
    private(set) var history = HistoryRing()
    private var last: Totals
    /// Where the log was at the newest sample; nil before the first.
    private var position: LogPosition?
    private let startTime = Clock.now()
    /// Whether a worker asks the system now. It may have something else to do for long.
    private var isSampling = false
    /// When the certificate in force ends, seconds since 1970; nil without one.
    private var certificateEnd: Int64?

    init(_ server: Server) {
        self.server = server
        process = ProcessFigures.read(dataFolder: server.configuration.dataFolder)
        last = Totals()
        readCertificate()
    }

    /// Begins to take samples.
    func begin() {
        last = totals()
        EventLoop.shared.every(HistoryRing.period) { [self] in beginSample() }
    }

    /// Looks at the certificate, which may be another from now on.
    func readCertificate() {
        guard let tls = server.configuration.tls else { return }
        do throws(TransportError) {
            certificateEnd = try CertificateFacts(tls, host: nil).validity.upperBound
        } catch {
            server.log.warning("the end of the TLS certificate is not known: \(error)")
        }
    }

    // MARK: - Samples

    private func beginSample() {
        if isSampling { return }
        commits.barrier { position, _ in
            EventLoop.shared.enqueue { [self] in self.position = position }
        }
        let folder = configuration.dataFolder
        // Asking takes files; a disk that hangs holds up nothing else there.
        isSampling = workers.archives.perform {
            ProcessFigures.read(dataFolder: folder)
        } then: { [self] in
            isSampling = false
            process = $0
            addSample()
        }
    }

    /// What has been counted since the start, and when it was read.
    private struct Totals {
        var time: UInt64 = 0
        var cpuSeconds = 0.0
        var reads = 0
        var commits = 0
        var deliveries = 0
        var requests = 0
        var refusals = 0
        var sentBytes = 0
        var puts = LatencyHistogram()
    }

    private func totals() -> Totals {
        let (counts, transport) = (engine.counts, server.listener?.counters)
        return Totals(
            time: Clock.monotonicNanoseconds(),
            cpuSeconds: process.cpuSeconds,
            reads: counts.reads,
            commits: counts.commits,
            deliveries: transport?.sentFrameCount ?? 0,
            requests: transport?.requestCount ?? 0,
            refusals: counts.refusedReads + counts.refusedWrites,
            sentBytes: transport?.sentByteCount ?? 0,
            puts: server.durability.putTimes
        )
    }

    /// Adds what has happened since the last sample.
    private func addSample() {
        let now = totals()
        let seconds = max(Double(now.time - last.time) / 1e9, 0.001)
        func rate(_ count: KeyPath<Totals, Int>) -> Double {
            Double(now[keyPath: count] - last[keyPath: count]) / seconds
        }
        func put(_ share: Double) -> Double { now.puts.quantile(share, since: last.puts) ?? -1 }
        history.add(
            HistorySample(
                time: Clock.now(),
                residentByteCount: process.residentByteCount,
                cpuShare: max(0, now.cpuSeconds - last.cpuSeconds) / seconds,
                freeDiskByteCount: process.disk?.freeByteCount ?? 0,
                logByteCount: process.disk?.logByteCount ?? 0,
                connectionCount: server.listener?.counters.openConnectionCount ?? 0,
                sessionCount: server.sockets.connections.count,
                listenCount: engine.listenCount,
                queuedByteCount: server.listener?.queuedOutput.byteCount ?? 0,
                reads: rate(\.reads),
                commits: rate(\.commits),
                deliveries: rate(\.deliveries),
                requests: rate(\.requests),
                refusals: rate(\.refusals),
                sentBytes: rate(\.sentBytes),
                putMedian: put(0.5),
                put95: put(0.95),
                put99: put(0.99),
                longestTick: Double(EventLoop.shared.longestTick(ofSeconds: 10)) / 1e9
            )
        )
        last = now
    }

    // MARK: - Answers

    /// `/.inspect/history.json`: the samples of the last hour, the oldest first.
    func answerHistory(_ pending: PendingExchange) {
        server.requests.asAdministrator(pending) { [self] in
            let samples = history.samples
            let isTaken = workers.values.perform {
                HTTPResponse.json(of: [
                    "every": .number(HistoryRing.period.components.seconds),
                    "limit": .number(HistoryRing.limit),
                    "names": .list(HistorySample.names.map { .string($0) }),
                    "samples": .list(samples.map(\.json)),
                ])
            } then: { [self] in
                finish(pending, $0)
            }
            if !isTaken { finish(pending, .error(503, "Too much is being read.")) }
        }
    }

    /// `/.inspect/state.json`: how the server stands, in figures and in words.
    func answerState(_ pending: PendingExchange) {
        server.requests.asAdministrator(pending) { [self] in
            finish(pending, .json(of: state))
        }
    }

    private var state: JSONValue {
        let durability = server.durability
        let log: JSONValue? = process.disk.map { disk in
            [
                "position": position.map { .number($0.value) },
                "segments": .number(disk.segmentCount), "bytes": .number(disk.logByteCount),
                "checkpointPosition": durability.lastCheckpoint.map { .number($0.position.value) },
                "checkpointTime": durability.lastCheckpoint.map { .integer($0.time.milliseconds) },
            ]
        }
        let disk: JSONValue? = process.disk.map { disk in
            [
                "free": .number(disk.freeByteCount), "total": .number(disk.totalByteCount),
                "reserve": .number(durability.reserveByteCount),
            ]
        }
        return [
            "version": .string(Version.text),
            "mode": configuration.mode == .development ? "development" : "production",
            "now": .integer(Clock.now().milliseconds),
            "since": .integer(startTime.milliseconds),
            "isReady": .boolean(server.isReady && !server.isStopping),
            "memory": .number(process.residentByteCount), "log": log, "disk": disk,
            "certificateEnd": certificateEnd.map { .integer($0 * 1000) },
            "notes": .list(notes.map { ["kind": .string($0.kind), "text": .string($0.text)] }),
        ]
    }

    /// What an administrator has to know of how the server runs; `kind` is `mode`, `warning` or `fault`.
    private var notes: [(kind: String, text: String)] {
        var notes: [(kind: String, text: String)] = []
        if configuration.mode == .development {
            let whom = configuration.bindIsLoopback ? "this machine" : "this network"
            notes.append(("mode", "development: open to \(whom)"))
        }
        if configuration.storage == .memory {
            notes.append(("mode", "nothing is kept on disk: all data ends with this process"))
        }
        if let refusal = server.durability.writeRefusal { notes.append(("fault", refusal)) }
        if server.durability.failedCheckpoint != nil {
            notes.append(("fault", "the last checkpoint failed: the log grows until one succeeds"))
        }
        notes += server.admin.unusedRulesFiles.map { ("warning", $0) }
        return notes
    }

    // MARK: - Metrics

    func addMetrics(to metrics: inout Metrics) {
        addProcess(to: &metrics)
        let version = [("version", Version.text)]
        metrics.gauge("hearth_build_info", "1, with the version of the program.", 1, version)
        let durability = server.durability
        if let disk = process.disk {
            for (name, help, value) in [
                ("hearth_disk_free_bytes", "Bytes free on the data's disk.", disk.freeByteCount),
                ("hearth_disk_size_bytes", "Bytes of the data's disk.", disk.totalByteCount),
                (
                    "hearth_disk_reserve_bytes", "Bytes free below which writes are refused.",
                    durability.reserveByteCount
                ),
                ("hearth_log_segments", "Segments of the log.", disk.segmentCount),
                ("hearth_log_bytes", "Bytes of the segments of the log.", disk.logByteCount),
            ] { metrics.gauge(name, help, value) }
        }
        if let certificateEnd {
            metrics.gauge(
                "hearth_tls_certificate_expiry_timestamp_seconds",
                "When the TLS certificate in force ends, since 1970.",
                certificateEnd
            )
        }
    }

    /// The names that Prometheus' own libraries give to these.
    private func addProcess(to metrics: inout Metrics) {
        metrics.counter(
            "process_cpu_seconds_total",
            "Processor time of all threads.",
            process.cpuSeconds
        )
        for (name, help, value) in [
            ("process_resident_memory_bytes", "Bytes in memory.", process.residentByteCount),
            ("process_virtual_memory_bytes", "Bytes of address space.", process.virtualByteCount),
            ("process_open_fds", "Descriptors open.", process.openDescriptorCount),
            ("process_max_fds", "Descriptors that the system allows.", process.descriptorLimit),
        ] { metrics.gauge(name, help, value) }
        metrics.gauge(
            "process_start_time_seconds",
            "When the process began, since 1970.",
            Double(startTime.milliseconds) / 1000
        )
    }
}

extension Configuration {
    /// The folder of the data; nil when nothing is kept on disk.
    var dataFolder: String? {
        if case .folder(let path) = storage { path } else { nil }
    }
}
