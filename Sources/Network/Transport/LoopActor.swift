/// The global actor of everything that lives on the event loop.
///
/// Its executor is `EventLoop.shared`: code isolated to it runs on the loop thread between two
/// waits for the network, and nothing else runs there.
@globalActor
package actor LoopActor {
    /// The one instance that a global actor has.
    package static let shared = LoopActor()

    /// The event loop.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        EventLoop.shared.asUnownedSerialExecutor()
    }

    /// Runs `body` at once, on the loop thread, where the compiler cannot see that it is one.
    ///
    /// The door for C callbacks. Stops the process when called on another thread.
    package nonisolated static func assume<Result>(
        _ body: @LoopActor () throws -> Result
    ) rethrows -> Result {
        EventLoop.shared.checkIsolated()
        // Dropping the isolation from the type is sound after the check above; the standard
        // library's MainActor.assumeIsolated does the same.
        return try withoutActuallyEscaping(body) { isolated in
            try unsafeBitCast(isolated, to: (() throws -> Result).self)()
        }
    }
}
