import Testing
import WriteAheadLog

@testable import ClusterLog

/// So many commits of one database, from a number on.
private func commits(_ numbers: ClosedRange<UInt64>, byteCount: Int = 1) throws -> [LogRecord] {
    try numbers.map { try commit($0, payload: [UInt8](repeating: 1, count: byteCount)) }
}

/// What entries are: kind, base and count.
private func lines(_ sent: [LogAppend]) throws -> [String] {
    try sent.map { append in
        let entry = try LogEntry(decoding: append.bytes)
        return "\(append.number) after \(append.expected): "
            + "\(entry.kind) \(entry.base) +\(entry.count)"
    }
}

@Suite("a node that follows a shared log")
struct FollowingMemberTests {
    @Test("claims the group after a silence, and again until the claim counts")
    func claims() throws {
        var rig = MemberRig()
        #expect(rig.takeLines() == ["tail from 1"])
        rig.wait(2_450)
        #expect(rig.takeSent().isEmpty)
        rig.wait(50)
        let first = rig.takeSent()
        #expect(try lines(first) == ["1 after 0: claim 0 +0"])
        rig.wait(450)
        #expect(rig.takeSent().isEmpty)
        rig.wait(50)
        let again = rig.takeSent()
        #expect(again.map(\.bytes) == first.map(\.bytes))
        rig.store(again[0].bytes)
        #expect(rig.member.role == .owning)
        #expect(
            rig.takeLines() == [
                "0 commits at 1: LogProgress(epoch: 1, commit: 0)", "owned at 1",
            ]
        )
    }

    @Test("does not claim while it hears an owner, and follows the claim of another")
    func owner() {
        var rig = MemberRig()
        for _ in 0..<10 {
            rig.wait(2_000)
            rig.hear(.owning, epoch: 1)
        }
        #expect(rig.takeSent().isEmpty)
        rig.entries = [rig.claimOfOther()]
        rig.deliver(from: 1)
        #expect(rig.member.role == .following)
        rig.wait(2_450)
        #expect(rig.takeSent().isEmpty)
        rig.wait(100)
        #expect(rig.takeSent().count == 1)
    }

    @Test("a beat of an owner that was replaced keeps it from nothing")
    func oldOwner() {
        var rig = MemberRig()
        rig.store(rig.claimOfOther())
        rig.store(rig.claimOfOther(node: 3))
        for _ in 0..<6 {
            rig.wait(450)
            rig.hear(.owning, epoch: 1)
        }
        #expect(rig.takeSent().count == 1)
    }

    @Test("does not claim before it has read everything")
    func behind() throws {
        var rig = MemberRig()
        let claim = rig.claimOfOther()
        rig.give(.bounds(first: 1, last: 1))
        #expect(rig.member.behindCount == 1)
        rig.wait(1_950)
        _ = rig.takeLines()
        rig.wait(4_000)
        // It asks for the tail again, and does nothing else.
        #expect(rig.takeLines() == ["tail from 1", "tail from 1"])
        rig.store(claim)
        rig.give(.bounds(first: 1, last: 1))
        rig.wait(2_600)
        #expect(try lines(rig.takeSent()) == ["1 after 1: claim 0 +0"])
    }

    @Test("does not claim while a node that it heard in the last 10 s is further")
    func better() {
        var rig = MemberRig()
        rig.wait(2_000)
        rig.hear(.following, epoch: 0, commit: 1)
        // Five tails in a row would end it.
        rig.wait(5_000)
        rig.deliver(from: 1)
        rig.wait(4_900)
        #expect(rig.takeSent().isEmpty)
        rig.wait(2_200)
        rig.deliver(from: 1)
        rig.wait(2_200)
        #expect(rig.takeSent().count > 0)
    }

    @Test("takes no beat of another log for a sign of anything")
    func otherLog() {
        var rig = MemberRig()
        rig.store(rig.claimOfOther())
        for _ in 0..<60 {
            rig.wait(500)
            rig.hear(.stopped, logID: 12_345, epoch: 9, commit: 9)
        }
        #expect(rig.takeSent().count > 1)
        #expect(rig.member.role == .following)
    }

    @Test("claims at once when the owner leaves")
    func handOver() throws {
        var rig = MemberRig()
        rig.store(rig.claimOfOther())
        rig.hear(.owning, epoch: 1)
        rig.wait(100)
        #expect(rig.takeSent().isEmpty)
        rig.hear(.leaving, epoch: 1)
        #expect(try lines(rig.takeSent()) == ["1 after 1: claim 0 +0"])
    }

    @Test("leaves at once")
    func leave() {
        var rig = MemberRig()
        _ = rig.takeLines()
        rig.give(.leave)
        rig.wait(5_000)
        #expect(rig.takeLines() == ["left"])
    }

    @Test("says twice a second how far it is")
    func beats() {
        var rig = MemberRig()
        rig.store(rig.claimOfOther())
        rig.give(.checkpointed(through: 1))
        _ = rig.takeBeats()
        rig.wait(2_000)
        let beats = rig.takeBeats()
        #expect(beats.count == 4)
        let beat = beats.last
        #expect(beat?.role == .following)
        #expect(beat?.progress == LogProgress(epoch: 1, commit: 0))
        #expect(beat?.sequence == 1)
        #expect(beat?.checkpointed == 1)
        #expect(beat?.logID == rig.member.mark.logID)
        #expect(beat?.details == MemberRig.details)
        rig.give(.link(isUp: false))
        rig.wait(2_000)
        #expect(rig.takeBeats().isEmpty)
    }
}

@Suite("a node that owns a shared log")
struct OwningMemberTests {
    @Test("sends at once when nothing is in flight, then full batches, then what a free slot takes")
    func batches() throws {
        var rig = MemberRig()
        rig.own()
        rig.give(.commits(try commits(1...1)))
        #expect(try lines(rig.takeSent()) == ["2 after 1: batch 0 +1"])
        rig.give(.commits(try commits(2...300)))
        let full = rig.takeSent()
        #expect(try lines(full) == ["3 after 2: batch 1 +256"])
        rig.give(.commits(try commits(301...1_500)))
        // Four are in flight.
        #expect(
            try lines(rig.takeSent()) == ["4 after 3: batch 257 +256", "5 after 4: batch 513 +256"]
        )
        #expect(rig.member.waitingByteCount == 1_500 * 23)
    }

    @Test("an entry that comes back is committed, and its slot takes what waits")
    func slots() throws {
        var rig = MemberRig()
        rig.own()
        rig.give(.commits(try commits(1...1)))
        let first = rig.takeSent()
        rig.give(.commits(try commits(2...4)))
        #expect(rig.takeSent().isEmpty)
        rig.store(first[0].bytes)
        #expect(try lines(rig.takeSent()) == ["3 after 2: batch 1 +3"])
        #expect(rig.takeLines() == ["1 commits at 2: LogProgress(epoch: 1, commit: 1)"])
        #expect(rig.member.waitingByteCount == 3 * 23)
    }

    @Test("batches are closed at 64 KiB")
    func closed() throws {
        var rig = MemberRig()
        rig.own()
        rig.give(.commits(try commits(1...9, byteCount: 30_000)))
        let sent = rig.takeSent()
        // Three of 30,000 bytes and more reach 64 KiB.
        #expect(
            try lines(sent) == [
                "2 after 1: batch 0 +3", "3 after 2: batch 3 +3", "4 after 3: batch 6 +3",
            ]
        )
    }

    @Test("a commit beyond the limit of an entry is cut, and comes back whole")
    func parts() throws {
        var rig = MemberRig()
        rig.own()
        let payload = (0..<1_200_000).map { UInt8(truncatingIfNeeded: $0 * $0 >> 8) }
        rig.give(.commits([try commit(1, payload: payload), try commit(2)]))
        let sent = rig.takeSent()
        #expect(
            try lines(sent) == [
                "2 after 1: part 0 +0", "3 after 2: part 0 +0", "4 after 3: batch 0 +1",
            ]
        )
        #expect(sent.allSatisfy { $0.bytes.count <= 512 * 1024 })
        for append in sent { rig.store(append.bytes) }
        let (records, mark) = try #require(
            rig.effects.compactMap { effect -> ([LogRecord], LogMark)? in
                guard case .committed(let records, let mark) = effect else { return nil }
                return (records, mark)
            }.first
        )
        #expect(mark.commit == 1)
        #expect(try records.map { CommitFacts($0) } == [CommitFacts(commit(1, payload: payload))])
    }

    @Test("a refusal is answered by sending everything again, once all are answered and read")
    func refused() throws {
        var rig = MemberRig()
        rig.own()
        rig.give(.commits(try commits(1...1)))
        rig.give(.commits(try commits(2...257)))
        let sent = rig.takeSent()
        #expect(sent.count == 2)
        // The claim once more has taken the position.
        rig.give(.refused(number: sent[0].number, last: 2))
        rig.store(rig.entries[0])
        #expect(rig.takeSent().isEmpty)
        rig.give(.refused(number: sent[1].number, last: 2))
        let again = rig.takeSent()
        #expect(try lines(again) == ["4 after 2: batch 0 +1", "5 after 3: batch 1 +256"])
        #expect(again.map(\.bytes) == sent.map(\.bytes))
        // News of the earlier tries says nothing.
        rig.give(.refused(number: sent[0].number, last: 9))
        rig.give(.unknown(number: sent[1].number))
        rig.wait(1_500)
        #expect(rig.takeSent().isEmpty)
    }

    @Test("what is on its way is not in the way of what is sent again")
    func onTheWay() throws {
        var rig = MemberRig()
        rig.own()
        rig.give(.commits(try commits(1...1)))
        rig.give(.commits(try commits(2...257)))
        let sent = rig.takeSent()
        // The second came first: it was refused, the first was stored.
        rig.give(.refused(number: sent[1].number, last: 1))
        #expect(rig.takeSent().isEmpty)
        rig.give(.stored(number: sent[0].number, sequence: 2))
        #expect(rig.takeSent().isEmpty)
        rig.store(sent[0].bytes)
        #expect(try lines(rig.takeSent()) == ["4 after 2: batch 1 +256"])
    }

    @Test("after an outcome that is not known it sends again a second later", arguments: [0, 1])
    func unknown(copy: Int) throws {
        var rig = MemberRig()
        rig.own()
        rig.give(.commits(try commits(1...1)))
        rig.give(.commits(try commits(2...257)))
        let sent = rig.takeSent()
        if copy == 0 {
            rig.give(.unknown(number: sent[0].number))
        } else {
            // The second stands before the first: it is void.
            rig.store(sent[1].bytes)
        }
        rig.wait(950)
        #expect(rig.takeSent().isEmpty)
        rig.wait(50)
        let again = rig.takeSent()
        #expect(again.map(\.bytes) == sent.map(\.bytes))
        #expect(again[0].expected == UInt64(rig.entries.count))
    }

    @Test("is deposed at the very entry that is a newer claim, and does nothing more")
    func deposed() throws {
        var rig = MemberRig()
        rig.own()
        rig.give(.commits(try commits(1...1)))
        let sent = rig.takeSent()
        rig.store(rig.claimOfOther())
        #expect(
            rig.takeLines() == ["0 commits at 2: LogProgress(epoch: 2, commit: 0)", "deposed"]
        )
        rig.store(sent[0].bytes)
        rig.give(.commits(try commits(2...2)))
        rig.wait(10_000)
        #expect(rig.effects.isEmpty)
    }

    @Test("stops at an entry of its epoch that counts and that it has not sent")
    func forged() throws {
        var rig = MemberRig()
        rig.own()
        let mark = rig.member.mark
        rig.give(.commits(try commits(1...1)))
        var list: [UInt8] = []
        CommitCoder.append(try commit(1, payload: [9]), to: &list)
        let entry = LogEntry(
            .batch,
            epoch: mark.epoch,
            base: mark.commit,
            count: 1,
            writer: rig.member.incarnation,
            number: 99,
            payload: list
        )
        rig.store(entry.encoded(after: mark.chain).bytes)
        #expect(rig.member.role == .stopped(.otherLog(sequence: 2)))
    }

    @Test("sends nothing once it receives a beat of a later epoch")
    func replaced() throws {
        var rig = MemberRig()
        rig.own()
        rig.hear(.owning, epoch: 2)
        rig.give(.commits(try commits(1...1)))
        rig.wait(1_500)
        #expect(rig.takeSent().isEmpty)
    }

    @Test("says when the log takes nothing, and when it does again")
    func stalled() throws {
        var rig = MemberRig()
        rig.own()
        rig.wait(5_000)
        #expect(rig.takeLines().isEmpty)
        rig.give(.commits(try commits(1...1)))
        let sent = rig.takeSent()
        rig.wait(950)
        #expect(rig.takeLines().isEmpty)
        rig.wait(50)
        #expect(rig.takeLines() == ["stalled true"])
        rig.store(sent[0].bytes)
        #expect(
            rig.takeLines() == [
                "1 commits at 2: LogProgress(epoch: 1, commit: 1)", "stalled false",
            ]
        )
    }

    @Test("leaves when everything came back and another claims, or after 2 s", arguments: [0, 1])
    func leave(withoutClaim: Int) throws {
        var rig = MemberRig()
        rig.own()
        rig.give(.commits(try commits(1...1)))
        let sent = rig.takeSent()
        rig.give(.leave)
        rig.wait(1_000)
        #expect(rig.takeBeats().allSatisfy { $0.role == .owning })
        rig.store(sent[0].bytes)
        #expect(rig.member.role == .leaving)
        #expect(rig.takeBeats().map(\.role) == [.leaving])
        _ = rig.takeLines()
        if withoutClaim == 1 {
            rig.wait(1_950)
            #expect(rig.takeLines().isEmpty)
            rig.wait(50)
        } else {
            rig.store(rig.claimOfOther())
        }
        #expect(rig.takeLines().last == "left")
    }

    @Test("sends nothing while the link is down, and everything again after it")
    func link() throws {
        var rig = MemberRig()
        rig.own()
        rig.give(.commits(try commits(1...1)))
        let sent = rig.takeSent()
        rig.give(.link(isUp: false))
        rig.give(.unknown(number: sent[0].number))
        rig.give(.commits(try commits(2...2)))
        rig.wait(3_000)
        #expect(rig.takeSent().isEmpty)
        rig.give(.link(isUp: true))
        rig.deliver(from: 1)
        rig.wait(1_000)
        let again = rig.takeSent()
        #expect(again.first?.bytes == sent[0].bytes)
    }

    @Test("trims below the checkpoint of each node that it heard, and keeps the newest")
    func trim() throws {
        var options = ClusterOptions()
        options.nodeMemory = .seconds(60)
        options.keptByteCount = 1_000
        var rig = MemberRig(options: options)
        rig.own()
        for number in UInt64(1)...40 {
            rig.give(.commits(try commits(number...number)))
            rig.storeSent()
        }
        rig.give(.checkpointed(through: 30))
        rig.hear(.following, node: 2, epoch: 1, checkpointed: 20)
        rig.hear(.following, node: 3, epoch: 1, checkpointed: 25)
        // Needs nothing: it takes an archive.
        rig.hear(.stopped, node: 4, epoch: 1, checkpointed: 2)
        _ = rig.takeLines()
        // Too young to know all nodes.
        rig.wait(50_000)
        #expect(rig.takeLines().isEmpty)
        rig.hear(.following, node: 3, epoch: 1, checkpointed: 25)
        rig.wait(10_000)
        #expect(rig.takeLines() == ["purge through 19"])
        rig.wait(10_000)
        // Node 2 was not heard for a minute.
        #expect(rig.takeLines() == ["purge through 24"])
        rig.hear(.following, node: 3, epoch: 1, checkpointed: 41)
        rig.give(.checkpointed(through: 41))
        rig.wait(10_000)
        // The last 1,000 bytes are 8 entries of 123, and one that is cut.
        #expect(rig.takeLines() == ["purge through 32"])
    }
}

@Suite("a node that cannot follow a shared log")
struct StoppedMemberTests {
    /// A log of a claim and a commit, and the mark at its end.
    private static func log() throws -> (entries: [[UInt8]], mark: LogMark) {
        var rig = MemberRig()
        rig.own()
        rig.give(.commits(try commits(1...1)))
        rig.storeSent()
        return (rig.entries, rig.member.mark)
    }

    @Test("stops at damage, a gap and another log, says so, and does nothing else")
    func stops() throws {
        let (entries, mark) = try Self.log()
        var damaged = entries[1]
        damaged[120] ^= 1
        let cases: [(LogNews, LogFault)] = [
            (.entry(sequence: 2, bytes: damaged), .badEntry(sequence: 2, .checksum)),
            (.entry(sequence: 2, bytes: entries[0]), .otherLog(sequence: 2)),
            (.bounds(first: 4, last: 9), .gap(expected: 3, found: 4)),
        ]
        for (news, fault) in cases {
            var rig = MemberRig(from: mark, entries: entries)
            _ = rig.takeLines()
            rig.give(news)
            #expect(rig.member.role == .stopped(fault))
            #expect(rig.takeBeats().map(\.role) == [.stopped])
            #expect(rig.takeLines() == ["stopped: \(fault)"])
            rig.store(rig.claimOfOther())
            rig.wait(5_000)
            let beats = rig.takeBeats()
            #expect(beats.count == 10 && beats.allSatisfy { $0.role == .stopped })
            #expect(rig.effects.isEmpty)
        }
    }

    @Test("stops when its tail goes on behind a gap")
    func gap() throws {
        let (entries, mark) = try Self.log()
        var rig = MemberRig(from: mark, entries: entries)
        rig.give(.entry(sequence: 4, bytes: entries[1]))
        #expect(rig.member.role == .stopped(.gap(expected: 3, found: 4)))
    }

    @Test("goes on when the entry of its mark was trimmed, and the next one is there")
    func trimmed() throws {
        let (entries, mark) = try Self.log()
        var rig = MemberRig(from: mark, entries: entries, first: 3)
        rig.store(rig.claimOfOther())
        #expect(rig.member.mark.epoch == 2)
    }

    @Test("ignores entries of an earlier tail")
    func earlierTail() throws {
        let (entries, mark) = try Self.log()
        var rig = MemberRig(from: mark, entries: entries)
        rig.give(.link(isUp: false))
        rig.give(.link(isUp: true))
        rig.give(.entry(sequence: 5, bytes: entries[0]))
        rig.deliver(from: 2)
        rig.wait(5_000)
        #expect(rig.member.role == .following)
        #expect(rig.takeSent().count > 0)
    }

    @Test("stops when the log ends before what it has read, and stays when that was a moment")
    func wentBack() throws {
        let (entries, mark) = try Self.log()
        for isMoment in [true, false] {
            var rig = MemberRig(from: mark, entries: entries)
            rig.wait(500)
            rig.give(.link(isUp: false))
            rig.give(.link(isUp: true))
            for round in 0..<5 {
                #expect(rig.member.role == .following)
                let last: UInt64 = isMoment && round == 4 ? 2 : 1
                rig.give(.bounds(first: 1, last: last))
                if last == 2 { rig.give(.entry(sequence: 2, bytes: entries[1])) }
                #expect(rig.takeSent().isEmpty)
                rig.wait(2_000)
            }
            if isMoment {
                rig.deliver(from: 2)
                rig.wait(3_000)
                #expect(rig.member.role == .following)
                #expect(rig.takeSent().count > 0)
            } else {
                let fault = LogFault.wentBack(last: 1, known: mark.progress)
                #expect(rig.member.role == .stopped(fault))
            }
        }
    }

    @Test("stops when a node of its log has read more than the log holds")
    func otherKnowsMore() throws {
        let (entries, mark) = try Self.log()
        var rig = MemberRig(from: mark, entries: entries)
        for _ in 0..<30 {
            rig.wait(500)
            rig.hear(.stopped, epoch: 1, commit: 2)
            let tails = rig.takeLines().filter { $0.hasPrefix("tail") }
            if !tails.isEmpty { rig.deliver(from: 2) }
        }
        let known = LogProgress(epoch: 1, commit: 2)
        #expect(rig.member.role == .stopped(.wentBack(last: 2, known: known)))
    }

    @Test("says what happened, where, and what to do")
    func texts() {
        let faults: [LogFault] = [
            .badEntry(sequence: 7, .checksum), .badEntry(sequence: 7, .unknownFormat(2)),
            .badCommits(sequence: 7, .tooLong(byteCount: 1)), .openTooLong(sequence: 7),
            .gap(expected: 7, found: 9), .otherLog(sequence: 7),
            .wentBack(last: 7, known: LogProgress(epoch: 1, commit: 2)),
        ]
        let advice = ["Check", "Update", "cluster join", "Found"]
        for fault in faults {
            let text = fault.description
            #expect(text.contains("7"), "\(text)")
            #expect(advice.contains { text.contains($0) } && text.hasSuffix("."), "\(text)")
        }
    }
}
