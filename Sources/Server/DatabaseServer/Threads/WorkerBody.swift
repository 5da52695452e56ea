import Transport

/// The body of an answer that a worker makes ahead of the socket, by a bounded number of bytes.
@LoopActor
final class WorkerBody {
    /// Makes the next bytes, and says whether they are the last. Called on the worker, never twice at once.
    typealias Maker = () -> (bytes: [UInt8], isLast: Bool)

    /// The jobs of the worker own it, of which there is one at a time; the loop only makes it.
    private final class Text: @unchecked Sendable {
        let next: Maker

        init(_ next: sending @escaping Maker) { self.next = next }
    }

    private let exchange: HTTPExchange
    private let worker: Worker
    /// Bytes that may wait for the socket before the worker is asked for more.
    private let waitingByteLimit: Int
    private let text: Text
    private var waiting: [[UInt8]] = []
    private var isAsked = false
    private var isLast = false

    init(
        _ exchange: HTTPExchange,
        _ worker: Worker,
        waitingByteLimit: Int,
        _ next: sending @escaping Maker
    ) {
        self.exchange = exchange
        self.worker = worker
        self.waitingByteLimit = waitingByteLimit
        text = Text(next)
    }

    deinit {
        // What is left of a snapshot may take long to give back.
        worker.post(.read { [text] in withExtendedLifetime(text) {} })
    }

    /// The next bytes for the socket.
    func next() -> StreamStep<[UInt8]> {
        if waiting.isEmpty {
            if isLast { return .end }
            ask()
            return .wait
        }
        let bytes = waiting.removeFirst()
        if waiting.reduce(0, { $0 + $1.count }) < waitingByteLimit { ask() }
        return .next(bytes)
    }

    private func ask() {
        if isAsked || isLast { return }
        isAsked = true
        let text = text
        let isTaken = worker.perform {
            text.next()
        } then: { [self] bytes, isLast in
            take(bytes, isLast)
        }
        if isTaken { return }
        // So many jobs wait that there is time.
        isAsked = false
        EventLoop.shared.after(.milliseconds(20)) { [self] in ask() }
    }

    private func take(_ bytes: [UInt8], _ isLast: Bool) {
        isAsked = false
        self.isLast = isLast
        if !bytes.isEmpty { waiting.append(bytes) }
        if waiting.isEmpty, !isLast { return ask() }
        exchange.resumeStream()
    }
}
