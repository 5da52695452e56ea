#if canImport(Darwin)
    import Foundation
    import Security
    import Locks

    /// WebSockets over the system's `URLSession`, where libwebsockets is not at hand. Written against Apple's
    /// documentation and never built or run: Hearth is developed on Linux. Differences: the system sets the `Host`
    /// header, the system's words describe an untrusted certificate, and waiting output counts until the system has
    /// taken it.
    package final class URLSessionTransport: ClientTransport {
        /// Makes a transport; each socket has a session of its own, since its delegate knows the socket.
        package init() {}

        package func open(
            _ request: SocketRequest,
            tell: @escaping @Sendable (SocketEvent) -> Void,
        ) -> any ClientSocket {
            URLSessionSocket(request, tell: tell)
        }
    }

    /// One socket; the delegate of its session, on that session's serial queue.
    private final class URLSessionSocket: NSObject, ClientSocket, URLSessionWebSocketDelegate {
        private struct State {
            /// Nil before the start and after the end.
            var session: URLSession?
            var task: URLSessionWebSocketTask?
            var isOpen = false
            var isClosing = false
            var isClosed = false
            /// Given to `send` and not taken by the system.
            var waiting: [[UInt8]] = []
            var byteCount = 0
            var isSending = false
            var cause: String?
        }

        private let tell: @Sendable (SocketEvent) -> Void
        private let authorityFile: String?
        private let state = Mutex(State())

        init(_ request: SocketRequest, tell: @escaping @Sendable (SocketEvent) -> Void) {
            self.tell = tell
            authorityFile = request.authorityFile
            super.init()
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            let scheme = request.isSecure ? "wss" : "ws"
            guard let url = URL(string: "\(scheme)://\(request.host)\(request.target)") else {
                queue.addOperation { self.end("\(request.host)\(request.target) is no URL") }
                return
            }
            var wanted = URLRequest(url: url)
            wanted.timeoutInterval = Double(SocketTimes().opening.components.seconds)
            for header in request.headers {
                wanted.setValue(header.value, forHTTPHeaderField: header.name)
            }
            let configuration = URLSessionConfiguration.ephemeral
            // As on Linux: no proxy.
            configuration.connectionProxyDictionary = [:]
            let session = URLSession(
                configuration: configuration,
                delegate: self,
                delegateQueue: queue
            )
            let task = session.webSocketTask(with: wanted)
            task.maximumMessageSize = SocketLimits.messageByteCount
            state.withLock { state in
                state.session = session
                state.task = task
            }
            task.resume()
        }

        func send(_ frames: [[UInt8]]) {
            let isOverflowing = state.withLock { state in
                guard !state.isClosed, !state.isClosing else { return false }
                state.byteCount += frames.reduce(0) { $0 + $1.count }
                guard state.byteCount <= SocketLimits.queuedByteCount else { return true }
                state.waiting += frames
                return false
            }
            if isOverflowing {
                abort("more than \(SocketLimits.queuedByteCount) bytes wait to be sent")
            } else {
                sendNext()
            }
        }

        func close() {
            let isBeforeOpening = state.withLock { state in
                guard !state.isClosed else { return false }
                state.isClosing = true
                return !state.isOpen
            }
            if isBeforeOpening { abort("closed by the client") } else { sendNext() }
        }

        /// Hands the system one frame at a time, so that they stay in order; the close frame after the last.
        private func sendNext() {
            enum Step {
                case send(URLSessionWebSocketTask, [UInt8])
                case close(URLSessionWebSocketTask)
            }
            let step: Step? = state.withLock { state in
                guard state.isOpen, !state.isSending, let task = state.task else { return nil }
                if state.waiting.isEmpty {
                    guard state.isClosing else { return nil }
                    state.cause = state.cause ?? "closed by the client"
                    return .close(task)
                }
                state.isSending = true
                return .send(task, state.waiting.removeFirst())
            }
            switch step {
            case nil: return
            case .close(let task): task.cancel(with: .normalClosure, reason: nil)
            case .send(let task, let frame):
                task.send(.string(String(decoding: frame, as: UTF8.self))) { [weak self] error in
                    guard let self else { return }
                    state.withLock { state in
                        state.isSending = false
                        state.byteCount -= frame.count
                    }
                    // The delegate receives errors too.
                    if error == nil { sendNext() }
                }
            }
        }

        private func receive(_ task: URLSessionWebSocketTask) {
            task.receive { [weak self] result in
                guard let self else { return }
                switch result {
                case .success(.string(let text)):
                    tell(.received(Array(text.utf8)))
                    receive(task)
                case .success(.data): abort("the server sent a binary frame")
                case .success: abort("the server sent a frame of an unknown kind")
                case .failure:
                    // The delegate receives the reason.
                    return
                }
            }
        }

        /// Closes without a close frame.
        private func abort(_ reason: String) {
            let task = state.withLock { state in
                state.cause = state.cause ?? reason
                return state.task
            }
            task?.cancel()
        }

        private func end(_ reason: String) {
            let (reason, session): (String?, URLSession?) = state.withLock { state in
                guard !state.isClosed else { return (nil, nil) }
                let session = state.session
                let cause = state.cause ?? reason
                state = State()
                state.isClosed = true
                return (cause, session)
            }
            // The session holds its delegate until then.
            session?.finishTasksAndInvalidate()
            if let reason { tell(.closed(reason: reason)) }
        }

        // MARK: The delegate of the session

        func urlSession(
            _ session: URLSession,
            webSocketTask task: URLSessionWebSocketTask,
            didOpenWithProtocol protocolName: String?,
        ) {
            let isClosing = state.withLock { state in
                state.isOpen = true
                return state.isClosing
            }
            if !isClosing { tell(.opened) }
            receive(task)
            sendNext()
        }

        func urlSession(
            _ session: URLSession,
            webSocketTask task: URLSessionWebSocketTask,
            didCloseWith code: URLSessionWebSocketTask.CloseCode,
            reason: Data?,
        ) {
            let text = reason.map { ": " + String(decoding: $0, as: UTF8.self) } ?? ""
            end("the server closed the WebSocket with code \(code.rawValue)\(text)")
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didCompleteWithError error: (any Error)?,
        ) {
            if let answer = task.response as? HTTPURLResponse, answer.statusCode != 101 {
                end("the server answered \(answer.statusCode) to the WebSocket handshake")
            } else {
                end(error?.localizedDescription ?? "the connection is lost")
            }
        }

        func urlSession(
            _ session: URLSession,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void,
        ) {
            guard let authorityFile, let trust = challenge.protectionSpace.serverTrust else {
                return completionHandler(.performDefaultHandling, nil)
            }
            let authorities = Self.certificates(in: authorityFile)
            guard !authorities.isEmpty else {
                abort("the authorities of \(authorityFile) cannot be read")
                return completionHandler(.cancelAuthenticationChallenge, nil)
            }
            SecTrustSetAnchorCertificates(trust, authorities as CFArray)
            SecTrustSetAnchorCertificatesOnly(trust, true)
            var error: CFError?
            guard SecTrustEvaluateWithError(trust, &error) else {
                let host = challenge.protectionSpace.host
                let why = error.map { ": " + $0.localizedDescription } ?? ""
                abort("the certificate of \(host) is not trusted\(why)")
                return completionHandler(.cancelAuthenticationChallenge, nil)
            }
            completionHandler(.useCredential, URLCredential(trust: trust))
        }

        /// The certificates of a PEM file; none when it cannot be read.
        private static func certificates(in path: String) -> [SecCertificate] {
            guard let file = FileManager.default.contents(atPath: path) else { return [] }
            let parts = String(decoding: file, as: UTF8.self)
                .components(separatedBy: "-----BEGIN CERTIFICATE-----").dropFirst()
            return parts.compactMap { part in
                let text = part.components(separatedBy: "-----END CERTIFICATE-----")[0]
                return Data(base64Encoded: text, options: .ignoreUnknownCharacters)
                    .flatMap { SecCertificateCreateWithData(nil, $0 as CFData) }
            }
        }
    }
#endif
