import HearthCore

extension Auth {
    /// An operation of the app's, as the asynchronous forms run it.
    typealias Operation<Value> = @Sendable () async throws -> Value

    /// Runs an operation after those before it.
    func run<Value: Sendable>(
        _ operation: @escaping Operation<Value>
    ) async throws(AuthError) -> Value {
        try await operations.start { await Self.outcome(operation) }.value.get()
    }

    /// Runs an operation after those before it; `completion` receives the result or the error.
    func run<Value: Sendable>(
        _ completion: ((Value?, (any Error)?) -> Void)?,
        _ operation: @escaping Operation<Value>,
    ) {
        let callback = callback(of: completion)
        operations.start { self.deliver(await Self.outcome(operation), to: callback) }
    }

    /// Runs an operation after those before it; `completion` receives the error, if any.
    func run(_ completion: (((any Error)?) -> Void)?, _ operation: @escaping Operation<Void>) {
        let callback = completion.map { completion in
            CallbackBox { (result: Result<Void, AuthError>) in
                switch result {
                case .success: completion(nil)
                case .failure(let error): completion(error)
                }
            }
        }
        operations.start { self.deliver(await Self.outcome(operation), to: callback) }
    }

    /// Runs an operation that need not wait for others.
    func runAtOnce<Value: Sendable>(
        _ completion: ((Value?, (any Error)?) -> Void)?,
        _ operation: @escaping Operation<Value>,
    ) {
        let callback = callback(of: completion)
        Task { self.deliver(await Self.outcome(operation), to: callback) }
    }

    private func callback<Value>(
        of completion: ((Value?, (any Error)?) -> Void)?
    ) -> CallbackBox<(Result<Value, AuthError>) -> Void>? {
        completion.map { completion in
            CallbackBox { result in
                switch result {
                case .success(let value): completion(value, nil)
                case .failure(let error): completion(nil, error)
                }
            }
        }
    }

    private func deliver<Value: Sendable>(
        _ result: Result<Value, AuthError>,
        to callback: CallbackBox<(Result<Value, AuthError>) -> Void>?,
    ) {
        guard let callback else { return }
        CallbackWatch.call(on: callbackQueue) { callback.call(result) }
    }

    private static func outcome<Value: Sendable>(
        _ operation: Operation<Value>
    ) async -> Result<Value, AuthError> {
        do {
            return .success(try await operation())
        } catch let error as AuthError {
            return .failure(error)
        } catch {
            return .failure(AuthError(.internalError, error.localizedDescription))
        }
    }
}
