import ClusterLog
import Synchronization
import Testing

@testable import JetStream

@Suite("a tail")
struct TailTests {
    private final class Receiver: Sendable {
        let sequences = Mutex<[UInt64]>([])

        func deliver(_ news: LogNews) {
            guard case .entry(let sequence, _) = news else {
                Issue.record("\(news)")
                return
            }
            sequences.withLock { $0.append(sequence) }
        }

        var all: [UInt64] { sequences.withLock { $0 } }
    }

    private let receiver = Receiver()

    private func tail(from next: UInt64) -> Tail {
        Tail(from: next) { [receiver] in receiver.deliver($0) }
    }

    @Test("hands on each entry once, from where it is asked to")
    func once() {
        let tail = tail(from: 3)
        for (index, sequence) in ([1, 2, 3, 4, 4, 3, 5] as [UInt64]).enumerated() {
            #expect(tail.receive([], sequence: sequence, delivery: UInt64(index) + 1))
        }
        #expect(receiver.all == [3, 4, 5])
        #expect(tail.end() == 6)
    }

    @Test("begins at entry 1 at the lowest")
    func beginning() {
        #expect(tail(from: 0).end() == 1)
    }

    @Test("passes over numbers that the log has purged")
    func purged() {
        let tail = tail(from: 1)
        #expect(tail.receive([], sequence: 8, delivery: 1))
        #expect(tail.receive([], sequence: 20, delivery: 2))
        #expect(receiver.all == [8, 20])
        #expect(tail.end() == 21)
    }

    @Test(
        "ends where a delivery was lost, repeated or from another consumer",
        arguments: [1, 3, 9]
    )
    func lost(delivery: UInt64) {
        let tail = tail(from: 1)
        #expect(tail.receive([], sequence: 1, delivery: 1))
        #expect(!tail.receive([], sequence: 2, delivery: delivery))
        #expect(tail.receive([], sequence: 2, delivery: 2))
        #expect(receiver.all == [1])
        #expect(tail.end() == 2)
    }

    @Test("notices that the first delivery was lost")
    func first() {
        #expect(!tail(from: 1).receive([], sequence: 2, delivery: 2))
        #expect(receiver.all == [])
    }

    @Test("hands on nothing after its end")
    func ended() {
        let tail = tail(from: 1)
        #expect(tail.receive([], sequence: 1, delivery: 1))
        #expect(tail.end() == 2)
        #expect(tail.receive([], sequence: 2, delivery: 2))
        #expect(receiver.all == [1])
        #expect(tail.end() == 2)
    }
}
