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
        /// The peer broke the protocol or a limit and was told so with this code.
        case peerFault(code: UInt16)
        /// More waited for the peer than the queue may hold.
        case slowReader(waitingByteCount: Int)
        /// The peer took too little of what was sent for too long.
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

    /// Kept apart from its accessor: what only this file can reach needs no check of exclusive access.
    private var cause: CloseCause?
    private let listener: Listener
    /// Nil when the socket is gone. Not `weak`, which would make every retain of it slow.
    private var connection: Connection?
    private var reader: FrameReader
    private var state = State.open
    /// Whether the application has been told that this is over.
    private var isClosedTold = false
    private var lastReceived: UInt64 = 0
    private var isPingSent = false
    /// When the peer must have sent a message; nil once it has, or when it may take its time.
    private(set) var speakingDeadline: UInt64?
    /// Input that has to wait: `inbox[inboxStart...]`. The socket is not read meanwhile.
    private var inbox: [UInt8] = []
    private var inboxStart = 0
    /// Whether the application wants no message for now.
    private var isHeld = false
    /// Bytes that the application keeps of messages which are not complete to it. They count as what is unfinished
    /// here does, from the end of `received` on.
    package var keptByteCount = 0

    init(_ connection: Connection) {
        id = connection.id
        client = connection.client
        peerAddress = connection.peer.address
        listener = connection.listener
        self.connection = connection
        reader = FrameReader(messageByteLimit: connection.limits.messageByteCount)
    }

    /// Whose it is, as `TransportApplication.client` said when it was opened.
    package let client: String

    /// Whether messages still go both ways.
    package var isOpen: Bool { state == .open && cause == nil }

    /// Bytes queued and not yet taken by the socket; streams count with the chunk at hand only.
    package var queuedByteCount: Int { connection?.output.byteCount ?? 0 }

    // MARK: Sending

    /// Queues a frame, which leaves at the end of the turn. Ignored once the WebSocket is over.
    ///
    /// When more than the limit then waits behind the message being sent, and the socket takes no
    /// more, the connection is cut and `closeCause` says `slowReader`.
    package func send(_ frame: SharedFrame) {
        guard isOpen else { return }
        listener.counters.sentFrameCount += frame.frameCount
        enqueue(frame.bytes)
    }

    /// Queues frames that are pulled as the socket drains; later ones wait behind the last of them.
    ///
    /// `next` is asked whenever all before was taken by the socket; after `.wait` not before
    /// `resumeStream`. Frames of a stream do not count against the queue limit, but streams that wait
    /// do a little: nobody may ask for them without end and read nothing.
    package func sendStream(_ next: @escaping @LoopActor () -> StreamStep<SharedFrame>) {
        guard isOpen else { return }
        let listener = listener
        connection?.enqueue(
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

    /// Says that a stream which answered `.wait` has more.
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
    /// `closed` is told at the end of the turn, never from within this call.
    package func close(code: UInt16 = 1000, reason: String = "") {
        guard isOpen, let connection else { return }
        state = .closing
        note(.closedHere(code: code))
        connection.enqueue(SharedFrame.close(code: code, reason: reason))
        connection.setDeadline(EventLoop.shared.now + connection.timeouts.goodbye.nanoseconds)
        connection.resumeLater()
    }

    /// Cuts the connection without a Close frame, at the end of the turn.
    package func drop() {
        note(.dropped)
        connection?.fail()
    }

    /// Keeps the first cause: what follows from it is no cause.
    func note(_ cause: CloseCause) {
        if self.cause == nil { self.cause = cause }
    }

    /// Does what was put off: tells that this is over, and goes on with input.
    func advance() {
        if cause != nil { tellClosed() }
        guard inboxStart < inbox.count, !isHeld else { return }
        let waiting = inbox
        inboxStart += waiting.withUnsafeBufferPointer { buffer in
            read(UnsafeBufferPointer(rebasing: buffer[inboxStart...]))
        }
        guard inboxStart == inbox.count else { return }
        inbox = []
        inboxStart = 0
    }

    private func tellClosed() {
        guard !isClosedTold else { return }
        isClosedTold = true
        // What was unfinished stays so.
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

    /// Sets when `deadlinePassed` is told next: at `time`, or sooner if a first message is due before.
    private func setDeadline(_ time: UInt64) {
        connection?.setDeadline(min(time, speakingDeadline ?? .max))
    }

    /// Tells the application, then reads what came along with the handshake.
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

    /// Takes what this turn's share allows. Returns how many bytes are done with.
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

    /// Gives the application no message until `resumeMessages`; the socket is not read meanwhile.
    package func holdMessages() {
        isHeld = true
        connection?.resumeLater()
    }

    /// Goes on with messages after `holdMessages`.
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
        tellClosed()
    }

    /// Too many bytes of unfinished messages are held, most of them here.
    func overload() {
        if state != .over { fail(.overloaded) }
    }

    private func fail(_ fault: FrameFault) {
        if fault != .overloaded { listener.counters.badFrameCount += 1 }
        let isTold = state == .closing
        state = .over
        note(.peerFault(code: fault.rawValue))
        if !isTold {
            connection?.enqueue(SharedFrame.close(code: fault.rawValue, reason: fault.text))
        }
        connection?.finish()
        tellClosed()
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
        // Nothing was read of a peer that is held, so it cannot be blamed for its silence.
        if isHeld { lastReceived = now }
        if isPingSent, !isHeld {
            listener.counters.timeoutCount += 1
            note(.silent)
            connection.fail()
        } else if now - lastReceived < ping {
            setDeadline(lastReceived + ping)
        } else {
            // From now, and not from the last frame: a loop that was held up has asked nobody yet.
            isPingSent = true
            enqueue(SharedFrame.frame(.ping, []))
            setDeadline(now + (hangup > ping ? hangup - ping : ping))
        }
    }

    func ended() {
        note(.socketEnded)
        state = .over
        connection = nil
        tellClosed()
    }
}
