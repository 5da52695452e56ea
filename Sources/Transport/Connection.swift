import CTransport

/// One accepted socket: its output, its deadlines, and whoever speaks on it.
///
/// Retained by C from the accept until `ended`. The socket is destroyed only at the end of a turn
/// (`Flusher.reap`) or by libwebsockets itself, so no code of ours holds a dead one.
@LoopActor
final class Connection: Timed {
    private enum Role {
        case http(HTTPConnection)
        case webSocket(WebSocketConnection)
        /// Everything is said; what still arrives is thrown away.
        case leaving
        case ended
    }

    let id: UInt64
    let listener: Listener
    let peer: Endpoint
    /// Place in `Listener.connections`.
    var listIndex = 0
    /// Bytes of what is unfinished that are counted for `client`; the listener's own.
    var heldByteCount = 0
    /// Whose the bytes are; changes only while none are counted.
    private(set) var client: String

    private var socket: OpaquePointer?
    private var role = Role.leaving
    private(set) var output = OutputQueue()

    /// The socket took less than was offered; `writable` will come.
    private(set) var isBlocked = false
    private var isDirty = false
    private var isFlushing = false
    /// Whether the flusher will let the source at the head be pulled.
    private var isPuller = false
    private var isReadingPaused = false
    private var isDoomed = false
    /// Whether `resumeReading` is due.
    private var isResumable = false
    /// The turn in which messages were last taken, and how many.
    private var takingTurn = 0
    private var takenCount = 0
    /// How many it may give in one turn.
    private var allowance = TurnLimits.messagesPerConnection
    /// Whether it had more than that in `takingTurn`.
    private var wantedMore = false
    private var finishesWhenDrained = false

    /// When the role's `deadlinePassed` is due; `.max` for never.
    private var deadline: UInt64 = .max
    /// When a blocked peer must have taken enough; `.max` while nothing is blocked.
    private var stallDeadline: UInt64 = .max
    private var sentInWindow = 0

    init(id: UInt64, listener: Listener, socket: OpaquePointer, peer: Endpoint) {
        self.id = id
        self.listener = listener
        self.socket = socket
        self.peer = peer
        client = peer.address
        super.init()
        role = .http(HTTPConnection(self))
    }

    var timeouts: TransportTimeouts { listener.configuration.timeouts }
    var limits: TransportLimits { listener.configuration.limits }
    /// Whether input is still wanted and answers still have a way out.
    var isActive: Bool { socket != nil && !isDoomed && !finishesWhenDrained }

    private var loop: EventLoop { .shared }

    /// Notes whose request it is that comes over the connection now.
    func belongs(to head: RequestHead) {
        guard heldByteCount == 0, let application = listener.application else { return }
        client = application.client(head)
    }

    // MARK: Input

    func received(_ bytes: UnsafeBufferPointer<UInt8>) {
        listener.counters.receivedByteCount += bytes.count
        guard isActive else { return }
        switch role {
        case .http(let http): http.received(bytes)
        case .webSocket(let webSocket): webSocket.received(bytes)
        case .leaving, .ended: break
        }
        updateReading()
    }

    /// Goes on with input that had to wait, and with calls that were put off.
    func resumeReading() {
        isResumable = false
        switch role {
        case .http(let http): http.advance()
        case .webSocket(let webSocket): webSocket.advance()
        case .leaving, .ended: break
        }
        updateReading()
    }

    /// Calls `resumeReading` before this turn ends, or in the next one.
    func resumeLater() {
        guard !isResumable else { return }
        isResumable = true
        loop.flusher.resume(self)
    }

    /// Whether one more message or request of this connection may be taken in this turn; counts it.
    /// Otherwise the connection goes on in the next turn.
    func mayTake() -> Bool {
        let turn = loop.counters.turnCount
        if takingTurn != turn {
            takingTurn = turn
            takenCount = 0
            loop.noteTaker(id)
            let isFlood = wantedMore && loop.isContended
            allowance =
                isFlood
                ? max(TurnLimits.messagesPerFlood, allowance / 2)
                : TurnLimits.messagesPerConnection
            wantedMore = false
        }
        guard takenCount < allowance, !loop.isShareSpent else {
            wantedMore = true
            resumeLater()
            return false
        }
        takenCount += 1
        return true
    }

    /// The handshake is done: from now on WebSocket frames arrive.
    func become(_ webSocket: WebSocketConnection) {
        role = .webSocket(webSocket)
    }

    /// A WebSocket whose input is used up is always read, since a Close frame may come; HTTP input
    /// waits its turn.
    private func updateReading() {
        guard let socket, !isDoomed else { return }
        var wantsPause = false
        switch role {
        case .http(let http): wantsPause = isBlocked || http.isFull
        case .webSocket(let webSocket): wantsPause = webSocket.holdsInput
        case .leaving, .ended: break
        }
        guard wantsPause != isReadingPaused else { return }
        isReadingPaused = wantsPause
        hearth_socket_pause(socket, wantsPause)
    }

    // MARK: Output

    /// Queues bytes; they leave at the end of the turn, joined with their neighbours.
    ///
    /// Returns how many bytes are queued now.
    @discardableResult
    func enqueue(_ bytes: [UInt8]) -> Int {
        guard socket != nil, !isDoomed else { return 0 }
        let byteCount = output.append(bytes)
        markDirty()
        return byteCount
    }

    /// The same for part of a run without end, whose reader must keep up: returns what waits when that is
    /// more than the queue may hold and the socket takes no more.
    func enqueuePush(_ bytes: [UInt8]) -> Int? {
        // Nearly always the whole queue is within the limit, and what waits need not be worked out.
        let byteCount = enqueue(bytes)
        guard byteCount > limits.queueByteCount,
            output.waitingByteCount > limits.queueByteCount
        else { return nil }
        // A burst within one turn is not the reader's fault: the socket may well take it.
        if !isBlocked { flush() }
        return overflow
    }

    /// Bytes that wait behind the item being sent, when they are more than the queue may hold and the
    /// socket takes no more; else nil.
    var overflow: Int? {
        guard isBlocked else { return nil }
        let waiting = output.waitingByteCount
        return waiting > limits.queueByteCount ? waiting : nil
    }

    func enqueue(_ source: OutputSource) {
        guard socket != nil, !isDoomed else { return }
        output.append(source)
        markDirty()
    }

    func markDirty() {
        guard !isDirty, !isBlocked else { return }
        isDirty = true
        loop.flusher.markDirty(self)
    }

    /// Lets the source at the head make some bytes, and sends them.
    func pull() {
        isPuller = false
        flush(pulling: TurnLimits.pulledByteCount)
    }

    /// Sends until the queue is empty, the socket full, or others have waited long enough.
    ///
    /// Sources are asked for so many bytes or somewhat more; then they stand in line with others'.
    func flush(pulling pulledByteCount: Int = 0) {
        isDirty = false
        guard let socket, !isBlocked, !isDoomed, !isFlushing else { return }
        isFlushing = true
        defer { isFlushing = false }
        var budget = TurnLimits.flushedByteCount
        var pullBudget = pulledByteCount
        while budget > 0 {
            let offered: Int
            let sent: Int
            switch output.next(joiningInto: loop.scratch) {
            case .nothing:
                drained()
                return
            case .source(let source):
                guard pullBudget > 0 else {
                    waitToPull()
                    return
                }
                let before = output.byteCount
                guard pull(source) else { return }
                // A source of nothing but empty chunks must not hold the loop.
                pullBudget -= output.byteCount - before + 64
                continue
            case .slice(let bytes, let offset, let byteCount):
                offered = byteCount
                sent = send(socket, bytes, offset, byteCount)
            case .joined(let byteCount):
                offered = byteCount
                sent = hearth_socket_send(socket, loop.scratch.baseAddress, byteCount)
            }
            guard sent >= 0 else {
                fail()
                return
            }
            output.advance(sent)
            sentInWindow += sent
            listener.counters.sentByteCount += sent
            guard sent == offered else {
                block(socket)
                return
            }
            budget -= sent
        }
        markDirty()
    }

    private func waitToPull() {
        guard !isPuller else { return }
        isPuller = true
        loop.flusher.addPuller(self)
    }

    /// Asks the source for more. Returns whether there is reason to go on sending.
    private func pull(_ source: OutputSource) -> Bool {
        let step = source.next()
        guard !isDoomed, socket != nil else { return false }
        switch step {
        case .next(let bytes):
            output.prepend(bytes)
            return true
        case .wait:
            stallDeadline = .max
            return false
        case .end:
            output.removeSource()
            return true
        }
    }

    private func block(_ socket: OpaquePointer) {
        isBlocked = true
        hearth_socket_want_writable(socket)
        if stallDeadline == .max {
            sentInWindow = 0
            stallDeadline = monotonicNanoseconds() + timeouts.progress.nanoseconds
            reschedule()
        }
        switch role {
        case .http(let http): http.blocked()
        case .webSocket(let webSocket): webSocket.checkQueue()
        case .leaving, .ended: break
        }
        updateReading()
    }

    /// The socket has room again.
    func writable() {
        guard isBlocked else { return }
        isBlocked = false
        flush()
        updateReading()
    }

    private func drained() {
        stallDeadline = .max
        if finishesWhenDrained {
            leave()
            return
        }
        if case .http(let http) = role { http.outputDrained() }
    }

    // MARK: Ending

    /// Says no more than what is queued, then goodbye.
    func finish() {
        guard socket != nil, !finishesWhenDrained else { return }
        finishesWhenDrained = true
        // An answer takes as long as its reader goes on taking it; `stallDeadline` watches over that.
        if case .http = role, !output.isEmpty {
            setDeadline(.max)
        } else {
            setGoodbyeDeadline()
        }
        markDirty()
    }

    /// Ends the sending half and waits for the peer to end its own: closing at once, with input
    /// unread, would make TCP throw away what the peer has not read yet.
    private func leave() {
        guard let socket else { return }
        if case .leaving = role { return }
        role = .leaving
        hearth_socket_finish(socket)
        setGoodbyeDeadline()
        updateReading()
    }

    /// Counted from this moment, not from the begin of the turn: what led here may have taken long.
    private func setGoodbyeDeadline() {
        setDeadline(monotonicNanoseconds() + timeouts.goodbye.nanoseconds)
    }

    /// Ends a connection on which nothing is unsent, unread or awaited: no goodbye is needed.
    func hangUp() {
        guard let socket, output.isEmpty else {
            finish()
            return
        }
        hearth_socket_finish(socket)
        fail()
    }

    /// Ends what is unfinished: too many bytes of it are held.
    func overload() {
        switch role {
        case .http(let http): http.overload()
        case .webSocket(let webSocket): webSocket.overload()
        case .leaving, .ended: break
        }
    }

    /// Cuts the connection at the end of the turn.
    func fail() {
        guard socket != nil, !isDoomed else { return }
        isDoomed = true
        output.removeAll()
        loop.flusher.doom(self)
    }

    func destroySocket() {
        guard let socket else { return }
        hearth_socket_destroy(socket)
    }

    /// The socket is gone; C has called for the last time.
    func ended() {
        guard socket != nil else { return }
        socket = nil
        loop.unschedule(self)
        output.removeAll()
        let last = role
        role = .ended
        listener.release(self)
        listener.remove(self)
        switch last {
        case .http(let http): http.ended()
        case .webSocket(let webSocket): webSocket.ended()
        case .leaving, .ended: break
        }
    }

    /// The listener closes: finishes what is under way and takes nothing new.
    func drain() {
        switch role {
        case .http(let http): http.drain()
        case .webSocket(let webSocket): webSocket.close(code: 1001, reason: "server is going away")
        case .leaving, .ended: break
        }
    }

    // MARK: Deadlines

    /// Sets when `deadlinePassed` of the role is due; `.max` for never.
    func setDeadline(_ time: UInt64) {
        deadline = time
        reschedule()
    }

    /// Later deadlines cost nothing: the queued moment comes, sees that it is early, and moves on.
    private func reschedule() {
        let next = min(deadline, stallDeadline)
        guard next < dueTime, socket != nil else { return }
        loop.schedule(self, at: next)
    }

    override func fire(now: UInt64) {
        if stallDeadline <= now {
            guard sentInWindow >= timeouts.progressByteCount else {
                listener.counters.timeoutCount += 1
                if case .webSocket(let webSocket) = role { webSocket.note(.stalled) }
                fail()
                return
            }
            sentInWindow = 0
            stallDeadline = now + timeouts.progress.nanoseconds
        }
        if deadline <= now {
            deadline = .max
            deadlinePassed(now)
        }
        reschedule()
    }

    private func deadlinePassed(_ now: UInt64) {
        guard !finishesWhenDrained else {
            fail()
            return
        }
        switch role {
        case .http(let http): http.deadlinePassed(now)
        case .webSocket(let webSocket): webSocket.deadlinePassed(now)
        case .leaving, .ended: fail()
        }
    }
}

/// Sends a part of an array. Outside the actor, so that the closure costs no isolation check.
private func send(_ socket: OpaquePointer, _ bytes: [UInt8], _ offset: Int, _ byteCount: Int) -> Int
{
    bytes.withUnsafeBufferPointer { buffer in
        guard let base = buffer.baseAddress else { return 0 }
        return hearth_socket_send(socket, base + offset, byteCount)
    }
}
