#if canImport(CClientTransport)
    import Locks

    /// WebSockets over libwebsockets, on one thread of their own. The thread starts with the first socket, and ends
    /// when the transport is released and its sockets are closed. It handles no signal: the process keeps its own
    /// reaction to SIGPIPE, and this code never raises one. Other threads look up hosts, so a slow lookup delays only
    /// its own socket. Certificates are checked against the authorities of the system, or only those of the request's
    /// file, and against the host's name. Messages are not compressed. Proxies are not used, whatever `http_proxy`
    /// says.
    package final class LibwebsocketsTransport: ClientTransport {
        private let service: SocketService

        /// Makes a transport; nothing runs before the first socket.
        package convenience init() { self.init(SocketTimes()) }

        init(_ times: SocketTimes) { service = SocketService(times) }

        deinit { service.post(.released) }

        package func open(
            _ request: SocketRequest,
            tell: @escaping @Sendable (SocketEvent) -> Void,
        ) -> any ClientSocket {
            let socket = LibwebsocketsSocket(request, of: service, tell: tell)
            service.post(.open(socket))
            return socket
        }
    }

    /// A socket as its callers see it: the output that waits, and the way to the thread.
    final class LibwebsocketsSocket: ClientSocket {
        enum Next {
            case send([UInt8])
            case wait
            case close
        }

        private struct Outbox {
            /// Those before `sentCount` are sent.
            var frames: [[UInt8]] = []
            var sentCount = 0
            /// Of the frames that wait; at most `SocketLimits.queuedByteCount`, or the socket is overflowing.
            var byteCount = 0
            var isClosing = false
            var isOverflowing = false
            var isClosed = false
            /// The thread has been woken for this socket and has not looked yet.
            var isNoticed = false
        }

        let request: SocketRequest
        let tell: @Sendable (SocketEvent) -> Void
        private let service: SocketService
        private let outbox = Mutex(Outbox())

        init(
            _ request: SocketRequest,
            of service: SocketService,
            tell: @escaping @Sendable (SocketEvent) -> Void,
        ) {
            self.request = request
            self.service = service
            self.tell = tell
        }

        func send(_ frames: [[UInt8]]) {
            change { outbox in
                guard !outbox.isClosing else { return false }
                outbox.byteCount += frames.reduce(0) { $0 + $1.count }
                guard outbox.byteCount <= SocketLimits.queuedByteCount else {
                    outbox.isOverflowing = true
                    outbox.frames = []
                    outbox.sentCount = 0
                    return true
                }
                outbox.frames += frames
                return !frames.isEmpty
            }
        }

        func close() {
            change { outbox in
                defer { outbox.isClosing = true }
                return !outbox.isClosing
            }
        }

        /// Changes the outbox of an open socket, and wakes the thread if `body` returns true.
        private func change(_ body: (inout Outbox) -> Bool) {
            let mustTell = outbox.withLock { outbox in
                guard !outbox.isClosed, !outbox.isOverflowing else { return false }
                guard body(&outbox), !outbox.isNoticed else { return false }
                outbox.isNoticed = true
                return true
            }
            if mustTell { service.post(.look(self)) }
        }

        // MARK: On the thread

        /// Whether the socket must close, and why, as the thread looks at it.
        func look() -> (isClosing: Bool, isOverflowing: Bool) {
            outbox.withLock { outbox in
                outbox.isNoticed = false
                return (outbox.isClosing, outbox.isOverflowing)
            }
        }

        func next() -> Next {
            outbox.withLock { outbox in
                guard outbox.sentCount < outbox.frames.count else {
                    outbox.frames.removeAll(keepingCapacity: outbox.frames.capacity < 1024)
                    outbox.sentCount = 0
                    return outbox.isClosing ? .close : .wait
                }
                let frame = outbox.frames[outbox.sentCount]
                outbox.frames[outbox.sentCount] = []
                outbox.sentCount += 1
                outbox.byteCount -= frame.count
                return .send(frame)
            }
        }

        /// Accepts no more messages and drops those that wait.
        func end() {
            outbox.withLock { outbox in
                outbox.isClosed = true
                outbox.frames = []
                outbox.sentCount = 0
                outbox.byteCount = 0
            }
        }
    }
#endif
