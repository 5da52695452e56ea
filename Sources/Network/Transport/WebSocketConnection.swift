/// One open WebSocket.
@LoopActor
package final class WebSocketConnection {
    /// Why a WebSocket is over.
    package enum CloseCause: Equatable, Sendable {
        /// The peer's Close frame; nil when it gave no code.
        case peerClosed(code: UInt16?)
        /// `close(code:)` was called here, or the listener drains (1001).
        case closedHere(code: UInt16)
        /// The socket ended without a Close frame.
        case socketEnded
        /// The peer broke the protocol or a limit; the Close frame had this code.
        case peerFault(code: UInt16)
        /// More waited for the peer than the queue may hold.
        case slowReader(waitingByteCount: Int)
        /// The peer read too little for too long.
        case stalled
        /// The peer was silent, pings unanswered.
        case silent
        /// `drop()` was called here.
        case dropped
    }

    private enum State {
        case open
        /// Our Close frame is queued; theirs has not come.
        case closing
        case over
    }

    /// Unique among the connections and exchanges of its listener.
    package let id: UInt64
    /// The other end: a numeric address.
    package let peerAddress: String
    /// The application's own; not looked at.
    package var userData: AnyObject?
    /// Why the WebSocket is over; nil while it is open.
    package var closeCause: CloseCause? { cause }

    /// Separate from its accessor: a property that only this file can reach needs no check of exclusive access.
    private var cause: CloseCause?
    private let listener: Listener
    /// Nil when the socket is gone. Not `weak`, which would make every retain slow.
    private var connection: Connection?
    private var reader: FrameReader
    private var state = State.open
    /// Whether the application was notified of the end.
    private var isCloseReported = false
    private var lastReceived: UInt64 = 0
    private var isPingSent = false
    /// When the peer must have sent a message; nil once it has, or when it may take its time.
    private(set) var speakingDeadline: UInt64?
    /// Input that waits: `inbox[inboxStart...]`. The socket is not read in the meantime.
    private var inbox: [UInt8] = []
    private var inboxStart = 0
    /// Whether the application has paused messages.
    private var isHeld = false
    /// Bytes that the application keeps of its own incomplete messages. From the end of `received` on, they count
    /// like unfinished bytes here.
    package var keptByteCount = 0

    init(_ connection: Connection) {
        id = connection.id
        client = connection.client
        peerAddress = connection.peer.address
        listener = connection.listener
        self.connection = connection
        reader = FrameReader(messageByteLimit: connection.limits.messageByteCount)
    }

    /// The client, as `TransportApplication.client` gave it at the opening.
    package let client: String

    /// Whether messages still go both ways.
    package var isOpen: Bool { state == .open && cause == nil }

    /// Bytes queued and not yet taken by the socket; streams count with the chunk at hand only.
    package var queuedByteCount: Int { connection?.output.byteCount ?? 0 }

    // MARK: Sending

    /// Queues a frame, which leaves at the end of the tick. Ignored after the end of the WebSocket.
    ///
    /// Cuts the connection, with `slowReader` as `closeCause`, when more than the limit waits behind the message
    /// being sent and the socket is full.
    package func send(_ frame: SharedFrame) {
        guard isOpen else { return }
        listener.counters.sentFrameCount += frame.frameCount
        enqueue(frame.bytes)
    }

    /// Queues frames that are pulled as the socket drains; later frames wait behind them.
    ///
    /// `next` is called when the socket has taken everything before it; after `.wait`, only after `resumeStream`.
    /// Streamed frames do not count against the queue limit. Each waiting stream counts a little, so a peer cannot
    /// ask for streams without end and read nothing.
    package func sendStream(_ next: @escaping @LoopActor () -> StreamStep<SharedFrame>) {
        guard isOpen else { return }
        let listener = listener
        connection?.enqueueSource(
            OutputSource {
                switch next() {
                case .next(let frame):
                    listener.counters.sentFrameCount += 1
                    return .next(frame.bytes)
                case .wait: return .wait
                case .end: return .end
                }
            }
        )
        checkQueue()
    }

    /// Resumes a stream that answered `.wait`: it has more.
    package func resumeStream() {
        connection?.markDirty()
    }

    private func enqueue(_ bytes: [UInt8]) {
        if let waiting = connection?.enqueuePush(bytes) { cut(waiting) }
    }

    /// Cuts a reader for whom too much waits while its socket takes no more.
    func checkQueue() {
        if let waiting = connection?.overflow { cut(waiting) }
    }

    private func cut(_ waiting: Int) {
        guard let connection, cause == nil else { return }
        listener.counters.slowReaderCount += 1
        note(.slowReader(waitingByteCount: waiting))
        connection.fail()
    }

    // MARK: Closing

    /// Sends a Close frame behind everything queued. The peer has a few seconds to answer it.
    ///
    /// `closed` is called at the end of the tick, never from within this call.
    package func close(code: UInt16 = 1000, reason: String = "") {
        guard isOpen, let connection else { return }
        state = .closing
        note(.closedHere(code: code))
        connection.enqueue(SharedFrame.close(code: code, reason: reason))
        connection.setDeadline(EventLoop.shared.now + connection.timeouts.goodbye.nanoseconds)
        connection.resumeLater()
    }

    /// Cuts the connection without a Close frame, at the end of the tick.
    package func drop() {
        note(.dropped)
        connection?.fail()
    }

    /// Keeps the first cause; later ones follow from it.
    func note(_ cause: CloseCause) {
        if self.cause == nil { self.cause = cause }
    }

    /// Does delayed work: reports the end, and continues with input.
    func advance() {
        if cause != nil { reportClosed() }
        guard inboxStart < inbox.count, !isHeld else { return }
        let waiting = inbox
        inboxStart += waiting.withUnsafeBufferPointer { buffer in
            read(UnsafeBufferPointer(rebasing: buffer[inboxStart...]))
        }
        guard inboxStart == inbox.count else { return }
        inbox = []
        inboxStart = 0
    }

    private func reportClosed() {
        guard !isCloseReported else { return }
        isCloseReported = true
        // An unfinished message is dropped.
        reader = FrameReader(messageByteLimit: 0)
        inbox = []
        inboxStart = 0
        keptByteCount = 0
        if let connection { listener.release(connection) }
        listener.counters.openWebSocketCount -= 1
        listener.application?.closed(self)
    }

    // MARK: Receiving

    /// Closes the connection with 1008 unless its first message comes within this time. Answers to pings do not count.
    package func expectMessage(within time: Duration) {
        speakingDeadline = EventLoop.shared.now + time.nanoseconds
        setDeadline(EventLoop.shared.now + (connection?.timeouts.ping.nanoseconds ?? 0))
    }

    /// Sets the next `deadlinePassed`: at `time`, or sooner if a first message is due before.
    private func setDeadline(_ time: UInt64) {
        connection?.setDeadline(min(time, speakingDeadline ?? .max))
    }

    /// Notifies the application, then reads the bytes that came with the handshake.
    func open(_ head: RequestHead, _ rest: [UInt8]) {
        listener.counters.webSocketCount += 1
        listener.counters.openWebSocketCount += 1
        if let connection {
            setDeadline(EventLoop.shared.now + connection.timeouts.ping.nanoseconds)
        }
        lastReceived = EventLoop.shared.now
        listener.application?.opened(self, head)
        rest.withUnsafeBufferPointer { received($0) }
    }

    func received(_ bytes: UnsafeBufferPointer<UInt8>) {
        lastReceived = EventLoop.shared.now
        if isPingSent, state == .open {
            isPingSent = false
            if let connection {
                setDeadline(lastReceived + connection.timeouts.ping.nanoseconds)
            }
        }
        guard !holdsInput else {
            inbox.append(contentsOf: bytes)
            return
        }
        let consumed = read(bytes)
        guard consumed < bytes.count else { return }
        inbox = Array(bytes[consumed...])
        inboxStart = 0
    }

    /// Reads as much as this tick's share allows. Returns how many bytes are consumed.
    private func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var offset = 0
        do throws(FrameFault) {
            while offset < bytes.count {
                guard state != .over, let connection, connection.isActive else {
                    return bytes.count
                }
                guard !isHeld, connection.mayTake() else { break }
                let rest = UnsafeBufferPointer(rebasing: bytes[offset...])
                let (event, consumed) = try reader.read(rest)
                offset += consumed
                handle(event)
            }
            if let connection, state != .over,
                !listener.hold(reader.heldByteCount + keptByteCount, on: connection)
            {
                throw .overloaded
            }
        } catch {
            fail(error)
            return bytes.count
        }
        return offset
    }

    /// Whether input has come that waits to be read.
    var holdsInput: Bool { isHeld || inboxStart < inbox.count }

    /// Stops delivering messages until `resumeMessages`; the socket is not read in the meantime.
    package func holdMessages() {
        isHeld = true
        connection?.resumeLater()
    }

    /// Delivers messages again after `holdMessages`.
    package func resumeMessages() {
        isHeld = false
        connection?.resumeLater()
    }

    private func handle(_ event: FrameReader.Event) {
        switch event {
        case .needsMore, .pong: break
        case .message(let message):
            guard isOpen else { return }
            speakingDeadline = nil
            listener.counters.receivedFrameCount += 1
            listener.application?.received(self, message)
        case .ping(let payload):
            guard isOpen else { return }
            enqueue(SharedFrame.frame(.pong, payload))
        case .close(let code):
            peerClosed(code)
        }
    }

    private func peerClosed(_ code: UInt16?) {
        let isAnswer = state == .closing
        state = .over
        note(.peerClosed(code: code))
        if !isAnswer {
            connection?.enqueue(
                code.map { SharedFrame.close(code: $0, reason: "") }
                    ?? SharedFrame.frame(.close, [])
            )
        }
        connection?.finish()
        reportClosed()
    }

    /// Ends the connection because unfinished messages take too many bytes, most of them here.
    func overload() {
        if state != .over { fail(.overloaded) }
    }

    private func fail(_ fault: FrameFault) {
        if fault != .overloaded { listener.counters.badFrameCount += 1 }
        let isClosing = state == .closing
        state = .over
        note(.peerFault(code: fault.rawValue))
        if !isClosing {
            connection?.enqueue(SharedFrame.close(code: fault.rawValue, reason: fault.text))
        }
        connection?.finish()
        reportClosed()
    }

    // MARK: Time and end

    func deadlinePassed(_ now: UInt64) {
        guard let connection else { return }
        guard state == .open else {
            connection.fail()
            return
        }
        if let due = speakingDeadline, due <= now {
            listener.counters.timeoutCount += 1
            close(code: 1008, reason: "No message came in time")
            return
        }
        let ping = connection.timeouts.ping.nanoseconds
        let hangup = connection.timeouts.hangup.nanoseconds
        // While paused, the server reads nothing of the peer, so silence is not its fault.
        if isHeld { lastReceived = now }
        if isPingSent, !isHeld {
            listener.counters.timeoutCount += 1
            note(.silent)
            connection.fail()
        } else if now - lastReceived < ping {
            setDeadline(lastReceived + ping)
        } else {
            // Counted from now, not from the last frame: a delayed loop has sent no ping yet.
            isPingSent = true
            enqueue(SharedFrame.frame(.ping, []))
            setDeadline(now + (hangup > ping ? hangup - ping : ping))
        }
    }

    func ended() {
        note(.socketEnded)
        state = .over
        connection = nil
        reportClosed()
    }
}
