import LoopSupport
import Testing
import TestSupport
import Transport

@testable import DatabaseServer

@Suite("where a node stands in its group")
struct GroupPositionTests {
    @Test("what waits goes on in the order of the commits, equals in the order in which they came")
    func order() {
        let seen = onLoop {
            let position = GroupPosition()
            var seen: [String] = []
            position.wait(for: 0) { seen.append("0") }
            position.wait(for: 5) { seen.append("5a") }
            position.wait(for: 3) { seen.append("3") }
            position.wait(for: 5) { seen.append("5b") }
            position.wait(for: 9) { seen.append("9") }
            position.reached(2)
            seen.append("|")
            position.reached(5)
            // What was reached stays reached.
            position.reached(4)
            position.wait(for: 5) { seen.append("5c") }
            return seen + ["\(position.commitCount)"]
        }
        #expect(seen == ["0", "|", "3", "5a", "5b", "5c", "5"])
    }

    @Test("its text is read back, and no other is")
    func text() {
        #expect(GroupPosition.count(in: Array("@4711".utf8)) == 4711)
        for other in ["4711", "@", "@-1", "@x", #"{"t":"d"}"#] {
            #expect(GroupPosition.count(in: Array(other.utf8)) == nil, "\(other)")
        }
    }

    /// An owner that answers when it is let.
    @LoopActor
    private final class Owner {
        var questions: [@Sendable (UInt64?) -> Void] = []
        var isThere = true
        let position = GroupPosition()
        private let limit: Duration
        private(set) lazy var question = OwnerQuestion(position, limit: limit) {
            [unowned self] report in
            guard isThere else { return false }
            questions.append(report)
            return true
        }

        nonisolated init(limit: Duration = .seconds(600)) { self.limit = limit }
    }

    @Test("one question serves all that wait for it, and none that came behind it")
    func question() {
        let owner = Owner()
        let isOver = Semaphore()
        onLoop {
            for _ in 0..<3 { owner.question.whenCurrent { isCurrent in #expect(isCurrent) } }
            let count = owner.questions.count
            // The first asks at once; those behind it need a question that came after them.
            #expect(count == 1)
            owner.questions[0](7)
        }
        onLoop {
            let count = owner.questions.count
            #expect(count == 2)
            owner.position.reached(7)
            owner.questions[1](8)
        }
        onLoop {
            var isCurrent: Bool?
            owner.question.whenCurrent { isCurrent = $0 }
            owner.questions[2](9)
            owner.position.reached(8)
            #expect(isCurrent == nil)
        }
        onLoop { owner.position.reached(9) }
        onLoop {
            owner.question.whenCurrent { isCurrent in
                #expect(isCurrent)
                isOver.signal()
            }
            // It becomes the owner before the answer comes.
            owner.question.owned()
        }
        onLoop { owner.questions[3](nil) }
        #expect(isOver.wait())
    }

    @Test("without an owner the question is asked again until there is one, or time is up")
    func again() {
        let hasty = Owner(limit: .milliseconds(1))
        let ended = Waiter<Bool>()
        onLoop {
            hasty.isThere = false
            hasty.question.whenCurrent { ended.fulfil($0) }
        }
        #expect(ended.wait() == false)
        let owner = Owner()
        let current = Waiter<Bool>()
        onLoop {
            owner.isThere = false
            owner.question.whenCurrent { current.fulfil($0) }
            owner.isThere = true
            owner.position.reached(1)
        }
        while onLoop({ owner.questions.isEmpty }) {}
        onLoop { owner.questions[0](1) }
        #expect(current.wait())
    }
}
