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
        counter("hearth_checkpoints_total", "Checkpoints written.", counts.checkpoints)
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
        gauge("hearth_sessions", "Wire protocol sessions now.", Double(connections.count))
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
        addTransport(to: metrics)
        for database in databases {
            let labels = [("database", database.database.name)]
            metrics.gauge("hearth_commit_number", "The newest commit.", labels) {
                Double(database.number.value)
            }
            metrics.gauge("hearth_listens", "Listens now.", labels) { Double(database.listenCount) }
        }
        let headers = [
            (name: "Content-Type", value: Metrics.contentType),
            (name: "Cache-Control", value: "no-cache"),
        ]
        return HTTPResponse(status: 200, headers: headers, body: Array(metrics.rendered().utf8))
    }

    private func addTransport(to metrics: Metrics) {
        let loop = EventLoop.shared.counters
        metrics.counter("hearth_loop_turns_total", "Turns of the event loop.") {
            Double(loop.turnCount)
        }
        metrics.gauge("hearth_loop_longest_turn_seconds", "The longest turn so far.") {
            Double(loop.longestTurnNanoseconds) / 1e9
        }
        guard let transport = listener?.counters else { return }
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
        ]
        for (name, help, value) in counters {
            metrics.counter("hearth_transport_\(name)_total", help) { Double(value) }
        }
        metrics.gauge("hearth_transport_open_connections", "Sockets open now.") {
            Double(transport.openConnectionCount)
        }
    }
}
