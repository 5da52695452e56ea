import Glibc

/// A process that this one has started.
struct ChildProcess {
    let id: pid_t

    struct Start {
        /// Found along `PATH` unless it has a slash.
        var program: String
        var arguments: [String]
        var environment: [String: String]
        /// Descriptors that become standard input and output; nil leaves ours.
        var input: Int32?
        var output: Int32?
        /// Whether it gets a session of its own, where no key of the terminal reaches it.
        var isApart = false
        var blocked = sigset_t()
    }

    /// `POSIX_SPAWN_SETSID` of spawn.h, which Swift does not see.
    private static let setSession: Int32 = 0x80

    /// - Throws: the error number of the system: `ENOENT` for a program that is not there.
    init(_ start: Start) throws(ErrorNumber) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input = start.input {
            posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        }
        if let output = start.output {
            posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var blocked = start.blocked
        posix_spawnattr_setsigmask(&attributes, &blocked)
        var flags = Int32(POSIX_SPAWN_SETSIGMASK)
        if start.isApart { flags |= Self.setSession }
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var id = pid_t()
        let variables = start.environment.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
        let failure = withTexts([start.program] + start.arguments) { arguments in
            withTexts(variables) { environment in
                posix_spawnp(&id, start.program, &actions, &attributes, arguments, environment)
            }
        }
        guard failure == 0 else { throw ErrorNumber(code: failure) }
        self.id = id
    }

    /// Its exit code, or 128 and the signal that ended it, as shells have it; nil while it runs.
    func exitCode(waits: Bool) -> Int32? {
        var status: Int32 = 0
        while true {
            let found = waitpid(id, &status, waits ? 0 : WNOHANG)
            if found < 0, errno == EINTR { continue }
            guard found == id else { return nil }
            // Low 7 bits: the signal, 0 for an exit, whose code is in the next byte.
            let signal = status & 0x7f
            return signal == 0 ? (status >> 8) & 0xff : 128 + signal
        }
    }

    func signal(_ number: Int32) {
        // It may have ended in the meantime.
        _ = kill(id, number)
    }
}

struct ErrorNumber: Error {
    let code: Int32

    var text: String { String(cString: strerror(code)) }
}

/// Calls `body` with texts as C has them: an array of pointers that ends with a null, valid during the call.
private func withTexts<Result>(
    _ texts: [String],
    _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    // Owned by this call.
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return (copies + [nil]).withUnsafeBufferPointer { buffer in
        guard let base = buffer.baseAddress else { preconditionFailure("there is a null at least") }
        return body(base)
    }
}

/// A pipe, both ends closed in processes that are started.
struct Pipe {
    let reading: Int32
    let writing: Int32

    init() throws(ErrorNumber) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw ErrorNumber(code: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        reading = ends[0]
        writing = ends[1]
    }
}
