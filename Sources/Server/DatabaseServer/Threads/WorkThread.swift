import Glibc

/// A thread that runs one function to its end.
final class WorkThread: Sendable {
    private let handle: pthread_t

    /// The body of a thread, handed through C as an opaque pointer.
    private final class Start {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }

    /// Starts the thread at once.
    init(_ body: @escaping @Sendable () -> Void) {
        var handle = pthread_t()
        // The new thread takes over this one retained reference.
        let start = Unmanaged.passRetained(Start(body)).toOpaque()
        let failure = pthread_create(&handle, nil, { WorkThread.run($0) }, start)
        precondition(failure == 0, "the system can start a handful of threads")
        self.handle = handle
    }

    private static func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let argument else { return nil }
        Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
        return nil
    }

    /// Waits for the thread to end; once only.
    func join() {
        pthread_join(handle, nil)
    }
}
