#if canImport(Darwin)
    /// A value that one thread at a time uses. The module `Synchronization` has one too, for iOS 18 and macOS 15 on;
    /// this one is for all.
    package typealias Mutex = PThreadMutex
#else
    @_exported public import Synchronization
#endif

extension Mutex<UInt64> {
    /// Counts up by one, and gives the new count.
    package func next() -> UInt64 {
        withLock { count in
            count += 1
            return count
        }
    }
}
