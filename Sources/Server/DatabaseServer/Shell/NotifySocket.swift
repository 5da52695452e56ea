import Glibc
import Transport

/// The service manager that started the server, such as systemd, and its protocol (sd_notify(3)).
///
/// A state is one datagram of `NAME=VALUE` lines to the socket that `NOTIFY_SOCKET` names. Nothing waits: a state for
/// which the socket has no room is kept, and `retry` sends it again.
@LoopActor
final class NotifySocket {
    /// Where the manager listens.
    private let address: NotifySocketAddress
    /// Of a datagram socket; closed with the process.
    private let descriptor: Int32
    /// How often it wants `WATCHDOG=1`; nil when it does not ask for it.
    let watchdogPeriod: Duration?
    /// What could not be sent, the oldest first.
    private var unsent: [[UInt8]] = []
    /// When the manager was last asked for patience; monotonic nanoseconds.
    private var extended: UInt64 = 0

    /// States that may wait; further ones are dropped.
    private static let unsentLimit = 16
    /// How long each message of progress asks the manager to wait, before the start and at the end.
    static let patience = Duration.seconds(60)
    /// Time between two such messages.
    private static let extensionPeriod = Duration.seconds(5)

    /// The manager that the process's environment names; nil when there is none, or its socket makes no sense.
    static func fromEnvironment() -> NotifySocket? {
        guard let name = getenv("NOTIFY_SOCKET"),
            let address = NotifySocketAddress(String(cString: name))
        else { return nil }
        let period = watchdogPeriod(
            microseconds: getenv("WATCHDOG_USEC").map { String(cString: $0) },
            process: getenv("WATCHDOG_PID").map { String(cString: $0) },
            own: getpid()
        )
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return nil }
        return NotifySocket(address, descriptor, period)
    }

    private init(_ address: NotifySocketAddress, _ descriptor: Int32, _ watchdogPeriod: Duration?) {
        self.address = address
        self.descriptor = descriptor
        self.watchdogPeriod = watchdogPeriod
    }

    /// How often a process with the id `own` must say that it is alive; nil where the variables ask for nothing, or
    /// ask another process.
    nonisolated static func watchdogPeriod(
        microseconds: String?,
        process: String?,
        own: Int32
    ) -> Duration? {
        guard let microseconds, let count = Int64(microseconds), count > 0 else { return nil }
        if let process, Int32(process) != own { return nil }
        return .microseconds(count)
    }

    // MARK: - States

    /// The server takes connections: what waits for it may start.
    func isReady(_ status: String) { send(["READY=1", "STATUS=\(status)"]) }

    /// Settings files are read again from now until `isReady`.
    func isReloading() {
        let microseconds = Clock.monotonicNanoseconds() / 1_000
        send(["RELOADING=1", "MONOTONIC_USEC=\(microseconds)", "STATUS=Reading its files again"])
    }

    /// The server is on its way out, which may take as long as open connections are given.
    func isStopping(within limit: Duration) {
        extend(by: limit + Self.patience, ["STOPPING=1", "STATUS=Stopping"])
    }

    /// The loop ticks.
    func isAlive() { send(["WATCHDOG=1"]) }

    /// Something long that has no end yet, such as recovery, goes on: asks for patience, unless that was a moment ago.
    func goesOn(_ status: String) {
        let now = Clock.monotonicNanoseconds()
        guard now - extended >= UInt64(Self.extensionPeriod.components.seconds) * 1_000_000_000
        else { return }
        extend(by: Self.patience, ["STATUS=\(status)"])
    }

    private func extend(by time: Duration, _ lines: [String]) {
        extended = Clock.monotonicNanoseconds()
        let microseconds = time.components.seconds * 1_000_000
        send(lines + ["EXTEND_TIMEOUT_USEC=\(microseconds)"])
    }

    // MARK: - The socket

    /// Tries again what there was no room for.
    func retry() {
        while let first = unsent.first, offer(first) { unsent.removeFirst() }
    }

    private func send(_ lines: [String]) {
        let state = Array(lines.joined(separator: "\n").utf8)
        retry()
        guard !unsent.isEmpty || !offer(state) else { return }
        if unsent.count < Self.unsentLimit { unsent.append(state) }
    }

    /// Whether the state is gone: sent, or refused for good by a manager that is not there any more.
    private func offer(_ state: [UInt8]) -> Bool {
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        while true {
            let sent = address.withSocketAddress { address, size in
                sendto(descriptor, state, state.count, flags, address, size)
            }
            if sent >= 0 { return true }
            if errno == EINTR { continue }
            return errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOBUFS
        }
    }
}

/// The address of a local socket as `NOTIFY_SOCKET` writes it: a path, or a name of the abstract ones after `@`.
struct NotifySocketAddress: Equatable, Sendable {
    /// What stands in `sun_path`; an abstract name begins with a zero byte and has no other end than its length.
    let path: [UInt8]

    /// Bytes in `sun_path`.
    static let byteLimit = 108

    /// nil for anything but an absolute path or an abstract name that fits; `vsock:` is for virtual machines.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let first = bytes.first, bytes.count > 1 else { return nil }
        switch first {
        case UInt8(ascii: "/"):
            // A zero byte follows.
            guard bytes.count < Self.byteLimit else { return nil }
            path = bytes
        case UInt8(ascii: "@"):
            guard bytes.count <= Self.byteLimit else { return nil }
            path = [0] + bytes.dropFirst()
        default: return nil
        }
    }

    /// Lends it as the system wants it.
    func withSocketAddress<Result>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let isAbstract = path.first == 0
        let size = MemoryLayout<sa_family_t>.size + path.count + (isAbstract ? 0 : 1)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(size))
            }
        }
    }
}

extension Server {
    /// Sends `WATCHDOG=1` from a timer of the loop, twice as often as asked, so that the manager notices a loop that hangs.
    func beginWatchdog() {
        guard let period = notifySocket?.watchdogPeriod else { return }
        notifySocket?.isAlive()
        EventLoop.shared.every(period / 2) { [self] in notifySocket?.isAlive() }
    }

    /// Once a second: what could not be said, and that a long start or end goes on.
    func tellServiceStatus() {
        guard let notifySocket else { return }
        notifySocket.retry()
        if isStopping {
            notifySocket.goesOn("Stopping")
        } else if !isReady {
            notifySocket.goesOn("Starting")
        }
    }

    /// What the manager shows of a server that serves.
    var serviceStatus: String {
        let scheme = configuration.tls == nil ? "http" : "https"
        let mode = configuration.mode == .development ? "development" : "production"
        return "Serving \(scheme)://\(boundAuthority), \(mode)"
    }
}
