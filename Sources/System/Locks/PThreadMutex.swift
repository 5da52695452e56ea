#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A value that one thread at a time uses, behind a mutex of the C library. `Synchronization.Mutex` for systems older
/// than that module. Like it, it does not detect recursive locking: that never returns. `@unchecked`: the thread that
/// holds the mutex owns `value`, and results of `withLock` are `sending`.
package final class PThreadMutex<Value>: @unchecked Sendable {
    // On the heap, since a C mutex must not move.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    /// Makes one with its first value.
    package init(_ value: sending Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        let fault = pthread_mutex_init(mutex, nil)
        precondition(fault == 0, "the system makes no mutex: error \(fault)")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deinitialize(count: 1)
        mutex.deallocate()
    }

    /// Calls `body` with the value while no other thread uses it.
    package func withLock<Result, Failure>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
