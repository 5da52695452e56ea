#if !canImport(Darwin)
    import Dispatch
    import HTTPClient
    import HearthCore

    /// Requests over libcurl, one at a time in their order. Sendable: `queue` owns `client` and `lastUse`, which
    /// nothing else touches.
    final class CurlTransport: AccountsTransport, @unchecked Sendable {
        private let queue = DispatchQueue(label: "hearth.accounts")
        private let options: HTTPOptions
        private var client: HTTPClient?
        private var lastUse = SystemClock.instant

        init(_ settings: AppSettings) {
            var options = HTTPOptions()
            options.connectSeconds = AccountsLimits.connectSeconds
            options.totalSeconds = AccountsLimits.totalSeconds
            options.silenceSeconds = AccountsLimits.totalSeconds
            options.authorityFile = settings.authorityFile
            options.agent = settings.agent
            self.options = options
        }

        func post(
            _ url: String,
            headers: [(name: String, value: String)],
            body: [UInt8],
        ) async throws(AuthError) -> AccountsAnswer {
            var request = HTTPRequest(
                .post,
                url,
                headers: headers.map { "\($0.name): \($0.value)" }
            )
            request.body = .bytes(body)
            request.keptByteLimit = AccountsLimits.answerByteCount
            let posted = Posted(request: request)
            let result: Result<AccountsAnswer, AuthError> = await withCheckedContinuation {
                waiting in
                queue.async { waiting.resume(returning: self.perform(posted)) }
            }
            return try result.get()
        }

        /// Sendable: made by one task, and owned by the queue from then on.
        private struct Posted: @unchecked Sendable {
            let request: HTTPRequest
        }

        private func perform(_ posted: Posted) -> Result<AccountsAnswer, AuthError> {
            do {
                // A server may be closing a connection that was idle, and a request that meets this is lost.
                if lastUse.duration(to: SystemClock.instant) > AccountsLimits.idleTime {
                    client = nil
                }
                let client = try self.client ?? HTTPClient(options)
                self.client = client
                defer { lastUse = SystemClock.instant }
                let answer = try client.perform(posted.request)
                return .success(AccountsAnswer(status: answer.status, body: answer.body))
            } catch let error as HTTPError {
                let isPassing = error.isPassing
                return .failure(AuthError(.networkError, words(error), isPassing: isPassing))
            } catch {
                return .failure(AuthError(.networkError))
            }
        }

        private func words(_ error: HTTPError) -> String {
            switch error.reason {
            case .notTrusted:
                "\(error.origin) cannot be trusted: \(error.detail); set HearthOptions.authorityFile"
            case .noTLS: "\(error)"
            case .notConnected: "\(error.origin) cannot be reached: \(error.detail)"
            case .silent: "\(error.origin) does not answer: \(error.detail)"
            case .cut: "The connection to \(error.origin) was lost: \(error.detail)"
            case .unusable: "\(error.origin) cannot be used: \(error.detail)"
            }
        }
    }
#endif
