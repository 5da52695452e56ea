import Dispatch
import Files
import Glibc

/// The signals that ask a program to end: SIGTERM, SIGINT, SIGHUP.
package enum EndSignal {
    // The handlers own it: it is immutable once they are set, and they read nothing else.
    nonisolated(unsafe) private static var pipeEnd: Int32 = -1

    /// Runs something that the first such signal cancels; a second one ends the process at once.
    ///
    /// Once per process. The handler only writes a byte, which is safe on any thread, so no signal is lost, however
    /// early it comes.
    /// - Throws: Errors of `operation`.
    package static func cancelling(
        _ notice: String,
        _ operation: @escaping @Sendable () async throws -> Void,
    ) async throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw ProgramFault("no pipe can be made: \(String(cString: strerror(errno)))")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        pipeEnd = ends[1]
        let work = Task { try await operation() }
        let source = DispatchSource.makeReadSource(fileDescriptor: ends[0], queue: .global())
        source.setEventHandler {
            source.cancel()
            StandardError.print(notice)
            work.cancel()
        }
        source.resume()
        for number in [SIGTERM, SIGINT, SIGHUP] {
            signal(number) { number in
                signal(number, SIG_DFL)
                var byte: UInt8 = 0
                _ = write(EndSignal.pipeEnd, &byte, 1)
            }
        }
        try await work.value
    }
}
