import TestSupport
import Testing

@testable import DatabaseServer

@Suite("Jobs of several clients")
struct FairQueueTests {
    /// A queue that can be asked within an expectation.
    private final class Jobs {
        private var queue = FairQueue<Int>()

        func append(_ job: Int, of client: String) { queue.append(job, of: client) }
        func next() -> Int? { queue.next()?.job }
        func finished(_ client: String) { queue.finished(client) }
    }

    @Test("are begun in turn, however many one client brings")
    func turns() {
        var queue = FairQueue<Int>()
        for job in 0..<100 { queue.append(job, of: "greedy") }
        queue.append(1_000, of: "honest")
        queue.append(1_001, of: "honest")
        var order: [Int] = []
        while let (client, job) = queue.next() {
            order.append(job)
            queue.finished(client)
        }
        #expect(order[..<5] == [0, 1_000, 1, 1_001, 2])
        #expect(order.count == 102)
        #expect(queue.count == 0)
    }

    @Test("a client has one under way at a time; a second worker is for another client")
    func oneAtATime() {
        let queue = Jobs()
        queue.append(1, of: "a")
        queue.append(2, of: "a")
        #expect(queue.next() == 1)
        #expect(queue.next() == nil)
        queue.append(3, of: "b")
        #expect(queue.next() == 3)
        queue.append(4, of: "a")
        #expect(queue.next() == nil)
        queue.finished("a")
        #expect(queue.next() == 2)
        queue.finished("b")
        queue.finished("a")
        #expect(queue.next() == 4)
    }

    @Test("of each client stay in order, and none is lost")
    func order() {
        var queue = FairQueue<(client: Int, number: Int)>()
        var (appended, begun) = ([Int](repeating: 0, count: 5), [Int](repeating: 0, count: 5))
        var underWay: [String] = []
        var isInOrder = true
        func begin() {
            guard let (client, job) = queue.next() else { return }
            isInOrder = isInOrder && begun[job.client] == job.number && !underWay.contains(client)
            begun[job.client] += 1
            underWay.append(client)
        }
        var random = TestSeed.generator(1)
        for _ in 0..<20_000 {
            switch random.index(3) {
            case 0:
                let client = random.index(5)
                queue.append((client, appended[client]), of: "\(client)")
                appended[client] += 1
            case 1 where underWay.count < 3: begin()
            default:
                if let client = underWay.randomElement(using: &random) {
                    underWay.removeAll { $0 == client }
                    queue.finished(client)
                }
            }
        }
        while queue.count > 0 {
            for client in underWay { queue.finished(client) }
            underWay = []
            begin()
        }
        #expect(isInOrder)
        #expect(appended == begun)
    }
}
