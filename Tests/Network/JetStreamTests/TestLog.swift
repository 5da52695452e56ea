#if Cluster
    import ClusterLog
    import Dispatch
    import JetStream
    import Synchronization
    import TestSupport

    /// What a test did not see in time.
    struct Overdue: Error, CustomStringConvertible {
        let description: String
    }

    /// A log of a node, with all news that have come.
    final class TestLog: Sendable {
        /// The news by kind, each in its order.
        struct Record: Sendable {
            var entries: [(sequence: UInt64, bytes: [UInt8])] = []
            var stored: [UInt64: UInt64] = [:]
            var refused: [UInt64: UInt64] = [:]
            var unknown: Set<UInt64> = []
            var links: [Bool] = []
            var bounds: [(first: UInt64, last: UInt64)] = []
            /// Entries that had come before the bounds of the same index.
            var entryCounts: [Int] = []
            var beats: [[UInt8]] = []
            var faults: [BrokerFault] = []

            var lastSequence: UInt64 { entries.last?.sequence ?? 0 }

            mutating func add(_ news: LogNews) {
                switch news {
                case .entry(let sequence, let bytes): entries.append((sequence, bytes))
                case .stored(let number, let sequence): stored[number] = sequence
                case .refused(let number, let last): refused[number] = last
                case .unknown(let number): unknown.insert(number)
                case .link(let isUp): links.append(isUp)
                case .bounds(let first, let last):
                    bounds.append((first, last))
                    entryCounts.append(entries.count)
                case .beat(let bytes): beats.append(bytes)
                }
            }
        }

        /// What the callbacks of the log reach.
        private final class Box: Sendable {
            let record = Mutex(Record())
            let arrival = DispatchSemaphore(value: 0)
            let isHolding = Mutex(false)
            let release = DispatchSemaphore(value: 0)

            func deliver(_ news: LogNews) {
                if case .entry = news, isHolding.withLock({ $0 }) {
                    release.wait()
                    release.signal()
                }
                record.withLock { $0.add(news) }
                arrival.signal()
            }

            func note(_ fault: BrokerFault) {
                record.withLock { $0.faults.append(fault) }
                arrival.signal()
            }
        }

        /// Seconds that only a hang takes: an election is over in ten.
        private static let patience = 120.0

        private let box = Box()
        let log: JetStreamLog

        /// Opens a log; tries again while the brokers have no leader.
        init(_ configuration: JetStreamConfiguration) throws {
            let box = box
            let end = DispatchTime.now() + Self.patience
            while true {
                do throws(BrokerFault) {
                    log = try JetStreamLog(
                        configuration,
                        failed: { box.note($0) },
                        deliver: { box.deliver($0) }
                    )
                    return
                } catch {
                    guard error.isPassing, DispatchTime.now() < end else { throw error }
                }
            }
        }

        /// On brokers, the one of `first` before the others.
        convenience init(
            _ brokers: RunningBrokers,
            group: String,
            node: String = "a",
            first: Int = 0
        ) throws {
            let addresses = brokers.addresses[first...] + brokers.addresses[..<first]
            var configuration = try JetStreamConfiguration(
                brokers: Array(addresses),
                group: group,
                node: node
            )
            configuration.replicaCount = brokers.addresses.count
            try self.init(configuration)
        }

        var record: Record { box.record.withLock { $0 } }

        /// What `look` finds in the news, once it finds something.
        func until<Found>(_ what: String, _ look: (Record) -> Found?) throws -> Found {
            let end = DispatchTime.now() + Self.patience
            while true {
                if let found = look(record) { return found }
                guard box.arrival.wait(timeout: end) == .success else {
                    let record = record
                    throw Overdue(
                        description:
                            "not seen: \(what); entries to \(record.lastSequence), "
                            + "links \(record.links), faults \(record.faults)"
                    )
                }
            }
        }

        /// Waits for news that no one has waited for, or so long; false when none came.
        func awaitNews(seconds: Double) -> Bool {
            box.arrival.wait(timeout: DispatchTime.now() + seconds) == .success
        }

        func see(_ what: String, _ isThere: (Record) -> Bool) throws {
            _ = try until(what) { isThere($0) ? true : nil }
        }

        /// Waits for the entry at a sequence number, or one behind it.
        func awaitEntry(_ sequence: UInt64) throws {
            try see("the entry \(sequence)") { $0.lastSequence >= sequence }
        }

        /// Appends an entry and waits until it is stored; again while brokers elect, when no answer says what became of it.
        @discardableResult
        func store(_ bytes: [UInt8], number: UInt64, expecting last: UInt64) throws -> UInt64 {
            for _ in 0..<20 {
                log.append(bytes, number: number, expecting: last)
                let answer = try until("the answer to append \(number)") { record in
                    record.stored[number] ?? record.refused[number]
                        ?? (record.unknown.contains(number) ? 0 : nil)
                }
                if record.stored[number] != nil { return answer }
                // The try before was stored, and its answer lost.
                if answer == last + 1 { return answer }
                guard record.unknown.contains(number) else {
                    throw Overdue(description: "append \(number) was refused: \(answer)")
                }
                box.record.withLock { _ = $0.unknown.remove(number) }
                _ = awaitNews(seconds: 0.5)
            }
            throw Overdue(description: "append \(number) has no answer")
        }

        /// Takes no entries until `takeEntries`.
        func holdEntries() { box.isHolding.withLock { $0 = true } }

        func takeEntries() {
            box.isHolding.withLock { $0 = false }
            box.release.signal()
        }
    }
#endif
