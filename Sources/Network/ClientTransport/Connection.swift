#if canImport(CClientTransport)
    import CClientTransport

    /// One socket as the thread sees it: its way through the addresses of the host, and its C half.
    final class Connection {
        /// Left to try.
        var addresses: [String] = []
        var isLookedUp = false
        private let socket: LibwebsocketsSocket
        private let endpoint: HostAndPort?
        private let connections: Connections
        private let loop: OpaquePointer
        private let deadline: ContinuousClock.Instant
        /// The C half; nil before the first address is tried and between two. It holds a reference to this.
        private var handle: OpaquePointer?
        private var isOpen = false
        /// The message whose end has not come.
        private var incoming: [UInt8] = []
        private var failures: [String] = []
        private var cause: String?

        init(
            _ socket: LibwebsocketsSocket,
            at endpoint: HostAndPort?,
            among connections: Connections,
            on loop: OpaquePointer,
        ) {
            self.socket = socket
            self.endpoint = endpoint
            self.connections = connections
            self.loop = loop
            deadline = ContinuousClock.now + connections.times.opening
        }

        /// The part of the request that libwebsockets cannot send unchanged.
        var fault: String? {
            let request = socket.request
            let texts = [request.target] + request.headers.flatMap { [$0.name, $0.value] }
            let isClean = texts.allSatisfy { text in
                text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
            }
            if !isClean || request.target.contains(" ") || !request.target.hasPrefix("/") {
                return "the target and header lines are not those of a request"
            }
            if request.host.utf8.count > Int(HEARTH_CLIENT_HOST_LIMIT) {
                return "the host is longer than \(HEARTH_CLIENT_HOST_LIMIT) bytes"
            }
            if request.target.utf8.count > Int(HEARTH_CLIENT_TARGET_LIMIT) {
                return "the target is longer than \(HEARTH_CLIENT_TARGET_LIMIT) bytes"
            }
            if headers.utf8.count > Int(HEARTH_CLIENT_HEADERS_LIMIT) {
                return "the header lines are longer than \(HEARTH_CLIENT_HEADERS_LIMIT) bytes"
            }
            return nil
        }

        private var headers: String {
            socket.request.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
        }

        func connect() {
            guard let endpoint, !addresses.isEmpty else { return finish("there is no address") }
            let address = addresses.removeFirst()
            let left = deadline - ContinuousClock.now
            let time = addresses.isEmpty ? left : min(left, connections.times.address)
            guard time > .milliseconds(1) else {
                failures.append("no connection within \(connections.times.opening)")
                return finish(failures.joined(separator: "; "))
            }
            var reason = [CChar](repeating: 0, count: Int(HEARTH_CLIENT_REASON_SIZE))
            // Given back in `closed`.
            let owner = Unmanaged.passRetained(self).toOpaque()
            handle = open(address, endpoint, within: time, for: owner, &reason)
            guard handle == nil else { return }
            Unmanaged<Connection>.fromOpaque(owner).release()
            finish(text(of: reason))
        }

        private func open(
            _ address: String,
            _ endpoint: HostAndPort,
            within time: Duration,
            for owner: UnsafeMutableRawPointer,
            _ reason: inout [CChar],
        ) -> OpaquePointer? {
            let request = socket.request
            return withCStrings([
                address, request.host, endpoint.name, request.target, headers,
                request.authorityFile ?? "",
            ]) { texts in
                var wanted = hearth_client_request(
                    address: texts[0],
                    port: Int32(endpoint.port),
                    is_secure: request.isSecure,
                    host: texts[1],
                    name: texts[2],
                    target: texts[3],
                    headers: texts[4],
                    authorities: request.authorityFile == nil ? nil : texts[5],
                    milliseconds: time.milliseconds
                )
                return hearth_client_socket_open(loop, owner, &wanted, &reason)
            }
        }

        /// Carries out the callers' requests since the last look.
        func look() {
            let (isClosing, isOverflowing) = socket.look()
            if isOverflowing {
                end("more than \(SocketLimits.queuedByteCount) bytes wait to be sent")
            } else if isClosing, !isOpen {
                end("closed by the client")
            } else if let handle, isOpen {
                if isClosing {
                    hearth_client_socket_close_within(
                        handle,
                        connections.times.closing.milliseconds
                    )
                } else {
                    hearth_client_socket_want_writable(handle)
                }
            }
        }

        /// Closes without a close frame.
        func end(_ reason: String) {
            cause = cause ?? reason
            guard let handle else { return finish(reason) }
            addresses = []
            hearth_client_socket_abort(handle, reason)
        }

        func finish(_ reason: String) {
            connections.forget(socket)
            socket.end()
            incoming = []
            socket.tell(.closed(reason: cause ?? reason))
        }

        // MARK: Called by the C half

        private func opened() {
            isOpen = true
            socket.tell(.opened)
        }

        /// Returns 0, or the code to close with.
        private func received(_ bytes: UnsafeBufferPointer<UInt8>, isEnd: Bool) -> UInt16 {
            guard bytes.count <= SocketLimits.messageByteCount - incoming.count else {
                cause =
                    "the server sent a message longer than \(SocketLimits.messageByteCount) bytes"
                return 1009
            }
            guard isEnd else {
                incoming.append(contentsOf: bytes)
                return 0
            }
            var message: [UInt8] = []
            swap(&message, &incoming)
            message.append(contentsOf: bytes)
            socket.tell(.received(message))
            return 0
        }

        private func writable() -> hearth_client_next {
            var byteCount = 0
            for _ in 0..<SocketLimits.frameCountPerTick {
                guard let handle, byteCount < SocketLimits.byteCountPerTick else { break }
                switch socket.next() {
                case .wait: return HEARTH_CLIENT_IDLE
                case .close: return HEARTH_CLIENT_CLOSE
                case .send(let frame):
                    byteCount += frame.count
                    // A connection that is broken says so in `closed`.
                    let result = frame.withUnsafeBufferPointer {
                        hearth_client_socket_send(handle, $0.baseAddress, $0.count)
                    }
                    if result != 1 { return HEARTH_CLIENT_AGAIN }
                }
            }
            return HEARTH_CLIENT_AGAIN
        }

        private func closed(isConnected: Bool, reason: String) {
            handle = nil
            guard !isConnected, !addresses.isEmpty, cause == nil else {
                return finish((failures + [reason]).joined(separator: "; "))
            }
            failures.append(reason)
            connect()
        }

        private static func of(_ owner: UnsafeMutableRawPointer) -> Connection {
            Unmanaged<Connection>.fromOpaque(owner).takeUnretainedValue()
        }

        /// The doors through which C enters, on the thread of the loop.
        static var callbacks: hearth_client_callbacks {
            hearth_client_callbacks(
                opened: { owner in
                    guard let owner else { return }
                    Connection.of(owner).opened()
                },
                received: { owner, bytes, byteCount, isEnd in
                    guard let owner else { return 1011 }
                    let buffer = UnsafeBufferPointer(start: bytes, count: byteCount)
                    return Connection.of(owner).received(buffer, isEnd: isEnd)
                },
                writable: { owner in
                    guard let owner else { return HEARTH_CLIENT_IDLE }
                    return Connection.of(owner).writable()
                },
                closed: { owner, isConnected, reason in
                    guard let owner else { return }
                    Unmanaged<Connection>.fromOpaque(owner).takeRetainedValue()
                        .closed(
                            isConnected: isConnected,
                            reason: reason.map { String(cString: $0) } ?? ""
                        )
                }
            )
        }
    }

    extension Duration {
        /// Whole milliseconds, at least one.
        var milliseconds: Int64 {
            max(1, components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000)
        }
    }

    /// Calls `body` with the texts as C strings, which live as long as the call.
    private func withCStrings<Result>(
        _ texts: [String],
        _ body: ([UnsafePointer<CChar>]) -> Result,
    ) -> Result {
        func descend(_ index: Int, _ pointers: [UnsafePointer<CChar>]) -> Result {
            guard index < texts.count else { return body(pointers) }
            return texts[index].withCString { descend(index + 1, pointers + [$0]) }
        }
        return descend(0, [])
    }
#endif
