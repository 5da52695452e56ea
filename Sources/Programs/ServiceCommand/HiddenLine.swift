import Files
import Glibc
import Synchronization

/// A line that is typed without echo.
enum HiddenLine {
    /// Signals that end the process, which must not leave a terminal behind that shows nothing.
    private static let endings = [SIGTERM, SIGHUP, SIGINT, SIGQUIT]

    // Its own memory for the whole process; written before `isDark` is set, and only read while it is.
    nonisolated(unsafe) private static let shown = UnsafeMutablePointer<termios>.allocate(
        capacity: 1
    )
    private static let isDark = Atomic(false)

    /// Asks on standard error, and reads a line from standard input.
    ///
    /// The terminal is restored when this returns, throws, or a signal ends the process: the keys of such signals are
    /// read here, and signals of other processes are caught.
    static func ask(_ question: String) throws(ProgramFault) -> String {
        var dark = termios()
        guard tcgetattr(STDIN_FILENO, &dark) == 0 else { throw cannotHide }
        shown.initialize(to: dark)
        dark.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        isDark.store(true, ordering: .sequentiallyConsistent)
        for number in endings {
            // All that it calls may be called from a handler of signals.
            signal(number) { number in
                HiddenLine.restore()
                signal(number, SIG_DFL)
                raise(number)
            }
        }
        defer {
            restore()
            for number in endings { signal(number, SIG_DFL) }
        }
        // Earlier input is kept: it may be the answer of a script.
        guard tcsetattr(STDIN_FILENO, TCSADRAIN, &dark) == 0 else { throw cannotHide }
        StandardError.write(Array(question.utf8))
        let line = typed()
        restore()
        StandardError.write([UInt8(ascii: "\n")])
        switch line {
        case .line(let bytes):
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw ProgramFault("the password is not UTF-8 text; nothing is done")
            }
            return text
        case .ended: throw ProgramFault("no password; nothing is done")
        case .interrupted(let number): end(by: number)
        }
    }

    /// Ends the process as the signal does.
    private static func end(by number: Int32) -> Never {
        signal(number, SIG_DFL)
        // Threads of Dispatch block signals by default.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, number)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
        exit(1)
    }

    private static var cannotHide: ProgramFault {
        ProgramFault("the terminal cannot hide a password; --password-file reads it from a file")
    }

    /// Turns the echo of the terminal on, if it is off.
    private static func restore() {
        guard isDark.exchange(false, ordering: .sequentiallyConsistent) else { return }
        tcsetattr(STDIN_FILENO, TCSANOW, shown)
    }

    private enum Typed {
        case line([UInt8])
        case ended
        case interrupted(Int32)
    }

    /// Reads bytes up to the end of the line, with the few keys by which a line is mended.
    private static func typed() -> Typed {
        var line: [UInt8] = []
        while true {
            var byte: UInt8 = 0
            let count = read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return .ended }
            switch byte {
            case 0x0A, 0x0D: return .line(line)
            case 0x03: return .interrupted(SIGINT)
            case 0x1C: return .interrupted(SIGQUIT)
            case 0x04: if line.isEmpty { return .ended }
            case 0x08, 0x7F:
                while let last = line.popLast(), last & 0xC0 == 0x80 {}
            case 0x15: line.removeAll()
            default: line.append(byte)
            }
        }
    }
}
