#if Cluster
    import ClusterLog
    import JetStream
    import TestSupport
    import Testing

    /// Brokers die, stand still and come back here, so one test has them at a time.
    @Suite(
        "a log on brokers that fail",
        .serialized,
        .enabled(if: RunningBrokers.areInstalled)
    )
    struct DisturbedBrokersTests {
        private static let shared = Result { try RunningBrokers() }

        private let brokers: RunningBrokers

        init() throws { brokers = try Self.shared.get() }

        @Test("loses and repeats no entry when the leader is killed under load")
        func leader() throws {
            let group = "leader"
            let reader = try TestLog(brokers, group: group, node: "reader")
            reader.log.tail(from: 1)
            var goal: UInt64 = 0
            var sentAgainCount = 0
            for round in 0..<(TestSeed.rounds.map { max(2, $0 / 100) } ?? 2) {
                let leader = try brokers.leader(of: "LOG_\(group)")
                // The connection lives on, or goes with the leader.
                let first = (leader + round + 1) % 3
                let log = try TestLog(brokers, group: group, node: "writer", first: first)
                var writer = try LoadWriter(log)
                goal += 200
                try writer.write(through: goal)
                try brokers.kill(leader)
                goal += 200
                try writer.write(through: goal)
                sentAgainCount += writer.sentAgainCount
                let record = log.record
                #expect(record.links == (first == leader ? [true, false, true] : [true]))
                #expect(record.entries.map(\.sequence) == Array(1...record.lastSequence))
                // What was said to be stored is there.
                for (number, sequence) in record.stored {
                    let bytes = record.entries[Int(sequence) - 1].bytes
                    #expect(
                        LoadWriter.payload(bytes) == writer.payloads[number],
                        "append \(number)"
                    )
                }
                try brokers.start(leader)
                try brokers.awaitReady()
            }
            #expect(sentAgainCount > 0, "no append was ever disturbed")
            let fresh = try TestLog(brokers, group: group, node: "fresh", first: 2)
            fresh.log.tail(from: 1)
            let last = try fresh.until("bounds") { $0.bounds.last?.last }
            for log in [fresh, reader] {
                try log.awaitEntry(last)
                // A copy of an entry may still come in behind.
                let entries = log.record.entries.prefix(Int(last))
                #expect(entries.map(\.sequence) == Array(1...last))
                #expect(entries.map(\.bytes) == fresh.record.entries.prefix(Int(last)).map(\.bytes))
            }
            var next: UInt64 = 1
            for entry in fresh.record.entries where LoadWriter.payload(entry.bytes) == next {
                next += 1
            }
            #expect(next == goal + 1)
        }

        @Test("goes on over another broker when its own is killed, and says so")
        func link() throws {
            let first = (try leaderOfNew("link") + 1) % 3
            let log = try TestLog(brokers, group: "link", first: first)
            log.log.tail(from: 1)
            try log.store([1], number: 1, expecting: 0)
            try log.awaitEntry(1)
            let boundsCount = log.record.bounds.count
            try brokers.kill(first)
            try log.see("the link") { $0.links == [true, false, true] }
            let bounds = try log.until("bounds") { record in
                record.bounds.count > boundsCount ? record.bounds.last : nil
            }
            #expect(bounds == (1, 1))
            try log.store([2], number: 2, expecting: 1)
            log.log.beat([7])
            try log.awaitEntry(2)
            try log.see("a beat") { $0.beats == [[7]] }
            #expect(log.record.entries.map(\.sequence) == [1, 2])
            try brokers.start(first)
            try brokers.awaitReady()
        }

        @Test("leaves a broker that stands still")
        func frozen() throws {
            let first = (try leaderOfNew("frozen") + 1) % 3
            let log = try TestLog(brokers, group: "frozen", first: first)
            log.log.tail(from: 1)
            try log.store([1], number: 1, expecting: 0)
            try brokers.freeze(first)
            // So much that the socket takes no more: appends wait, and this thread does not.
            let large = [UInt8](repeating: 1, count: JetStreamLimits.entryByteCount)
            for number in UInt64(2)...40 {
                log.log.append(large, number: number, expecting: number - 1)
            }
            try log.see("the link") { $0.links.prefix(3) == [true, false, true] }
            try brokers.freeze(first, false)
            try log.see("an append without an answer") { !$0.unknown.isEmpty }
            let last = try log.until("bounds") { $0.links.count >= 3 ? $0.bounds.last?.last : nil }
            try log.awaitEntry(last)
            var writer = try LoadWriter(try TestLog(brokers, group: "frozen2"))
            try writer.write(through: 5)
            #expect(log.record.entries.map(\.sequence) == Array(1...log.record.lastSequence))
        }

        @Test("goes on with tails whose consumers' broker is killed")
        func consumers() throws {
            let leader = try leaderOfNew("consumers")
            let writer = try TestLog(brokers, group: "consumers", node: "writer", first: leader)
            // Each has its consumer on one of three brokers: that none is on the killed one happens once in 3,000 runs.
            let readers = try (0..<20).map { index in
                try TestLog(brokers, group: "consumers", node: "r\(index)", first: leader)
            }
            for reader in readers { reader.log.tail(from: 1) }
            try writer.store([1], number: 1, expecting: 0)
            for reader in readers { try reader.awaitEntry(1) }
            let killed = (leader + 1) % 3
            try brokers.kill(killed)
            try writer.store([2], number: 2, expecting: 1)
            for reader in readers {
                try reader.awaitEntry(2)
                #expect(reader.record.entries.map(\.sequence) == [1, 2])
                #expect(reader.record.links == [true])
            }
            try brokers.start(killed)
            try brokers.awaitReady()
        }

        @Test("stores nothing without a majority, says why, and goes on with one")
        func majority() throws {
            let leader = try leaderOfNew("majority")
            let log = try TestLog(brokers, group: "majority", first: leader)
            log.log.tail(from: 1)
            var writer = try LoadWriter(log)
            try writer.write(through: 10)
            let others = [1, 2].map { (leader + $0) % 3 }
            for other in others { try brokers.kill(other) }
            let last = log.record.lastSequence
            log.log.append(LoadWriter.bytes(11), number: 1_000, expecting: last)
            log.log.purge(through: 2)
            log.log.tail(from: 1)
            try log.see("a fault") { record in
                record.faults.contains { if case .noAnswer = $0 { true } else { false } }
            }
            #expect(log.record.stored[1_000] == nil)
            for other in others { try brokers.start(other) }
            try brokers.awaitReady()
            try writer.write(through: 20)
            // The purge is still due and is done.
            let fresh = try TestLog(brokers, group: "majority", node: "b")
            var first: UInt64 = 0
            while first != 3 {
                let count = fresh.record.bounds.count
                fresh.log.tail(from: 1)
                first = try fresh.until("bounds") {
                    $0.bounds.count > count ? $0.bounds.last?.first : nil
                }
            }
        }

        /// Makes a stream, and gives the number of its leader.
        private func leaderOfNew(_ group: String) throws -> Int {
            _ = try TestLog(brokers, group: group)
            return try brokers.leader(of: "LOG_\(group)")
        }
    }
#endif
