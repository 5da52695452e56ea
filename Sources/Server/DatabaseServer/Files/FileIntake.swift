import FileProtocol
import Transport

/// The body of one request on its way to the disk: its parts wait here, and a worker takes them one batch after the other.
///
///     socket ─► parts, 1 MiB at most ─► worker
@LoopActor
final class FileIntake {
    /// How the body has ended. No job of it is under way any more.
    enum End {
        case whole
        /// The client has left, or another request has taken its place.
        case cut
        case failed(FileFault)
    }

    /// Bytes that may wait for the worker; above it the socket is not read on.
    private static let waitingByteLimit = 1 << 20

    private let exchange: HTTPExchange
    private let worker: Worker
    private let take: @Sendable ([[UInt8]]) -> FileFault?
    private let done: @LoopActor (End) -> Void
    private var parts: [[UInt8]] = []
    private var waitingByteCount = 0
    private var isWhole = false
    private var isCut = false
    private var isBusy = false
    private var isOver = false

    /// `take` stores bytes on the worker, never twice at once, and says why it cannot; `done` is called once.
    init(
        _ exchange: HTTPExchange,
        _ worker: Worker,
        take: @escaping @Sendable ([[UInt8]]) -> FileFault?,
        done: @escaping @LoopActor (End) -> Void
    ) {
        self.exchange = exchange
        self.worker = worker
        self.take = take
        self.done = done
    }

    /// Takes the body as it comes, and goes on with what has come.
    func begin() {
        guard exchange.isAnswerable else { return end(.cut) }
        exchange.resumeBody()
        exchange.receiveBody { [self] event in
            if isOver || isCut || isWhole { return }
            switch event {
            case .part(let bytes):
                parts.append(bytes)
                waitingByteCount += bytes.count
                if waitingByteCount > Self.waitingByteLimit { exchange.pauseBody() }
            case .end: isWhole = true
            case .cut: isCut = true
            }
            goOn()
        }
    }

    /// Takes no more of the body.
    func cut() {
        if !isWhole { isCut = true }
        goOn()
    }

    private func goOn() {
        if isBusy || isOver { return }
        // What has come counts, though nothing follows it.
        if parts.isEmpty {
            if isWhole { end(.whole) } else if isCut { end(.cut) }
            return
        }
        let (taken, take) = (parts, take)
        parts = []
        isBusy = true
        let byteCount = taken.reduce(0) { $0 + $1.count }
        let isTaken = worker.perform {
            take(taken)
        } then: { [self] fault in
            isBusy = false
            waitingByteCount -= byteCount
            if let fault { return end(.failed(fault)) }
            if waitingByteCount <= Self.waitingByteLimit / 2 { exchange.resumeBody() }
            goOn()
        }
        if !isTaken {
            isBusy = false
            end(.failed(.busy(retryAfter: 1)))
        }
    }

    private func end(_ end: End) {
        if isOver { return }
        isOver = true
        parts = []
        done(end)
    }
}
