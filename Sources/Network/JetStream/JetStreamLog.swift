#if Cluster
    package import ClusterLog
    import Dispatch
    import Synchronization

    /// A replicated log in a stream of NATS JetStream.
    ///
    /// News come on threads of libnats and of this log, and on the thread that appends. `deliver` may wait: an entry
    /// that it does not take holds back those behind it, at the broker too. Nothing that the log is asked for waits.
    ///
    ///     append, beat ─► publishing ─┐                       ┌─► answers, beats ─┐
    ///                                 ├─► connection ─► broker ┤                   ├─► deliver
    ///     tail, purge ──► waiting ────┘                       └─► Tail ───────────┘
    ///
    /// `waiting` does one thing after another, and again what failed: connections, bounds, consumers, purges.
    package final class JetStreamLog: ReplicatedLog, Sendable {
        private struct State {
            /// Nil while there is none.
            var connection: BrokerConnection?
            var connectionCount = 0
            var isEnded = false
            var areBoundsDue = false
            /// Where the tail that was asked for last begins; nil when that was begun.
            var requestedTail: UInt64?
            /// Where the tail goes on when it has no consumer; nil when none was ever asked for.
            var resume: UInt64?
            var tail: (tail: Tail, consumer: Consumer)?
            var purge: UInt64?
            var isRetryDue = false
            /// The fault that was reported last, until something succeeds.
            var reported: BrokerFault?
        }

        private let configuration: JetStreamConfiguration
        private let deliver: @Sendable (LogNews) -> Void
        private let failed: @Sendable (BrokerFault) -> Void
        private let state = Mutex(State())
        /// Where calls of libnats are made that wait for brokers.
        private let waiting = DispatchQueue(label: "hearth.log.waiting")
        /// Where calls of libnats are made that wait for the socket only.
        private let publishing = DispatchQueue(label: "hearth.log.publishing")
        private let publishingCount = Atomic<Int>(0)

        /// Connects, and makes or checks the stream. Waits: some seconds for each broker that does not answer.
        ///
        /// - Parameters:
        ///   - configuration: Which brokers, and how.
        ///   - failed: Receives what an operator should know, each fault once until something else happens.
        ///   - deliver: Receives the news, that the link is up before this returns. Both are called on any thread.
        /// - Throws: `BrokerFault`; one that `isPassing` may be gone with the next try.
        package init(
            _ configuration: JetStreamConfiguration,
            failed: @escaping @Sendable (BrokerFault) -> Void,
            deliver: @escaping @Sendable (LogNews) -> Void
        ) throws(BrokerFault) {
            self.configuration = configuration
            self.deliver = deliver
            self.failed = failed
            let connection = try connect()
            try connection.openStream()
            waiting.sync { use(connection) }
            wake()
        }

        deinit {
            let connection = state.withLock { state in
                state.isEnded = true
                return state.connection
            }
            // What waits for an answer of a broker ends at once.
            connection?.close()
        }

        // MARK: - ReplicatedLog

        /// Sends an entry to be stored directly after the entry `last`, or not at all. `number` names it in the news.
        ///
        /// There is no news of an append whose answer is lost on its way: only the tail says what became of it.
        package func append(_ entry: [UInt8], number: UInt64, expecting last: UInt64) {
            precondition(
                entry.count <= JetStreamLimits.entryByteCount,
                "an entry fits into a message"
            )
            let isSent = publish { [deliver] connection in
                if !connection.send(entry, number: number, expecting: last) {
                    deliver(.unknown(number: number))
                }
            }
            if !isSent { deliver(.unknown(number: number)) }
        }

        /// Delivers every entry from `sequence` on, own ones included, in order; replaces an earlier tail.
        ///
        /// What the earlier tail delivers comes before the bounds that this one begins with. A lost consumer or
        /// connection is replaced, and no entry comes twice.
        package func tail(from sequence: UInt64) {
            state.withLock { $0.requestedTail = sequence }
            wake()
        }

        /// Forgets the entries up to and including `sequence`; tried until it is done, or a later one is.
        package func purge(through sequence: UInt64) {
            state.withLock { $0.purge = max($0.purge ?? 0, sequence) }
            wake()
        }

        /// Sends a beat to every node, this one included; it may be lost.
        package func beat(_ bytes: [UInt8]) { _ = publish { $0.send(beat: bytes) } }

        /// Whether there is a connection and room for what is to be sent.
        private func publish(_ send: @escaping @Sendable (BrokerConnection) -> Void) -> Bool {
            guard let connection = state.withLock({ $0.connection }) else { return false }
            let count = publishingCount.add(1, ordering: .relaxed).newValue
            guard count <= JetStreamLimits.waitingCount else {
                publishingCount.subtract(1, ordering: .relaxed)
                return false
            }
            publishing.async { [self] in
                send(connection)
                publishingCount.subtract(1, ordering: .relaxed)
            }
            return true
        }

        private func wake() { waiting.async { [weak self] in self?.advance() } }

        // MARK: - On the waiting queue

        /// Does what is due, or comes back to it.
        private func advance() {
            do throws(BrokerFault) {
                guard let connection = try connected() else { return }
                if let sequence = state.withLock({ $0.requestedTail.take() }) { request(sequence) }
                if state.withLock({ $0.areBoundsDue }) {
                    let bounds = try connection.bounds()
                    state.withLock { $0.areBoundsDue = false }
                    deliver(.bounds(first: bounds.first, last: bounds.last))
                }
                try consume(connection)
                if let sequence = state.withLock({ $0.purge }) {
                    try connection.purge(through: sequence)
                    state.withLock { if $0.purge == sequence { $0.purge = nil } }
                }
                state.withLock { $0.reported = nil }
            } catch {
                report(error)
                retry()
            }
        }

        private func retry() {
            let isFirst = state.withLock { state in
                defer { state.isRetryDue = true }
                return !state.isRetryDue && !state.isEnded
            }
            guard isFirst else { return }
            waiting.asyncAfter(deadline: .now() + .milliseconds(JetStreamLimits.retryMilliseconds))
            {
                [weak self] in
                self?.state.withLock { $0.isRetryDue = false }
                self?.advance()
            }
        }

        private func report(_ fault: BrokerFault) {
            let isNew = state.withLock { state in
                defer { state.reported = fault }
                return state.reported != fault && !state.isEnded
            }
            if isNew { failed(fault) }
        }

        /// The connection; another one when the last one was lost. Nil when the log has ended.
        private func connected() throws(BrokerFault) -> BrokerConnection? {
            let (connection, isEnded) = state.withLock { ($0.connection, $0.isEnded) }
            if isEnded { return nil }
            if let connection {
                if !connection.isClosed { return connection }
                // It has ended before it was put to use.
                drop(connection.number)
            }
            let made = try connect()
            use(made)
            return made
        }

        private func connect() throws(BrokerFault) -> BrokerConnection {
            let number = state.withLock { state in
                state.connectionCount += 1
                return state.connectionCount
            }
            let events = LinkEvents(
                stream: configuration.stream,
                deliver: deliver,
                failed: { [weak self] in self?.report($0) },
                closed: { [weak self] in
                    self?.waiting.async { [weak self] in self?.lost(number) }
                },
                interrupted: { [weak self] address in
                    self?.waiting.async { [weak self] in
                        self?.interrupted { $0.consumer.address == address }
                    }
                }
            )
            return try BrokerConnection(configuration, number: number, events)
        }

        private func use(_ connection: BrokerConnection) {
            let isEnded = state.withLock { state in
                state.connection = connection
                state.areBoundsDue = true
                return state.isEnded
            }
            // The log may have ended while the connection was made.
            if isEnded { connection.close() } else { deliver(.link(isUp: true)) }
        }

        /// Notes that a connection has ended, and makes another.
        private func lost(_ number: Int) { if drop(number) { advance() } }

        /// Lets go of a connection that has ended; false when that was done before.
        @discardableResult
        private func drop(_ number: Int) -> Bool {
            // Let go behind the lock: its end waits for a thread of libnats.
            let dropped = state.withLock { state in
                state.connection?.number == number ? state.connection.take() : nil
            }
            guard dropped != nil else { return false }
            endTail()
            deliver(.link(isUp: false))
            return true
        }

        /// Replaces a consumer that has stopped, or whose delivery was lost, unless that was done before.
        private func interrupted(_ isMeant: (_ tail: (tail: Tail, consumer: Consumer)) -> Bool) {
            let isCurrent = state.withLock { $0.tail.map(isMeant) ?? false }
            guard isCurrent else { return }
            endTail()
            advance()
        }

        /// Begins the tail that was asked for, in place of the one before.
        private func request(_ sequence: UInt64) {
            endTail()
            state.withLock { state in
                state.resume = sequence
                state.areBoundsDue = true
            }
        }

        private func endTail() {
            guard let ended = state.withLock({ $0.tail.take() }) else { return }
            let next = ended.tail.end()
            state.withLock { $0.resume = next }
        }

        /// Gives the tail a consumer if it has none.
        private func consume(_ connection: BrokerConnection) throws(BrokerFault) {
            let (resume, hasTail) = state.withLock { ($0.resume, $0.tail != nil) }
            guard let resume, !hasTail else { return }
            let tail = Tail(from: resume, deliver)
            let events = TailEvents(tail: tail) { [weak self] in
                self?.waiting.async { [weak self] in self?.interrupted { $0.tail === tail } }
            }
            do throws(BrokerFault) {
                let consumer = try connection.consume(from: resume, events)
                state.withLock { $0.tail = (tail, consumer) }
            } catch {
                // It may have delivered before it failed.
                let next = tail.end()
                state.withLock { $0.resume = next }
                throw error
            }
        }
    }
#endif
