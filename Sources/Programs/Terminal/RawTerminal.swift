import Dispatch
package import Files
import Glibc
import Synchronization

/// The terminal while a program draws on it: every key comes at once, and the screen is the program's own.
///
/// It is restored when `restore` is called, when the process exits, when a signal ends it, and when it fails.
package final class RawTerminal: Sendable {
    /// An event of a terminal.
    package enum Event: Equatable, Sendable {
        case key(Key)
        /// It has another size, or another program has drawn on it: everything must be drawn again.
        case resized(Size)
        /// The terminal is gone: no more keys.
        case ended
    }

    private struct State {
        var decoder = KeyDecoder()
        /// Counts reads: an escape that is flushed must be the newest.
        var readNumber = 0
    }

    // The reference is immutable, and sources of Dispatch can be used from any thread.
    private struct Watch: @unchecked Sendable {
        let source: any DispatchSourceProtocol
    }

    private let state = Mutex(State())
    /// Held while something is sent, and while the terminal is taken or given back: nothing is drawn in between.
    private let screen = Mutex(())
    private let sources = Mutex<[Watch]>([])
    private let queue = DispatchQueue(label: "hearth.terminal")
    private let report: @Sendable (Event) -> Void

    // The state before: its own memory for the whole process, written before `isTaken` is set and only read while it
    // is set.
    nonisolated(unsafe) private static let original = UnsafeMutablePointer<termios>.allocate(
        capacity: 1
    )
    /// Whether the terminal is to be given back, by whatever ends the process.
    private static let isTaken = Atomic(false)

    private static let entering = "\u{1B}[?1049h\u{1B}[?2004h"
    private static let leaving: StaticString = "\u{1B}[0m\u{1B}[?25h\u{1B}[?2004l\u{1B}[?1049l"
    /// Signals by which others end the process, and those by which it ends itself.
    private static let endings = [
        SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE,
    ]
    /// For how long an escape may be the beginning of a sequence.
    private static let escapeWait = DispatchTimeInterval.milliseconds(100)

    /// Takes over the terminal.
    ///
    /// - Parameter report: Called with each event, in order, on a queue of the terminal's own.
    /// - Throws: `FileError` when standard input is not a terminal.
    package init(reporting report: @escaping @Sendable (Event) -> Void) throws(FileError) {
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else {
            throw .system(call: "tcgetattr", path: "standard input", code: errno)
        }
        self.report = report
        Self.original.initialize(to: before)
        atexit { RawTerminal.giveBack() }
        for number in Self.endings {
            // All that it calls may be called from a handler of signals.
            signal(number) { number in
                RawTerminal.giveBack()
                signal(number, SIG_DFL)
                raise(number)
            }
        }
        enter()
        listen()
    }

    /// Columns and rows now; 80 and 24 where the terminal does not say.
    package var size: Size {
        var found = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &found) == 0, found.ws_col > 0,
            found.ws_row > 0
        else { return Size(columns: 80, rows: 24) }
        return Size(columns: Int(found.ws_col), rows: Int(found.ws_row))
    }

    /// Writes a painter's output.
    package func write(_ text: String) {
        screen.withLock { _ in
            let isTaken = Self.isTaken.load(ordering: .sequentiallyConsistent)
            if isTaken, !text.isEmpty { Self.send(text) }
        }
    }

    /// Restores the terminal.
    package func restore() {
        silence()
        screen.withLock { _ in Self.giveBack() }
    }

    /// Gives the terminal back and stops the process, as the key for that does elsewhere, until it is to go on.
    package func suspend() {
        screen.withLock { _ in Self.giveBack() }
        kill(getpid(), SIGSTOP)
        // SIGCONT brings it back, as it does after a stop that came from elsewhere.
    }

    // MARK: - Modes

    private func enter() {
        screen.withLock { _ in
            let wasTaken = Self.isTaken.exchange(true, ordering: .sequentiallyConsistent)
            var raw = Self.original.pointee
            cfmakeraw(&raw)
            tcsetattr(STDIN_FILENO, TCSADRAIN, &raw)
            if !wasTaken { Self.send(Self.entering) }
        }
    }

    /// Restores the terminal from any exit of the process: it needs no lock and no memory.
    private static func giveBack() {
        guard isTaken.exchange(false, ordering: .sequentiallyConsistent) else { return }
        _ = Glibc.write(STDOUT_FILENO, leaving.utf8Start, leaving.utf8CodeUnitCount)
        tcsetattr(STDIN_FILENO, TCSADRAIN, original)
    }

    private static func send(_ text: String) {
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            // The terminal is gone: its key reader notices that.
            guard count > 0 else { return }
            sent += count
        }
    }

    // MARK: - Events

    private func listen() {
        let keys = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: queue)
        keys.setEventHandler { [weak self] in self?.read() }
        hold(keys)
        hold(
            watch(SIGWINCH) { terminal in
                terminal.report(.resized(terminal.size))
            }
        )
        hold(
            watch(SIGCONT) { terminal in
                terminal.enter()
                terminal.report(.resized(terminal.size))
            }
        )
        keys.resume()
    }

    private func hold(_ source: any DispatchSourceProtocol) {
        let watch = Watch(source: source)
        sources.withLock { $0.append(watch) }
    }

    /// Ends all events.
    private func silence() {
        for watch in sources.withLock({ $0 }) { watch.source.cancel() }
        sources.withLock { $0 = [] }
    }

    private func watch(
        _ number: Int32,
        _ act: @escaping @Sendable (RawTerminal) -> Void
    ) -> any DispatchSourceSignal {
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler { [weak self] in
            if let self { act(self) }
        }
        source.resume()
        return source
    }

    private func read() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(STDIN_FILENO, &bytes, bytes.count)
        if count < 0, errno == EINTR || errno == EAGAIN { return }
        guard count > 0 else {
            silence()
            return report(.ended)
        }
        let (keys, number) = state.withLock { state in
            state.readNumber += 1
            let keys = state.decoder.decode(bytes[..<count])
            return (keys, state.decoder.isWaiting ? state.readNumber : nil)
        }
        for key in keys { report(.key(key)) }
        if let number { flushLater(number) }
    }

    private func flushLater(_ number: Int) {
        queue.asyncAfter(deadline: .now() + Self.escapeWait) { [weak self] in
            guard let self else { return }
            let keys = state.withLock { state in
                state.readNumber == number ? state.decoder.flush() : []
            }
            for key in keys { report(.key(key)) }
        }
    }
}
