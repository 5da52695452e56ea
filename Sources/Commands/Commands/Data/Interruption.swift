import Glibc

/// The reaction to a signal to stop (SIGINT, SIGTERM).
enum Interruption {
    /// From now on a signal runs `act` on a thread of its own, then ends the process with `exitCode`.
    ///
    /// To be called once, before other threads are started: they inherit that the signals are blocked. A signal that
    /// the process was started to ignore (`nohup`, `&`) stays ignored.
    static func end(exitCode: Int32, after act: @escaping @Sendable () -> Void = {}) {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let waiting = Waiting { [signals] in
            var signals = signals
            var number: Int32 = 0
            while sigwait(&signals, &number) != 0 {}
            act()
            _exit(exitCode)
        }
        var thread = pthread_t()
        let failure = pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Waiting>.fromOpaque(argument).takeRetainedValue().run()
            },
            Unmanaged.passRetained(waiting).toOpaque()
        )
        precondition(failure == 0, "the system can start a thread")
        pthread_detach(thread)
    }

    /// The body of the thread, handed through C as an opaque pointer.
    private final class Waiting {
        let run: @Sendable () -> Never

        init(_ run: @escaping @Sendable () -> Never) {
            self.run = run
        }
    }
}
