#if Cluster
    import JetStream
    import TestSupport

    /// Appends the payloads 1, 2, 3 and so on as the owner of a log does: four in flight, each after the one before.
    /// What the tail does not show is sent again.
    struct LoadWriter {
        private static let window: UInt64 = 4

        let log: TestLog
        /// Payloads that the tail has shown, in their order.
        private(set) var confirmed: UInt64
        private(set) var sentAgainCount = 0
        private var entryCount = 0
        private var lastSent: UInt64
        private var lastNumber: UInt64 = 0
        /// The payload of each append.
        private(set) var payloads: [UInt64: UInt64] = [:]
        private var inFlight: Set<UInt64> = []

        /// Goes on behind what the log holds.
        init(_ log: TestLog) throws {
            self.log = log
            log.log.tail(from: 1)
            let last = try log.until("bounds") { $0.bounds.last?.last }
            try log.awaitEntry(last)
            confirmed = 0
            lastSent = 0
            read(log.record)
            lastSent = confirmed
        }

        /// Goes on until the tail has shown a payload.
        mutating func write(through payload: UInt64) throws {
            while confirmed < payload {
                while lastSent < min(confirmed + Self.window, payload) {
                    send(lastSent + 1, expecting: log.record.lastSequence + UInt64(inFlight.count))
                }
                let hasNews = log.awaitNews(seconds: 1)
                let record = log.record
                let before = confirmed
                read(record)
                if confirmed > before { continue }
                let isDisturbed = inFlight.contains { number in
                    record.refused[number] != nil || record.unknown.contains(number)
                }
                // A refusal may say that the tail has not come as far as the log.
                let isBehind = inFlight.contains { record.refused[$0] ?? 0 > record.lastSequence }
                if !hasNews || (isDisturbed && !isBehind) { sendAgain(record) }
            }
        }

        private mutating func send(_ payload: UInt64, expecting last: UInt64) {
            lastNumber += 1
            payloads[lastNumber] = payload
            inFlight.insert(lastNumber)
            lastSent = max(lastSent, payload)
            log.log.append(Self.bytes(payload), number: lastNumber, expecting: last)
        }

        private mutating func sendAgain(_ record: TestLog.Record) {
            inFlight = []
            sentAgainCount += 1
            guard lastSent > confirmed else { return }
            for (index, payload) in (confirmed + 1...lastSent).enumerated() {
                send(payload, expecting: record.lastSequence + UInt64(index))
            }
        }

        /// Takes what has come on the tail. Of equal payloads the first one counts.
        private mutating func read(_ record: TestLog.Record) {
            for entry in record.entries[entryCount...] {
                let payload = Self.payload(entry.bytes)
                if payload == confirmed + 1 { confirmed = payload }
                inFlight = inFlight.filter { payloads[$0] != payload }
            }
            entryCount = record.entries.count
        }

        static func bytes(_ payload: UInt64) -> [UInt8] {
            (0..<8).map { UInt8(truncatingIfNeeded: payload >> (8 * $0)) }
        }

        static func payload(_ bytes: [UInt8]) -> UInt64 {
            bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
    }
#endif
