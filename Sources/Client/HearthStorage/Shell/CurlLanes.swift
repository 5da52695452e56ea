#if !canImport(Darwin)
    import Dispatch
    import Foundation
    import HTTPClient
    import HearthCore

    /// Requests over libcurl, so many at a time; others wait in their order.
    final class CurlLanes: StorageTransport {
        private struct State {
            var idle: [CurlLane] = []
            var laneCount = 0
            var waiting: [CheckedContinuation<CurlLane, Never>] = []
        }

        private let state = Mutex(State())
        private let limit: Int
        private let options: HTTPOptions

        init(_ settings: AppSettings, limit: Int) {
            var options = HTTPOptions()
            options.connectSeconds = StorageLimits.connectSeconds
            options.silenceSeconds = StorageLimits.silenceSeconds
            options.authorityFile = settings.authorityFile
            options.agent = settings.agent
            self.options = options
            self.limit = limit
        }

        func send(_ call: StorageCall) async throws(TransportFault) -> StorageAnswer {
            let lane = await take()
            defer { give(lane) }
            return try await lane.send(call)
        }

        private func take() async -> CurlLane {
            await withCheckedContinuation { waiting in
                let lane: CurlLane? = state.withLock { state in
                    if let lane = state.idle.popLast() { return lane }
                    if state.laneCount < limit {
                        state.laneCount += 1
                        return CurlLane(options)
                    }
                    state.waiting.append(waiting)
                    return nil
                }
                if let lane { waiting.resume(returning: lane) }
            }
        }

        private func give(_ lane: CurlLane) {
            let next: CheckedContinuation<CurlLane, Never>? = state.withLock { state in
                if state.waiting.isEmpty {
                    state.idle.append(lane)
                    return nil
                }
                return state.waiting.removeFirst()
            }
            next?.resume(returning: lane)
        }
    }

    /// One request at a time. Sendable: `queue` owns `client` and `lastUse`, which nothing else touches.
    private final class CurlLane: @unchecked Sendable {
        /// Milliseconds after which a request that hears nothing looks whether it was stopped.
        private static let attention = 100

        private let queue = DispatchQueue(label: "hearth.files")
        private let options: HTTPOptions
        private var client: HTTPClient?
        private var lastUse = SystemClock.instant

        init(_ options: HTTPOptions) { self.options = options }

        func send(_ call: StorageCall) async throws(TransportFault) -> StorageAnswer {
            let stop = Flag()
            let result: Result<StorageAnswer, TransportFault> = await withTaskCancellationHandler {
                await withCheckedContinuation { waiting in
                    queue.async { waiting.resume(returning: self.perform(call, stop)) }
                }
            } onCancel: {
                stop.raise()
            }
            return try result.get()
        }

        private func perform(
            _ call: StorageCall,
            _ stop: Flag,
        ) -> Result<StorageAnswer, TransportFault> {
            if stop.isRaised { return .failure(.stopped) }
            // A server may be closing a connection that was idle, and a request that meets this is lost.
            if lastUse.duration(to: SystemClock.instant) > StorageLimits.idleTime { client = nil }
            defer { lastUse = SystemClock.instant }
            do {
                let client = try self.client ?? HTTPClient(options)
                self.client = client
                let answer = try run(client, call, stop)
                return .success(Self.answer(answer))
            } catch {
                // The connection may be in the middle of a message.
                client = nil
                return .failure(stop.isRaised ? .stopped : Self.fault(error))
            }
        }

        private func run(
            _ client: HTTPClient,
            _ call: StorageCall,
            _ stop: Flag,
        ) throws -> HTTPResponse {
            let receiver = call.receiver
            try client.start(
                Self.request(call, stop),
                receive: receiver.map { receiver in
                    { bytes in
                        if stop.isRaised { throw TransportFault.stopped }
                        try receiver.take(bytes)
                    }
                },
                accept: receiver.map { receiver in
                    { status, headers in
                        try receiver.begin(
                            StorageAnswer(status: status, headers: headers, body: Data())
                        )
                    }
                }
            )
            while true {
                if let ended = try client.next(milliseconds: Self.attention) {
                    return try ended.result.get()
                }
                if stop.isRaised { throw TransportFault.stopped }
            }
        }

        private static func request(_ call: StorageCall, _ stop: Flag) -> HTTPRequest {
            let method: HTTPRequest.Method =
                switch call.request.method {
                case .get: .get
                case .post: .post
                case .patch: .patch
                case .delete: .delete
                }
            var request = HTTPRequest(
                method,
                call.url,
                headers: call.request.headers.map { "\($0.name): \($0.value)" }
            )
            request.keptByteLimit = StorageLimits.answerByteCount
            switch call.request.body {
            case .none: break
            case .bytes(let data): request.body = .bytes([UInt8](data))
            case .piece(let range): request.body = body(range, call, stop)
            }
            return request
        }

        /// Bytes of the source, read as libcurl asks for them.
        private static func body(
            _ range: Range<Int64>,
            _ call: StorageCall,
            _ stop: Flag,
        ) -> HTTPBody {
            var offset = range.lowerBound
            return .stream(byteCount: Int(range.count)) { buffer in
                if stop.isRaised { throw TransportFault.stopped }
                let count = Int(min(Int64(buffer.count), range.upperBound - offset))
                guard count > 0, let source = call.source else { return 0 }
                let bytes = try source.read(at: offset, count: count)
                bytes.copyBytes(to: buffer)
                offset += Int64(bytes.count)
                call.hasSent?(offset - range.lowerBound)
                return bytes.count
            }
        }

        private static func answer(_ response: HTTPResponse) -> StorageAnswer {
            StorageAnswer(
                status: response.status,
                headers: response.headers,
                body: Data(response.body)
            )
        }

        private static func fault(_ error: any Error) -> TransportFault {
            switch error {
            case let fault as TransportFault: fault
            case let error as StorageError: .failed(error)
            case let error as HTTPError:
                switch error.reason {
                case .notTrusted:
                    .lasting(
                        "\(error.origin) cannot be trusted: \(error.detail); set HearthOptions.authorityFile"
                    )
                case .noTLS, .unusable: .lasting("\(error)")
                case .notConnected, .silent, .cut:
                    .passing("\(error.origin): \(error.detail)")
                }
            case _: .lasting(error.localizedDescription)
            }
        }
    }
#endif
