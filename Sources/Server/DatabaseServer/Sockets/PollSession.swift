import DatabaseCore
import Tokens
import Transport
import WireProtocol

/// One session over long polling: the messages for its client, the request that takes the next batch there, and the
/// pieces of messages that came.
///
///     open ─► close()        everything queued, then the end; the server forgets the session in the next tick
///      ├────► finish()       the same, while the session goes on at a WebSocket
///      └────► drop()         at once: the client is gone, or might as well be
///
/// After `close` and `finish` it answers what the client still asks, until that is silent.
@LoopActor
final class PollSession {
    /// Bytes of a batch up to which it is made at once.
    private static let wholeByteCount = 64 * 1024
    /// Bytes that a larger one is made by.
    private static let chunkByteCount = 16 * 1024

    /// How long a session that has sent its client away answers requests that were on their way.
    private static let lingering = Duration.seconds(5)

    let id: SessionID
    let password: String
    let connection: ConnectionID
    let database: DatabaseID
    /// Whose it is, for what each client may hold.
    let client: String
    /// How long a request waits for a message.
    private let holdTime: Duration
    /// How long a client may be without a request.
    private let silenceTime: Duration
    /// Bytes that may wait behind the first message.
    private let queueByteLimit: Int
    private unowned let sockets: SocketService

    // MARK: To the client

    private var queue: [PollBatch.Item] = []
    private(set) var queuedByteCount = 0
    private var batchNumber = 0
    /// What goes before the first batch; empty once that has left.
    private var prologue: [UInt8]
    /// The request that waits for a message.
    private var held: HTTPExchange?
    /// Whether it has waited long enough.
    private var isOverdue = false
    /// Batches that are leaving.
    private var streamCount = 0
    /// Whether nothing is queued any more.
    private(set) var isEnding = false
    /// Whether the client was sent away.
    private var isOver = false
    private var isDropped = false
    private var isDirty = false
    private var timer: LoopTimer?

    // MARK: From the client

    private var pieces: PieceAssembler
    /// Whole messages, from `inboxStart` on.
    private var inbox: [PieceAssembler.Joined] = []
    private var inboxStart = 0
    private var inboxByteCount = 0
    /// What the table knows of `inboundByteCount`.
    private var countedByteCount = 0
    /// Whether the table has no room for so much.
    private(set) var isTooMuch = false
    /// Whether the server wants no message for now.
    var isHeld = false
    /// A WebSocket that the session may move to.
    var attempt: UpgradeAttempt?

    /// Makes a session with a name and a password of its own. `prologue` goes before the first batch and is not empty.
    init(
        _ connection: ConnectionID,
        of database: DatabaseID,
        from client: String,
        _ sockets: SocketService,
        prologue: (SessionID, _ password: String) -> [UInt8]
    ) {
        id = SessionID(Randomness.identifier())
        password = Randomness.identifier()
        self.connection = connection
        self.database = database
        self.client = client
        self.sockets = sockets
        let limits = sockets.configuration.limits
        holdTime = limits.pollHold
        silenceTime = limits.pollSilence
        queueByteLimit = limits.queueByteCount
        pieces = PieceAssembler(
            byteLimit: limits.messageByteCount,
            drainedByteCount: WireLimits.drainedByteCount
        )
        self.prologue = prologue(id, password)
    }

    /// Bytes of messages that are not complete, or wait to be taken.
    var inboundByteCount: Int { pieces.heldByteCount + inboxByteCount }

    // MARK: - Messages from the client

    /// Takes the pieces of one request; `nextMessage` has what they complete.
    func take(_ pieces: [PollPiece]) throws(PollError) {
        guard !isEnding else { return }
        let inboxCount = inbox.count
        defer { count() }
        for piece in pieces { try self.pieces.receive(piece, into: &inbox) }
        inboxByteCount += inbox[inboxCount...].reduce(0) { $0 + $1.byteCount }
    }

    /// The next whole message; nil when there is none, or none is wanted.
    func nextMessage() -> PieceAssembler.Joined? {
        guard !isHeld, !isEnding, inboxStart < inbox.count else { return nil }
        defer { count() }
        let message = inbox[inboxStart]
        inbox[inboxStart] = .message([])
        inboxStart += 1
        inboxByteCount -= message.byteCount
        if inboxStart == inbox.count {
            inbox = []
            inboxStart = 0
        }
        return message
    }

    private func count() {
        isTooMuch = !sockets.polls.hold(inboundByteCount, for: &countedByteCount, of: client)
    }

    /// Goes on with messages after some were held.
    func resumeMessages() {
        isHeld = false
        guard inboxStart < inbox.count else { return }
        EventLoop.shared.enqueue { [weak self] in
            guard let self else { return }
            sockets.takeMessages(self)
        }
    }

    // MARK: - Messages to the client

    /// Queues frames, which leave at the end of the tick if a request waits.
    func send(_ frame: SharedFrame) { enqueue(.frame(frame)) }

    /// Queues a large value, made as the socket drains.
    func sendStream(_ source: MessageSource) { enqueue(.stream(source)) }

    private func enqueue(_ item: PollBatch.Item) {
        guard !isEnding else { return }
        queue.append(item)
        queuedByteCount += item.byteCount
        wake()
    }

    /// Looks at the end of the tick whether something can leave.
    func wake() {
        guard !isDirty, !isDropped else { return }
        isDirty = true
        sockets.polls.markDirty(self)
    }

    /// Answers the request that waits, if there is something to say.
    func flush() {
        isDirty = false
        guard !isDropped else { return }
        let isDue = queue.first.map { $0.isReady } ?? isEnding
        if isDue || isOverdue, let exchange = held { answer(exchange) }
        // One message may be as large as it likes: what counts is how much waits behind it.
        let waiting = queuedByteCount - (queue.first?.byteCount ?? 0)
        if waiting > queueByteLimit, !isEnding {
            sockets.pollFailed(self, "more than the queue limit waits for its next request")
        }
    }

    // MARK: - Requests

    /// Keeps a request until there is a message for it; the one kept before is answered now.
    func hold(_ exchange: HTTPExchange) {
        if let older = held { answer(older) }
        ResolvedRequest.of(exchange).use = .poll(self)
        held = exchange
        setTimer()
        if isEnding || !queue.isEmpty { wake() }
    }

    /// The client no longer wants the answer to a request.
    func abandoned(_ exchange: HTTPExchange) {
        if exchange === held {
            held = nil
            isOverdue = false
            setTimer()
            // Without the first batch it does not know its session.
            if !prologue.isEmpty { sockets.pollFailed(self, "it left before it was answered") }
        } else {
            // Half a batch: the client would wait for it for ever.
            sockets.pollFailed(self, "a batch did not reach it whole")
        }
    }

    /// Sends everything that is ready as the next batch, which may be empty.
    private func answer(_ exchange: HTTPExchange) {
        held = nil
        isOverdue = false
        var items: [PollBatch.Item] = []
        if let end = queue.firstIndex(where: { !$0.isReady }) {
            items = Array(queue[..<end])
            queue.removeSubrange(..<end)
        } else {
            swap(&items, &queue)
        }
        let byteCount = items.reduce(0) { $0 + $1.byteCount }
        queuedByteCount -= byteCount
        var head = prologue
        var tail: [UInt8] = []
        prologue = []
        let isLast = isEnding && queue.isEmpty
        if !items.isEmpty || !isLast || batchNumber == 0 {
            head += PollScript.batchStart(batchNumber)
            tail = PollScript.batchEnd
            batchNumber += 1
        }
        if isLast { tail += PollScript.close(after: batchNumber - 1) }
        isOver = isLast
        sendBatch(PollBatch(head: head, items: items, tail: tail), byteCount, exchange)
        setTimer()
    }

    private func sendBatch(_ batch: PollBatch, _ byteCount: Int, _ exchange: HTTPExchange) {
        var batch = batch
        if byteCount <= Self.wholeByteCount, !batch.hasStreams {
            var body: [UInt8] = []
            body.reserveCapacity(byteCount + 256)
            _ = batch.next(into: &body, atLeast: .max / 2)
            exchange.respond(HTTPResponse(status: 200, headers: ScriptCallback.headers, body: body))
            return
        }
        streamCount += 1
        var isMore = true
        exchange.respondStream(status: 200, headers: ScriptCallback.headers, byteCount: nil) {
            [weak self] in
            guard isMore else {
                self?.streamEnded()
                return .end
            }
            var chunk: [UInt8] = []
            isMore = batch.next(into: &chunk, atLeast: Self.chunkByteCount)
            return .next(chunk)
        }
    }

    private func streamEnded() {
        streamCount -= 1
        if held == nil { setTimer() }
    }

    // MARK: - Time

    private func setTimer() {
        timer?.cancel()
        guard !isDropped else { return }
        let time = held != nil ? holdTime : isOver ? Self.lingering : silenceTime
        timer = EventLoop.shared.after(time) { [weak self] in self?.timePassed() }
    }

    private func timePassed() {
        if held != nil, prologue.isEmpty {
            isOverdue = true
            wake()
        } else if held != nil || streamCount > 0 {
            // The first answer waits for the disk, or one takes its time.
            setTimer()
        } else if isEnding {
            drop()
        } else {
            sockets.pollFailed(self, "it was silent")
        }
    }

    // MARK: - The end

    /// Ends the session behind everything queued.
    func close() {
        guard !isEnding else { return }
        finish()
        EventLoop.shared.enqueue { [weak self] in
            guard let self else { return }
            sockets.pollClosed(self)
        }
    }

    /// Queues no more. What is queued leaves, then the client is sent away.
    func finish() {
        isEnding = true
        inbox = []
        inboxStart = 0
        inboxByteCount = 0
        pieces = PieceAssembler(byteLimit: pieces.byteLimit)
        count()
        attempt?.socket.close(code: 1000, reason: "")
        attempt = nil
        wake()
    }

    /// Forgets everything at once; a request that waits is answered with the end.
    func drop() {
        guard !isDropped else { return }
        finish()
        isDropped = true
        timer?.cancel()
        sockets.polls.remove(self)
        queue = []
        queuedByteCount = 0
        guard let exchange = held else { return }
        held = nil
        exchange.respond(PollSession.response(PollScript.close()))
    }

    /// A whole script as an answer.
    static func response(_ script: [UInt8]) -> HTTPResponse {
        HTTPResponse(status: 200, headers: ScriptCallback.headers, body: script)
    }
}

extension PieceAssembler.Joined {
    /// Bytes that are kept of it.
    fileprivate var byteCount: Int {
        switch self {
        case .message(let text): text.count
        case .tooBig: 0
        }
    }
}
