#if canImport(CClientTransport)
    import Locks

    /// WebSockets over libwebsockets, on one thread of their own.
    ///
    /// The thread starts with the first socket, and ends once the transport is released and its sockets are closed. It
    /// handles no signal: SIGPIPE keeps what the process does with it and cannot come from here. Hosts are looked up
    /// beside it, so a slow lookup holds up nothing but its own socket. Certificates are checked against the
    /// authorities of the system, or of the request's file alone, and against the host's name. Messages are not
    /// compressed, and proxies are not used, whatever `http_proxy` says.
    package final class LibwebsocketsTransport: ClientTransport {
        private let service: SocketService

        /// Makes a transport; nothing runs before the first socket.
        package convenience init() { self.init(SocketTimes()) }

        /// Makes a transport of another patience.
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

    /// A socket as its callers see it: what waits to be sent, and a door to the thread.
    final class LibwebsocketsSocket: ClientSocket {
        /// What is next to do with the socket.
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
            /// The thread has been told to look here and has not yet.
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

        /// Changes the outbox of a socket that is not closed, and tells the thread if the change says so.
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

        /// Takes the next frame to send.
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

        /// Nothing is taken any more; what waits is dropped.
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
