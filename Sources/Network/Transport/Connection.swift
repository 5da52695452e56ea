import CTransport

/// One accepted socket: its output, its deadlines, and the protocol that it speaks.
///
/// C retains it from the accept until `ended`. The socket is destroyed only at the end of a tick (`Flusher.reap`) or
/// by C after a call, so this code never holds a destroyed one.
@LoopActor
final class Connection: Timed {
    private enum Speaker {
        case http(HTTPConnection)
        case webSocket(WebSocketConnection)
    }

    let id: UInt64
    let listener: Listener
    let peer: Endpoint
    /// Index in `Listener.connections`.
    var listIndex = 0
    /// Unfinished bytes counted for `client`; only the listener changes it.
    var heldByteCount = 0
    /// The same of answers that wait for the socket.
    var heldOutputByteCount = 0
    /// The client that the bytes count for; changes only while none are counted.
    private(set) var client: String

    private var socket: OpaquePointer?
    private var state = ConnectionState()
    /// Nil once everything is said; what still arrives is thrown away.
    private var speaker: Speaker?
    private(set) var output = OutputQueue()

    /// The tick in which messages were last taken, and how many.
    private var takingTick = 0
    private var takenCount = 0
    /// How many it may give in one tick.
    private var allowance = TickLimits.messagesPerConnection
    /// The last tick in which it had more than that.
    private var overdrawnTick = -1

    /// A deadline that fires this many nanoseconds late shows that the loop was delayed; input then gets more time.
    private static let heldUpTime: UInt64 = 100_000_000

    /// When the speaker's `deadlinePassed` is due; `.max` for never.
    private var deadline: UInt64 = .max
    /// When a blocked peer must have read enough; `.max` while nothing is blocked.
    private var stallDeadline: UInt64 = .max
    private var sentInWindow = 0

    init(id: UInt64, listener: Listener, socket: OpaquePointer, peer: Endpoint) {
        self.id = id
        self.listener = listener
        self.socket = socket
        self.peer = peer
        client = peer.address
        super.init()
        speaker = .http(HTTPConnection(self))
    }

    var timeouts: TransportTimeouts { listener.configuration.timeouts }
    var limits: TransportLimits { listener.configuration.limits }
    /// Whether its requests are of several clients.
    private(set) lazy var speaksForOthers =
        listener.configuration.speaksForOthers?(peer.address) ?? false
    /// Whether input is still wanted and answers still have a way out.
    var isActive: Bool { state.life == .open }

    private var loop: EventLoop { .shared }

    /// Notes the client of the current request.
    func belongs(to head: RequestHead) {
        guard heldByteCount == 0, heldOutputByteCount == 0,
            let application = listener.application
        else { return }
        client = application.client(head)
    }

    // MARK: Input

    func received(_ bytes: UnsafeBufferPointer<UInt8>) {
        listener.counters.receivedByteCount += bytes.count
        guard isActive else { return }
        switch speaker {
        case .http(let http): http.received(bytes)
        case .webSocket(let webSocket): webSocket.received(bytes)
        case nil: break
        }
        updateReading()
    }

    /// Continues with waiting input and delayed calls.
    func resumeReading() {
        _ = state.resume()
        switch speaker {
        case .http(let http): http.advance()
        case .webSocket(let webSocket): webSocket.advance()
        case nil: break
        }
        updateReading()
    }

    /// Calls `resumeReading` before this tick ends, or in the next one.
    func resumeLater() {
        if state.resumeLater() { loop.flusher.resume(self) }
    }

    /// Whether this connection may take one more message or request in this tick; counts it. If not, it continues in
    /// the next tick.
    func mayTake() -> Bool {
        let tick = loop.counters.tickCount
        if takingTick != tick {
            loop.noteTaker(id)
            let isFlood = overdrawnTick == takingTick && loop.isContended
            allowance =
                isFlood
                ? max(TickLimits.messagesPerFlood, allowance / 2)
                : TickLimits.messagesPerConnection
            takingTick = tick
            takenCount = 0
        }
        guard takenCount < allowance, !loop.isShareSpent else {
            overdrawnTick = tick
            resumeLater()
            return false
        }
        takenCount += 1
        return true
    }

    /// The handshake is done: WebSocket frames follow.
    func become(_ webSocket: WebSocketConnection) {
        speaker = .webSocket(webSocket)
    }

    /// A WebSocket with an empty inbox is always read, since a Close frame may come. HTTP input waits.
    private func updateReading() {
        guard let socket, state.takesOutput else { return }
        let wantsPause =
            switch speaker {
            case .http(let http): isBlocked || http.isFull
            case .webSocket(let webSocket): webSocket.holdsInput
            case nil: false
            }
        if state.read(!wantsPause) { hearth_socket_pause(socket, wantsPause) }
    }

    // MARK: Output

    /// Whether the socket took less than was offered; `writable` will come.
    private var isBlocked: Bool { state.output == .blocked }

    /// Queues bytes; they leave at the end of the tick, joined with their neighbours.
    ///
    /// Returns how many bytes are queued now.
    @discardableResult
    func enqueue(_ bytes: [UInt8]) -> Int {
        guard state.takesOutput else { return 0 }
        let byteCount = output.append(bytes)
        if isBlocked { holdOutput() }
        markDirty()
        return byteCount
    }

    /// Counts what waits of whole answers. What is pushed is shared by many receivers, and has a limit for each.
    private func holdOutput() {
        guard case .http(let http) = speaker, !http.isPushing else { return }
        if !listener.holdOutput(output.byteCount, on: self) { fail() }
    }

    private func releaseOutput() {
        if heldOutputByteCount > 0 { _ = listener.holdOutput(0, on: self) }
    }

    /// Queues part of an endless answer, whose reader must keep up. Returns the waiting byte count if it exceeds the
    /// limit of the queue and the socket is full.
    func enqueuePush(_ bytes: [UInt8]) -> Int? {
        // Nearly always the whole queue is within the limit: no exact count is needed.
        let byteCount = enqueue(bytes)
        guard byteCount > limits.queueByteCount,
            output.waitingByteCount > limits.queueByteCount
        else { return nil }
        // A burst within one tick is not the reader's fault: the socket may have room.
        if !isBlocked { flush() }
        return overflow
    }

    /// Bytes that wait behind the item being sent, if they exceed the limit of the queue and the socket is full; else
    /// nil.
    var overflow: Int? {
        guard isBlocked else { return nil }
        let waiting = output.waitingByteCount
        return waiting > limits.queueByteCount ? waiting : nil
    }

    func enqueueSource(_ source: OutputSource) {
        guard state.takesOutput else { return }
        output.appendSource(source)
        markDirty()
    }

    func markDirty() {
        if state.mark() { loop.flusher.markDirty(self) }
    }

    /// Pulls some bytes from the source at the head and sends them. Returns its part of `TickLimits.tickByteCount`.
    func pull() -> Int {
        state.pull() ? sendQueued(isPulling: true) : 0
    }

    /// Sends what is queued, up to the first source.
    func flush() {
        if state.begin() { _ = sendQueued(isPulling: false) }
    }

    /// Sends until the queue is empty, the socket is full, or other connections have waited long enough.
    ///
    /// Sources are asked for so many bytes or somewhat more; then they stand in line with others'. Returns what they
    /// have taken of the tick.
    private func sendQueued(isPulling: Bool) -> Int {
        guard let socket else { return 0 }
        defer { _ = state.stop() }
        var budget = TickLimits.flushedByteCount
        var pullBudget = isPulling ? TickLimits.pulledByteCount : 0
        var copyBudget = isPulling ? TickLimits.copiedByteCount : 0
        var spent = 0
        while budget > 0 {
            let next = output.next(joiningInto: loop.scratch)
            if case .source(let source) = next {
                guard pullBudget > 0, copyBudget > 0 else {
                    if state.wait() { loop.flusher.addPuller(self) }
                    return spent
                }
                if source.copies {
                    let before = spent
                    guard sendCopy(of: source, socket, &spent) else { return spent }
                    copyBudget -= spent - before
                } else {
                    // Text takes long to make: one source in a tick.
                    spent = TickLimits.tickByteCount
                    let before = output.byteCount
                    guard pullNext(of: source) else { return spent }
                    // Empty chunks count too: a source of nothing else must not block the loop.
                    pullBudget -= output.byteCount - before + 64
                }
                continue
            }
            let offered: Int
            let sent: Int
            switch next {
            case .nothing, .source:
                drained()
                return spent
            case .slice(let bytes, let offset, let byteCount):
                offered = byteCount
                let isMoreNext = output.isBeforeCopies
                sent = send(socket, bytes, offset, byteCount, isMoreNext)
            case .joined(let byteCount):
                offered = byteCount
                sent = hearth_socket_send(socket, loop.scratch.baseAddress, byteCount, false)
            }
            guard sent >= 0 else {
                fail()
                return spent
            }
            output.advance(sent)
            note(sent)
            guard sent == offered else {
                block(socket)
                return spent
            }
            budget -= sent
        }
        markDirty()
        return spent
    }

    /// Sends what a source copies, once, and adds it to `spent`. Returns whether there is reason to go on sending.
    private func sendCopy(
        of source: OutputSource,
        _ socket: OpaquePointer,
        _ spent: inout Int
    ) -> Bool {
        let step = source.copy(into: loop.copyRoom)
        guard state.takesOutput else { return false }
        switch step {
        case .next(let byteCount):
            let sent = hearth_socket_send(socket, loop.copyRoom.baseAddress, byteCount, false)
            guard sent >= 0 else {
                fail()
                return false
            }
            source.advance(sent)
            note(sent)
            spent += sent
            if sent < byteCount { block(socket) }
            return sent == byteCount
        case .wait:
            stallDeadline = .max
            return false
        case .end:
            output.removeSource()
            return true
        }
    }

    private func note(_ sent: Int) {
        sentInWindow += sent
        listener.counters.sentByteCount += sent
    }

    /// Asks the source for more. Returns whether there is reason to go on sending.
    private func pullNext(of source: OutputSource) -> Bool {
        let step = source.next()
        guard state.takesOutput else { return false }
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
        _ = state.block()
        hearth_socket_want_writable(socket)
        if stallDeadline == .max {
            sentInWindow = 0
            stallDeadline = monotonicNanoseconds() + timeouts.progress.nanoseconds
            reschedule()
        }
        switch speaker {
        case .http(let http): http.blocked()
        case .webSocket(let webSocket): webSocket.checkQueue()
        case nil: break
        }
        holdOutput()
        updateReading()
    }

    /// The socket has room again.
    func writable() {
        guard state.unblock() else { return }
        flush()
        updateReading()
    }

    private func drained() {
        stallDeadline = .max
        releaseOutput()
        if state.leave() {
            sayGoodbye()
        } else if case .http(let http) = speaker {
            http.outputDrained()
        }
    }

    // MARK: Ending

    /// Sends what is queued, then ends the connection.
    func finish() {
        guard state.finish() else { return }
        // An answer takes as long as its reader goes on taking it; `stallDeadline` watches over that.
        if case .http = speaker, !output.isEmpty {
            setDeadline(.max)
        } else {
            setGoodbyeDeadline()
        }
        markDirty()
    }

    /// Ends the sending half and waits for the peer to end its own: closing at once, with input
    /// unread, would make TCP throw away what the peer has not read yet.
    private func sayGoodbye() {
        guard let socket else { return }
        speaker = nil
        hearth_socket_finish(socket)
        setGoodbyeDeadline()
        updateReading()
    }

    /// Counted from now, not from the begin of the tick: the work before may have taken long.
    private func setGoodbyeDeadline() {
        setDeadline(monotonicNanoseconds() + timeouts.goodbye.nanoseconds)
    }

    /// Ends a connection with nothing unsent, unread or awaited: it needs no goodbye.
    func hangUp() {
        guard let socket, output.isEmpty else {
            finish()
            return
        }
        hearth_socket_finish(socket)
        fail()
    }

    /// Ends an unfinished request or message: clients hold too many unfinished bytes.
    func overload() {
        switch speaker {
        case .http(let http): http.overload()
        case .webSocket(let webSocket): webSocket.overload()
        case nil: break
        }
    }

    /// Cuts the connection at the end of the tick.
    func fail() {
        guard state.fail() else { return }
        output.removeAll()
        releaseOutput()
        loop.flusher.doom(self)
    }

    func destroySocket() {
        guard let socket else { return }
        hearth_socket_destroy(socket)
    }

    /// The socket is gone; C makes no more calls.
    func ended() {
        guard state.end() else { return }
        socket = nil
        loop.unschedule(self)
        output.removeAll()
        let last = speaker
        speaker = nil
        listener.release(self)
        releaseOutput()
        listener.remove(self)
        switch last {
        case .http(let http): http.ended()
        case .webSocket(let webSocket): webSocket.ended()
        case nil: break
        }
    }

    /// The listener closes: finishes current work and accepts nothing new.
    func drain() {
        switch speaker {
        case .http(let http): http.drain()
        case .webSocket(let webSocket): webSocket.close(code: 1001, reason: "server is going away")
        case nil: break
        }
    }

    // MARK: Deadlines

    /// Sets when `deadlinePassed` of the speaker is due; `.max` for never.
    func setDeadline(_ time: UInt64) {
        deadline = time
        reschedule()
    }

    /// Later deadlines cost nothing: the queued timer fires early, sees that, and moves on.
    private func reschedule() {
        let next = min(deadline, stallDeadline)
        guard next < dueTime, socket != nil else { return }
        loop.schedule(self, at: next)
    }

    override func fire(now: UInt64) {
        if stallDeadline <= now {
            guard sentInWindow >= timeouts.progressByteCount else {
                listener.counters.timeoutCount += 1
                if case .webSocket(let webSocket) = speaker { webSocket.note(.stalled) }
                fail()
                return
            }
            sentInWindow = 0
            stallDeadline = now + timeouts.progress.nanoseconds
        }
        if deadline <= now {
            let lateness = now - deadline
            deadline = .max
            if lateness > Self.heldUpTime, hasUnreadInput {
                // The peer was not silent: the loop was delayed, and gives that time back. Received input is read in
                // this tick; a TLS handshake needs further packets.
                deadline = now + lateness
            } else {
                deadlinePassed(now)
            }
        }
        reschedule()
    }

    private var hasUnreadInput: Bool {
        guard isActive, let socket else { return false }
        return hearth_socket_has_input(socket)
    }

    private func deadlinePassed(_ now: UInt64) {
        guard isActive else { return fail() }
        switch speaker {
        case .http(let http): http.deadlinePassed(now)
        case .webSocket(let webSocket): webSocket.deadlinePassed(now)
        case nil: break
        }
    }
}

/// Sends a part of an array. Outside the actor, so that the closure costs no isolation check.
private func send(
    _ socket: OpaquePointer,
    _ bytes: [UInt8],
    _ offset: Int,
    _ byteCount: Int,
    _ isMoreNext: Bool
) -> Int {
    bytes.withUnsafeBufferPointer { buffer in
        guard let base = buffer.baseAddress else { return 0 }
        return hearth_socket_send(socket, base + offset, byteCount, isMoreNext)
    }
}
