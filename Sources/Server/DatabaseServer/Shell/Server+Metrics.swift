import DatabaseCore
import Transport

extension Server {
    /// Everything that is counted, as Prometheus text.
    func metrics(_ databases: [DatabaseSummary]) -> HTTPResponse {
        var metrics = Metrics()
        let services: [any Service] = [
            requests, data, sockets, durability, identity, figures, console, audit, fileService,
        ]
        for service in services { service.addMetrics(to: &metrics) }
        cluster?.addMetrics(to: &metrics)
        addEngine(to: &metrics, databases)
        for database in databases { add(database, to: &metrics) }
        addLoop(to: &metrics)
        addTransport(to: &metrics)
        addLongWork(to: &metrics)
        let headers = HTTPResponse.headers(type: Metrics.contentType)
        return HTTPResponse(status: 200, headers: headers, body: Array(metrics.rendered().utf8))
    }

    private func addEngine(to metrics: inout Metrics, _ databases: [DatabaseSummary]) {
        let counts = engine.counts
        for (name, help, count) in [
            ("hearth_reads_total", "Values read, and listens begun.", counts.reads),
            ("hearth_refused_writes_total", "Writes the rules refused.", counts.refusedWrites),
            ("hearth_refused_reads_total", "Reads the rules refused.", counts.refusedReads),
            (
                "hearth_refused_credentials_total", "Credentials that did not count.",
                counts.refusedCredentials
            ),
            ("hearth_event_streams_total", "Event streams that have begun.", counts.streams),
        ] { metrics.counter(name, help, count) }
        for operation in DecisionRecord.Operation.allCases {
            metrics.counter(
                "hearth_refused_requests_total",
                "Decisions of the rules that refused, by what was asked.",
                databases.reduce(0) { $0 + $1.refusalCounts[operation, default: 0] },
                [("operation", operation.rawValue)]
            )
        }
    }

    private func add(_ database: DatabaseSummary, to metrics: inout Metrics) {
        let labels = [("database", database.database.name)]
        for (name, help, value) in [
            ("hearth_commit_number", "The newest commit.", Int(database.number.value)),
            ("hearth_listens", "Listens now.", database.listenCount),
            ("hearth_views", "Different listens now, by path and query.", database.viewCount),
            ("hearth_indexes", "Indexes kept now.", database.indexCount),
            ("hearth_index_entries", "Children in them.", database.indexEntryCount),
        ] { metrics.gauge(name, help, value, labels) }
        metrics.count(
            database.shadow,
            as: "hearth_shadow_decisions_total",
            "Requests that the shadow rules decided, by how that compares.",
            labels
        )
    }

    private func addLoop(to metrics: inout Metrics) {
        let loop = EventLoop.shared
        let counters = loop.counters
        metrics.counter("hearth_loop_turns_total", "Ticks of the event loop.", counters.tickCount)
        let slowCount = counters.slowTickCount
        metrics.counter("hearth_loop_slow_turns_total", "Ticks of more than 50 ms.", slowCount)
        let recent = loop.longestRecentTickNanoseconds
        for (name, help, nanoseconds) in [
            (
                "hearth_loop_longest_turn_seconds", "The longest tick so far.",
                counters.longestTickNanoseconds
            ),
            (
                "hearth_loop_recent_longest_turn_seconds", "The longest tick of the last minute.",
                recent
            ),
        ] { metrics.gauge(name, help, Double(nanoseconds) / 1e9) }
    }

    /// Work that other threads do for the loop, by its kind.
    private func addLongWork(to metrics: inout Metrics) {
        metrics.counter(
            "hearth_memory_returns_total",
            "How often freed memory was given back to the system.",
            memory.count
        )
        for (kind, workers) in workers.byKind {
            let figures = Worker.Figures.of(workers)
            let labels = [("kind", kind)]
            metrics.gauge(
                "hearth_work_waiting",
                "Long work under way or waiting.",
                figures.waiting,
                labels
            )
            metrics.counter("hearth_work_done_total", "Long work done.", figures.done, labels)
            metrics.gauge(
                "hearth_work_longest_seconds",
                "The longest that one piece of long work, or one slice of it, took so far.",
                Double(figures.longestNanoseconds) / 1e9,
                labels
            )
        }
    }

    private func addTransport(to metrics: inout Metrics) {
        guard let listener else { return }
        let transport = listener.counters
        for (name, help, value) in [
            ("hearth_transport_connections_total", "Sockets accepted.", transport.connectionCount),
            (
                "hearth_transport_frames_received_total", "WebSocket frames received.",
                transport.receivedFrameCount
            ),
            (
                "hearth_transport_frames_sent_total", "WebSocket frames sent.",
                transport.sentFrameCount
            ),
            (
                "hearth_transport_bytes_received_total", "Bytes received.",
                transport.receivedByteCount
            ),
            ("hearth_transport_bytes_sent_total", "Bytes sent.", transport.sentByteCount),
            (
                "hearth_transport_slow_readers_total", "Connections closed as too slow.",
                transport.slowReaderCount
            ),
            (
                "hearth_transport_timeouts_total", "Connections closed by a time limit.",
                transport.timeoutCount
            ),
            (
                "hearth_transport_bad_requests_total", "HTTP requests that could not be read.",
                transport.badRequestCount
            ),
            (
                "hearth_transport_refused_requests_total", "Requests refused by their head.",
                transport.refusedCount
            ),
            (
                "hearth_transport_refused_connections_total",
                "Connections reset: their address had too many.",
                transport.refusedConnectionCount
            ),
            (
                "hearth_transport_overloads_total",
                "Unfinished messages and bodies ended for lack of room.",
                transport.overloadCount + data.bodyOverloadCount
            ),
            (
                "hearth_transport_cut_answers_total",
                "Connections cut: too many bytes of answers waited.",
                transport.cutAnswerCount
            ),
        ] { metrics.counter(name, help, value) }
        let queued = listener.queuedOutput
        for (name, help, value) in [
            (
                "hearth_transport_open_connections", "Sockets open now.",
                transport.openConnectionCount
            ),
            ("hearth_transport_queued_bytes", "Bytes that wait for sockets now.", queued.byteCount),
            (
                "hearth_transport_queued_bytes_greatest",
                "Bytes that wait for the socket with the most of them.",
                queued.greatestByteCount
            ),
            (
                "hearth_transport_inbound_bytes", "Bytes of unfinished messages and bodies now.",
                transport.inboundByteCount
            ),
            (
                "hearth_transport_outbound_bytes",
                "Bytes of answers that wait for sockets that take no more.",
                transport.outboundByteCount
            ),
        ] { metrics.gauge(name, help, value) }
    }
}

extension Metrics {
    /// Counts what shadow rules have decided.
    mutating func count(
        _ totals: ShadowTotals,
        as name: String,
        _ help: String,
        _ labels: [(String, String)] = []
    ) {
        for (result, count) in [
            ("agreed", totals.agreedCount), ("newly_allowed", totals.newlyAllowedCount),
            ("newly_refused", totals.newlyRefusedCount),
        ] {
            counter(name, help, count, labels + [("verdict", result)])
        }
    }
}
