import DatabaseCore
import EventProtocol
import Transport

/// Large values and long runs of events of the plain event protocol, made as sockets drain.
extension SocketService {
    /// Sends a large value from its snapshot; what follows on the socket waits behind it.
    func streamEvent(_ message: StreamedEvent, to sockets: [WebSocketConnection]) {
        let receivers = sockets.map { socket in
            let source = EventSource(nil)
            socket.sendStream { source.next() }
            return (socket, source)
        }
        measure(message, for: receivers)
    }

    /// Sends the events of a long run one by one; what follows on the socket waits behind them.
    func streamEvents(_ events: EventStream, to sockets: [WebSocketConnection]) {
        for socket in sockets {
            let source = EventSource(events)
            socket.sendStream { [self, socket] in
                let step = source.next()
                guard case .wait = step else { return step }
                if let message = source.takeUnmeasured() {
                    measure(message, for: [(socket, source)])
                } else if !source.isMeasuring {
                    // Other sockets come first.
                    EventLoop.shared.enqueue { socket.resumeStream() }
                }
                return step
            }
        }
    }

    /// Has the length of a value found out, since one that is too large must not begin to leave.
    private func measure(
        _ message: StreamedEvent,
        for receivers: [(socket: WebSocketConnection, source: EventSource)]
    ) {
        let byteLimit = configuration.limits.responseByteCount
        let isTaken = workers.values.post(
            .measureEvent(message, byteLimit: byteLimit) { measured in
                EventLoop.shared.enqueue {
                    for (socket, source) in receivers {
                        let isSent = source.resume(with: measured, orElse: message.refusal)
                        if !isSent {
                            socket.close(code: 1009, reason: "The value is too large to be sent")
                        }
                        socket.resumeStream()
                    }
                }
            }
        )
        if isTaken { return }
        for (socket, source) in receivers {
            source.end()
            socket.close(code: 1013, reason: "Too many large values are being sent")
        }
    }
}

/// The frames of large values and of many events, made as the socket asks for them.
@LoopActor
private final class EventSource {
    /// What comes next.
    private enum State {
        /// The length of a value is being found out.
        case measuring
        case text([UInt8])
        case value(StreamedEvent)
        /// The next of the events, if there are any left.
        case events
    }

    /// Bytes of a fragment of a large value.
    private static let fragmentByteCount = 16 * 1024

    private var state: State
    private var events: EventStream?
    /// A value whose length is still to be found out.
    private var unmeasured: StreamedEvent?
    /// The value that is being sent, and whether some of it has left.
    private var value: StreamedEvent?
    private var isBegun = false

    /// Makes the source of a run of events, or (nil) of a value that is being measured.
    init(_ events: EventStream?) {
        self.events = events
        state = events == nil ? .measuring : .events
    }

    var isMeasuring: Bool { if case .measuring = state { true } else { false } }

    /// The value whose length must be found out before anything more comes; returned once.
    func takeUnmeasured() -> StreamedEvent? {
        defer { unmeasured = nil }
        return unmeasured
    }

    /// Goes on with a value that was measured, or (nil) with the refusal.
    ///
    /// Returns false when there is nothing to say: the source ends.
    func resume(with measured: StreamedEvent?, orElse refusal: [UInt8]?) -> Bool {
        if let measured {
            state = .value(measured)
        } else if let refusal {
            state = .text(refusal)
        } else {
            end()
            return false
        }
        return true
    }

    /// Nothing more comes.
    func end() {
        events = nil
        state = .events
    }

    func next() -> StreamStep<SharedFrame> {
        if let frame = nextFragment() { return .next(frame) }
        switch state {
        case .measuring: return .wait
        case .text(let text):
            state = .events
            return .next(SharedFrame(text: text))
        case .value(let message):
            state = .events
            value = message
            isBegun = false
            guard let frame = nextFragment() else { preconditionFailure("a message has a text") }
            return .next(frame)
        case .events:
            switch events?.next() {
            case .text(let text): return .next(SharedFrame(text: text))
            case .event(let message):
                state = .measuring
                unmeasured = message
                return .wait
            case .goesOn: return .wait
            case .end, nil: return .end
            }
        }
    }

    /// The next part of a large value; nil when none is under way.
    private func nextFragment() -> SharedFrame? {
        guard let piece = value?.next(atLeast: Self.fragmentByteCount) else { return nil }
        let isLast = value?.isEnded ?? true
        defer { isBegun = true }
        if isLast {
            value = nil
            return isBegun ? SharedFrame.ending(piece) : SharedFrame(text: piece)
        }
        return isBegun ? SharedFrame.middle(piece) : SharedFrame.beginning(piece)
    }
}
