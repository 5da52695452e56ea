#if Cluster
    import ClusterLog
    import JetStream
    import TestSupport
    import Testing

    /// Brokers that nothing happens to; each test has a stream of its own there.
    @Suite("a log on three brokers", .enabled(if: RunningBrokers.areInstalled))
    struct ThreeBrokersTests {
        private static let shared = Result { try RunningBrokers() }

        private let brokers: RunningBrokers

        init() throws { brokers = try Self.shared.get() }

        @Test("keeps entries in order and delivers them to every node, the writer included")
        func everyNode() throws {
            let writer = try TestLog(brokers, group: "every", node: "writer")
            let reader = try TestLog(brokers, group: "every", node: "reader", first: 1)
            writer.log.tail(from: 1)
            for number in UInt64(1)...3 {
                let sequence = try writer.store(
                    [UInt8(number)],
                    number: number,
                    expecting: number - 1
                )
                #expect(sequence == number)
            }
            // One begins before the entries, one behind them.
            reader.log.tail(from: 1)
            for log in [writer, reader] {
                try log.awaitEntry(3)
                #expect(log.record.entries.map(\.sequence) == [1, 2, 3])
                #expect(log.record.entries.map(\.bytes) == [[1], [2], [3]])
                #expect(log.record.links == [true])
                #expect(log.record.faults == [])
            }
            let last = try reader.until("bounds of the tail") { record in
                record.entryCounts.last == 0 ? record.bounds.last : nil
            }
            #expect(last == (1, 3))
        }

        @Test("says that an empty log ends before it begins")
        func empty() throws {
            let log = try TestLog(brokers, group: "empty")
            #expect(try log.until("bounds") { $0.bounds.first } == (1, 0))
        }

        @Test("refuses an entry that expects another one to be the last, a zero included")
        func refused() throws {
            let log = try TestLog(brokers, group: "refused")
            log.log.tail(from: 1)
            try log.store([1], number: 1, expecting: 0)
            try log.store([2], number: 2, expecting: 1)
            for (number, expected) in [(3, 0), (4, 1), (5, 3), (6, 1 << 40)] as [(UInt64, UInt64)] {
                log.log.append([9], number: number, expecting: expected)
                #expect(try log.until("refusal \(number)") { $0.refused[number] } == 2)
            }
            #expect(try log.store([3], number: 7, expecting: 2) == 3)
            try log.awaitEntry(3)
            #expect(log.record.entries.map(\.bytes) == [[1], [2], [3]])
            #expect(log.record.stored == [1: 1, 2: 2, 7: 3])
            #expect(log.record.unknown == [])
        }

        @Test("stores a copy where it is expected, for the tail to show")
        func copy() throws {
            let log = try TestLog(brokers, group: "copy")
            log.log.tail(from: 1)
            try log.store([1], number: 1, expecting: 0)
            log.log.append([1], number: 2, expecting: 0)
            #expect(try log.until("refusal") { $0.refused[2] } == 1)
            #expect(try log.store([1], number: 3, expecting: 1) == 2)
            try log.awaitEntry(2)
            #expect(log.record.entries.map(\.bytes) == [[1], [1]])
        }

        @Test("keeps the order of many appends in flight")
        func pipelined() throws {
            let log = try TestLog(brokers, group: "pipelined")
            log.log.tail(from: 1)
            for number in UInt64(1)...200 {
                let bytes = [UInt8](repeating: UInt8(number), count: Int(number))
                log.log.append(bytes, number: number, expecting: number - 1)
            }
            try log.awaitEntry(200)
            try log.see("answers") { $0.stored.count == 200 }
            #expect(log.record.entries.map { UInt64($0.bytes.count) } == Array(1...200))
            #expect(log.record.stored.allSatisfy { $0.key == $0.value })
        }

        @Test("holds entries back while the receiver takes none, and loses none of them")
        func slowReceiver() throws {
            let log = try TestLog(brokers, group: "slow")
            log.log.tail(from: 1)
            try log.store([0], number: 1, expecting: 0)
            try log.awaitEntry(1)
            log.holdEntries()
            let last: UInt64 = 120
            for number in 2...last {
                let bytes = [UInt8](repeating: UInt8(number), count: 65_536)
                try log.store(bytes, number: number, expecting: number - 1)
            }
            #expect(log.record.lastSequence == 1)
            log.takeEntries()
            try log.awaitEntry(last)
            #expect(log.record.entries.map(\.sequence) == Array(1...last))
            #expect(
                log.record.entries.allSatisfy {
                    $0.bytes.last == ($0.sequence == 1 ? 0 : UInt8($0.sequence))
                }
            )
        }

        @Test("takes entries up to their limit")
        func largest() throws {
            let log = try TestLog(brokers, group: "largest")
            log.log.tail(from: 1)
            let bytes = (0..<JetStreamLimits.entryByteCount).map {
                UInt8(truncatingIfNeeded: $0 / 7)
            }
            try log.store(bytes, number: 1, expecting: 0)
            try log.store([], number: 2, expecting: 1)
            try log.awaitEntry(2)
            #expect(log.record.entries.map(\.bytes) == [bytes, []])
        }

        @Test("begins a tail anew where it is asked to, behind new bounds")
        func again() throws {
            let log = try TestLog(brokers, group: "again")
            for number in UInt64(1)...9 {
                try log.store([UInt8(number)], number: number, expecting: number - 1)
            }
            var expected: [UInt64] = []
            for start in [1, 6, 3, 9] as [UInt64] {
                let boundsCount = log.record.bounds.count
                log.log.tail(from: start)
                expected += Array(start...9)
                try log.see("entries from \(start)") { $0.entries.count == expected.count }
                let record = log.record
                #expect(record.entries.map(\.sequence) == expected)
                // Bounds may still come for the link: the tail's are the last ones.
                #expect(record.bounds.count > boundsCount)
                #expect(record.bounds.last ?? (0, 0) == (1, 9))
                #expect(record.entryCounts.last == expected.count - Int(10 - start))
            }
            // One from behind the end waits for entries.
            log.log.tail(from: 11)
            try log.see("bounds") { $0.entryCounts.last == expected.count }
            try log.store([10], number: 10, expecting: 9)
            try log.store([11], number: 11, expecting: 10)
            try log.see("entry 11") { $0.entries.count == expected.count + 1 }
            #expect(log.record.lastSequence == 11)
        }

        @Test("forgets entries up to one, and begins behind it")
        func purge() throws {
            let log = try TestLog(brokers, group: "purge")
            for number in UInt64(1)...6 {
                try log.store([UInt8(number)], number: number, expecting: number - 1)
            }
            log.log.purge(through: 4)
            // Done in their order: these bounds come behind the purge.
            try log.see("bounds of the link") { !$0.bounds.isEmpty }
            var first: UInt64 = 0
            while first != 5 {
                let count = log.record.bounds.count
                log.log.tail(from: 1)
                first = try log.until("bounds") {
                    $0.bounds.count > count ? $0.bounds.last?.first : nil
                }
            }
            try log.see("entry 6") { $0.lastSequence == 6 }
            #expect(log.record.entries.suffix(2).map(\.sequence) == [5, 6])
            log.log.purge(through: 6)
            var bounds: (first: UInt64, last: UInt64) = (0, 0)
            while bounds.first != 7 {
                let count = log.record.bounds.count
                log.log.tail(from: 7)
                bounds = try log.until("bounds") { $0.bounds.count > count ? $0.bounds.last : nil }
            }
            #expect(bounds == (7, 6))
            #expect(try log.store([7], number: 7, expecting: 6) == 7)
            try log.awaitEntry(7)
        }

        @Test("carries beats to every node of the group, and to no other")
        func beats() throws {
            let logs = try ["a", "b"].map { try TestLog(brokers, group: "beats", node: $0) }
            let other = try TestLog(brokers, group: "beats2", node: "a", first: 2)
            for (index, log) in logs.enumerated() {
                try log.see("link") { $0.links == [true] }
                log.log.beat([UInt8(index)])
            }
            for log in logs {
                try log.see("both beats") { $0.beats.count == 2 }
                #expect(Set(log.record.beats) == [[0], [1]])
            }
            try other.see("link") { $0.links == [true] }
            other.log.beat([2])
            try other.see("its beat") { !$0.beats.isEmpty }
            #expect(other.record.beats == [[2]])
        }

        @Test("lets two writers store nothing that was built on an entry that is not the last")
        func race() throws {
            let writers = try [0, 1].map { index in
                try TestLog(brokers, group: "race", node: "w\(index)", first: index)
            }
            for writer in writers { writer.log.tail(from: 1) }
            let wanted = 150
            var numbers = [UInt64(0), 0]
            // Each has one append in flight, built on what it has read last.
            while writers.contains(where: { $0.record.stored.count < wanted }) {
                for (index, writer) in writers.enumerated() {
                    let record = writer.record
                    let key = numbers[index]
                    let isDone =
                        key == 0 || record.stored[key] != nil || record.refused[key] != nil
                        || record.unknown.contains(key)
                    guard isDone, record.stored.count < wanted else { continue }
                    numbers[index] += 1
                    let bytes = Self.words(UInt64(index), record.lastSequence)
                    writer.log.append(bytes, number: numbers[index], expecting: record.lastSequence)
                }
            }
            let last = writers.flatMap { $0.record.stored.values }.max() ?? 0
            for writer in writers {
                try writer.awaitEntry(last)
                let entries = writer.record.entries
                #expect(entries.map(\.sequence) == Array(1...last))
                for entry in entries {
                    #expect(Self.word(entry.bytes, 1) == entry.sequence - 1, "\(entry.sequence)")
                }
                #expect(writer.record.unknown == [])
            }
            // It was a race: both stored, and both lost.
            for writer in writers {
                #expect(writer.record.stored.count == wanted)
                #expect(writer.record.refused.count > 0)
            }
        }

        @Test("does not use a stream with other settings")
        func otherSettings() throws {
            var configuration = try JetStreamConfiguration(
                brokers: brokers.addresses,
                group: "settings",
                node: "a"
            )
            configuration.replicaCount = 1
            _ = try TestLog(configuration)
            configuration.replicaCount = 3
            let fault = #expect(throws: BrokerFault.self) { try TestLog(configuration) }
            #expect(
                fault
                    == .stream(
                        stream: "LOG_settings",
                        setting: "num_replicas",
                        has: "1",
                        needs: "3"
                    )
            )
        }

        private static func words(_ words: UInt64...) -> [UInt8] {
            words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
        }

        private static func word(_ bytes: [UInt8], _ index: Int) -> UInt64 {
            bytes[(8 * index)..<(8 * index + 8)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
    }
#endif
