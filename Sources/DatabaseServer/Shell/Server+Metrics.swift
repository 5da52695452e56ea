import DatabaseCore
import Transport

extension Server {
    /// Everything that is counted, as Prometheus text.
    func metrics(_ databases: [DatabaseSummary]) -> HTTPResponse {
        let metrics = Metrics()
        func counter(_ name: String, _ help: String, _ value: Int) {
            metrics.counter(name, help) { Double(value) }
        }
        func gauge(_ name: String, _ help: String, _ value: Double) {
            metrics.gauge(name, help) { value }
        }
        counter("hearth_commits_total", "Commits handed to the log.", counts.commits)
        counter("hearth_commit_bytes_total", "Bytes of their payloads.", counts.commitBytes)
        counter(
            "hearth_checkpoints_total",
            "Checkpoints written and read back.",
            counts.checkpoints
        )
        counter(
            "hearth_checkpoint_failures_total",
            "Checkpoints that could not be written or did not read back.",
            counts.failedCheckpoints
        )
        counter("hearth_http_requests_total", "HTTP requests taken.", counts.requests)
        counter("hearth_messages_total", "Wire protocol messages received.", counts.messages)
        counter(
            "hearth_malformed_messages_total",
            "Messages that closed their connection.",
            counts.malformedMessages
        )
        counter(
            "hearth_refused_writes_total",
            "Writes the rules refused.",
            engine.counts.refusedWrites
        )
        counter(
            "hearth_refused_reads_total",
            "Reads the rules refused.",
            engine.counts.refusedReads
        )
        counter(
            "hearth_refused_credentials_total",
            "Credentials that did not count.",
            engine.counts.refusedCredentials
        )
        counter(
            "hearth_refused_origins_total",
            "Requests refused for their host or the page that sent them.",
            counts.refusedOrigins
        )
        counter(
            "hearth_unknown_databases_total",
            "Requests and connections for a database that is not here.",
            counts.unknownDatabases
        )
        for operation in DecisionRecord.Operation.allCases {
            let count = databases.reduce(0) { $0 + $1.refusalCounts[operation] }
            metrics.counter(
                "hearth_refused_requests_total",
                "Verdicts of the rules that refused, by what was asked.",
                [("operation", operation.rawValue)]
            ) { Double(count) }
        }
        gauge("hearth_sessions", "Sessions of both protocols now.", Double(connections.count))
        gauge("hearth_event_streams", "Event streams open now.", Double(streams.openCount))
        counter(
            "hearth_event_streams_total",
            "Event streams that have begun.",
            engine.counts.streams
        )
        gauge(
            "hearth_poll_sessions",
            "Those of them that go over long polling.",
            Double(polls.liveCount)
        )
        gauge(
            "hearth_commits_waiting",
            "Commits that wait for the disk.",
            Double(commits.waitingCount)
        )
        gauge(
            "hearth_log_taking_writes",
            "1 while writes are taken.",
            logCondition == .ready ? 1 : 0
        )
        addLoop(to: metrics)
        addTransport(to: metrics)
        addLongWork(to: metrics)
        addMessages(to: metrics)
        for database in databases { add(database, to: metrics) }
        let headers = [
            (name: "Content-Type", value: Metrics.contentType),
            (name: "Cache-Control", value: "no-cache"),
        ]
        return HTTPResponse(status: 200, headers: headers, body: Array(metrics.rendered().utf8))
    }

    private func add(_ database: DatabaseSummary, to metrics: Metrics) {
        let labels = [("database", database.database.name)]
        func gauge(_ name: String, _ help: String, _ value: Int) {
            metrics.gauge(name, help, labels) { Double(value) }
        }
        metrics.gauge("hearth_commit_number", "The newest commit.", labels) {
            Double(database.number.value)
        }
        gauge("hearth_listens", "Listens now.", database.listenCount)
        gauge("hearth_views", "Different listens now, by path and query.", database.viewCount)
        gauge("hearth_indexes", "Indexes kept now.", database.indexCount)
        gauge("hearth_index_entries", "Children in them.", database.indexEntryCount)
        let shadow = database.shadow
        for (verdict, count) in [
            ("agreed", shadow.agreedCount), ("newly_allowed", shadow.newlyAllowedCount),
            ("newly_refused", shadow.newlyRefusedCount),
        ] {
            metrics.counter(
                "hearth_shadow_decisions_total",
                "Requests that the shadow rules decided, by how that compares.",
                labels + [("verdict", verdict)]
            ) { Double(count) }
        }
    }

    private func addLoop(to metrics: Metrics) {
        let loop = EventLoop.shared
        metrics.counter("hearth_loop_turns_total", "Turns of the event loop.") {
            Double(loop.counters.turnCount)
        }
        metrics.counter("hearth_loop_slow_turns_total", "Turns of more than 50 ms.") {
            Double(loop.counters.slowTurnCount)
        }
        metrics.gauge("hearth_loop_longest_turn_seconds", "The longest turn so far.") {
            Double(loop.counters.longestTurnNanoseconds) / 1e9
        }
        metrics.gauge(
            "hearth_loop_recent_longest_turn_seconds",
            "The longest turn of the last minute."
        ) {
            Double(loop.longestRecentTurnNanoseconds) / 1e9
        }
    }

    /// Work that other threads do for the loop, by its kind.
    private func addLongWork(to metrics: Metrics) {
        for (kind, workers) in workers.byKind {
            let figures = Worker.Figures.of(workers)
            let labels = [("kind", kind)]
            metrics.gauge("hearth_work_waiting", "Long work under way or waiting.", labels) {
                Double(figures.waiting)
            }
            metrics.counter("hearth_work_done_total", "Long work done.", labels) {
                Double(figures.done)
            }
            metrics.gauge(
                "hearth_work_longest_seconds",
                "The longest that one piece of long work, or one slice of it, took so far.",
                labels
            ) { Double(figures.longestNanoseconds) / 1e9 }
        }
    }

    private func addTransport(to metrics: Metrics) {
        guard let listener else { return }
        let transport = listener.counters
        let counters: [(String, String, Int)] = [
            ("connections", "Sockets accepted.", transport.connectionCount),
            ("frames_received", "WebSocket frames received.", transport.receivedFrameCount),
            ("frames_sent", "WebSocket frames sent.", transport.sentFrameCount),
            ("bytes_received", "Bytes received.", transport.receivedByteCount),
            ("bytes_sent", "Bytes sent.", transport.sentByteCount),
            ("slow_readers", "Connections closed as too slow.", transport.slowReaderCount),
            ("timeouts", "Connections closed by a time limit.", transport.timeoutCount),
            ("bad_requests", "HTTP requests that could not be read.", transport.badRequestCount),
            ("refused_requests", "Requests refused by their head.", transport.refusedCount),
            (
                "refused_connections", "Connections reset: their address had too many.",
                transport.refusedConnectionCount
            ),
            (
                "overloads", "Unfinished messages and bodies ended for lack of room.",
                transport.overloadCount + bodies.overloadCount
            ),
        ]
        for (name, help, value) in counters {
            metrics.counter("hearth_transport_\(name)_total", help) { Double(value) }
        }
        metrics.gauge("hearth_transport_open_connections", "Sockets open now.") {
            Double(transport.openConnectionCount)
        }
        let queued = listener.queuedOutput
        metrics.gauge("hearth_transport_queued_bytes", "Bytes that wait for sockets now.") {
            Double(queued.byteCount)
        }
        metrics.gauge(
            "hearth_transport_queued_bytes_greatest",
            "Bytes that wait for the socket with the most of them."
        ) { Double(queued.greatestByteCount) }
        metrics.gauge(
            "hearth_transport_inbound_bytes",
            "Bytes of unfinished messages and bodies now."
        ) { Double(transport.inboundByteCount) }
        let bodyByteCount = bodies.heldByteCount
        metrics.gauge(
            "hearth_incoming_body_bytes",
            "Bytes that large writes on their way in have come to."
        ) { Double(bodyByteCount) }
    }
}
