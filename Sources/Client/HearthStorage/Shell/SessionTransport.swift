#if canImport(Darwin)
    import Foundation
    import HearthCore

    /// Requests over `URLSession`. Untested: the tests do not run on Apple's systems. Trusts the system's authorities
    /// and ignores `HearthOptions.authorityFile`.
    final class SessionTransport: NSObject, StorageTransport, URLSessionTaskDelegate {
        /// Bytes of a download that are passed on at a time.
        private static let pieceByteCount = 64 * 1024

        private let session: URLSession

        init(_ settings: AppSettings, limit: Int) {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = TimeInterval(StorageLimits.silenceSeconds)
            configuration.httpMaximumConnectionsPerHost = limit
            configuration.httpAdditionalHeaders = [
                "User-Agent": settings.agent, "Accept-Encoding": "identity",
            ]
            session = URLSession(configuration: configuration)
            super.init()
        }

        func send(_ call: StorageCall) async throws(TransportFault) -> StorageAnswer {
            do {
                var request = try Self.request(call)
                if case .piece(let range) = call.request.body, let source = call.source {
                    request.httpBody = try source.read(
                        at: range.lowerBound,
                        count: Int(range.count)
                    )
                }
                let (bytes, response) = try await session.bytes(for: request, delegate: self)
                if let body = request.httpBody { call.hasSent?(Int64(body.count)) }
                guard let http = response as? HTTPURLResponse else {
                    throw TransportFault.lasting("the answer is none of HTTP")
                }
                return try await Self.answer(http, bytes, call)
            } catch let fault as TransportFault {
                throw fault
            } catch let error as StorageError {
                throw .failed(error)
            } catch {
                throw Task.isCancelled ? .stopped : .passing(error.localizedDescription)
            }
        }

        /// The user's token goes to no other host.
        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
        ) async -> URLRequest? {
            guard task.originalRequest?.httpMethod == "GET" else { return nil }
            var request = request
            request.setValue(nil, forHTTPHeaderField: "Authorization")
            return request
        }

        private static func request(_ call: StorageCall) throws(TransportFault) -> URLRequest {
            guard let url = URL(string: call.url) else {
                throw .lasting("the address cannot be read")
            }
            var request = URLRequest(url: url)
            request.httpMethod = call.request.method.rawValue
            for header in call.request.headers {
                request.setValue(header.value, forHTTPHeaderField: header.name)
            }
            if case .bytes(let data) = call.request.body { request.httpBody = data }
            return request
        }

        private static func answer(
            _ http: HTTPURLResponse,
            _ bytes: URLSession.AsyncBytes,
            _ call: StorageCall,
        ) async throws -> StorageAnswer {
            var answer = StorageAnswer(status: http.statusCode)
            for (name, value) in http.allHeaderFields {
                answer.headers["\(name)".lowercased()] = "\(value)"
            }
            let receiver = answer.isSuccess ? call.receiver : nil
            try receiver?.begin(answer)
            var piece: [UInt8] = []
            piece.reserveCapacity(pieceByteCount)
            for try await byte in bytes {
                piece.append(byte)
                guard piece.count == pieceByteCount else { continue }
                try piece.withUnsafeBytes { try receiver?.take($0) }
                if receiver == nil, answer.body.count < StorageLimits.answerByteCount {
                    answer.body += piece
                }
                piece.removeAll(keepingCapacity: true)
            }
            try piece.withUnsafeBytes { try receiver?.take($0) }
            if receiver == nil { answer.body += piece }
            return answer
        }
    }
#endif
