import Foundation
import Glibc
import Synchronization
import Transport

/// Runs `body` on the loop and waits for its result, from a test's own thread.
package func onLoop<Result: Sendable>(_ body: @escaping @Sendable @LoopActor () -> Result) -> Result
{
    startLoop()
    let box = Waiter<Result>()
    EventLoop.shared.enqueue { box.fulfil(body()) }
    return box.wait()
}

/// Runs the loop on a thread of its own from the first call on.
package func startLoop() { _ = loopThread }

private let loopThread: Void = Thread.detachNewThread {
    do { try EventLoop.shared.run {} } catch { preconditionFailure("\(error)") }
}

/// A value that one thread waits for and another brings. Waiting more than 60 seconds is a bug.
package final class Waiter<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let semaphore = Semaphore()

    package init() {}

    package func fulfil(_ value: Value) {
        self.value.withLock { $0 = value }
        semaphore.signal()
    }

    package func wait() -> Value {
        precondition(semaphore.wait(), "the loop does nothing any more")
        guard let value = value.withLock({ $0 }) else { preconditionFailure("fulfilled before") }
        return value
    }
}

/// A POSIX semaphore whose wait has an end.
package final class Semaphore: @unchecked Sendable {
    // Owned by this object; the semaphore synchronises itself.
    private let handle = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    package init() { sem_init(handle, 0, 0) }

    deinit {
        sem_destroy(handle)
        handle.deallocate()
    }

    package func signal() { sem_post(handle) }

    /// Waits for a signal; false when none came in time.
    package func wait(seconds: Int = 60) -> Bool {
        var deadline = timespec()
        clock_gettime(CLOCK_REALTIME, &deadline)
        deadline.tv_sec += seconds
        while sem_timedwait(handle, &deadline) != 0 {
            if errno != EINTR { return false }
        }
        return true
    }
}
