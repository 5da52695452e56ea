import Dispatch
import Testing

@testable import Locks

/// What the client's locks are on Apple's systems, on the system where the tests run.
@Suite("a mutex of the C library")
struct PThreadMutexTests {
    @Test("lets one thread at a time at its value")
    func counting() {
        let count = PThreadMutex(0)
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<10_000 { count.withLock { $0 += 1 } }
        }
        #expect(count.withLock { $0 } == 40_000)
    }

    private enum Fault: Error { case expected }

    @Test("is open again behind an error, and keeps what was done before it")
    func throwing() {
        let texts = PThreadMutex(["a"])
        #expect(throws: Fault.expected) {
            try texts.withLock { texts throws(Fault) in
                texts.append("b")
                throw Fault.expected
            }
        }
        #expect(texts.withLock { $0 } == ["a", "b"])
    }

    @Test("lets go of its value when it goes")
    func letsGo() {
        final class Token: Sendable {}
        weak var token: Token?
        do {
            let mutex = PThreadMutex(Token())
            token = mutex.withLock { $0 }
            #expect(token != nil)
        }
        #expect(token == nil)
    }
}
