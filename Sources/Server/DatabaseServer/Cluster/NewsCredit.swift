import Dispatch
import Synchronization

/// How much may be under way from one thread to another: the thread with too much there waits.
final class NewsCredit: Sendable {
    private let free: DispatchSemaphore
    private let isOver = Atomic<Bool>(false)

    init(_ count: Int) {
        free = DispatchSemaphore(value: 0)
        // A semaphore must have its first value when it ends; this one ends with any.
        for _ in 0..<count { free.signal() }
    }

    /// Takes one, when there is one.
    func take() {
        if isOver.load(ordering: .acquiring) { return }
        free.wait()
        // Other threads that wait go on too.
        if isOver.load(ordering: .acquiring) { free.signal() }
    }

    /// Gives one back.
    func give() { free.signal() }

    /// From now on no thread waits.
    func end() {
        isOver.store(true, ordering: .releasing)
        free.signal()
    }
}
