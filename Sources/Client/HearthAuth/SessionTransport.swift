#if canImport(Darwin)
    import Foundation
    import HearthCore

    /// Requests over `URLSession`. Untested: the tests do not run on Apple's systems. Trusts the system's authorities
    /// and ignores `HearthOptions.authorityFile`.
    final class SessionTransport: AccountsTransport {
        private let session: URLSession

        init(_ settings: AppSettings) {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = TimeInterval(AccountsLimits.totalSeconds)
            configuration.timeoutIntervalForResource = TimeInterval(AccountsLimits.totalSeconds)
            configuration.httpAdditionalHeaders = ["User-Agent": settings.agent]
            session = URLSession(configuration: configuration)
            if settings.authorityFile != nil {
                HearthConfiguration.shared.log(
                    .warning,
                    "authorityFile does not count on this system: add the authority to its own"
                )
            }
        }

        func post(
            _ url: String,
            headers: [(name: String, value: String)],
            body: [UInt8],
        ) async throws(AuthError) -> AccountsAnswer {
            guard let address = URL(string: url) else { throw AuthError(.networkError) }
            var request = URLRequest(url: address)
            request.httpMethod = "POST"
            request.httpBody = Data(body)
            for header in headers {
                request.setValue(header.value, forHTTPHeaderField: header.name)
            }
            do {
                let (bytes, answer) = try await session.data(for: request)
                guard let http = answer as? HTTPURLResponse,
                    bytes.count <= AccountsLimits.answerByteCount
                else { throw AuthError(.internalError) }
                return AccountsAnswer(status: http.statusCode, body: [UInt8](bytes))
            } catch let error as AuthError {
                throw error
            } catch {
                throw AuthError(.networkError, error.localizedDescription, isPassing: true)
            }
        }
    }
#endif
