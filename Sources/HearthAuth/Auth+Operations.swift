import HearthCore

extension Auth {
    /// An operation of the app's, as the asynchronous forms run it.
    typealias Operation<Value> = @Sendable () async throws(AuthError) -> Value

    /// Runs an operation in its turn.
    func run<Value: Sendable>(
        _ operation: @escaping Operation<Value>
    ) async throws(AuthError) -> Value {
        try await turns.start { await Self.outcome(operation) }.value.get()
    }

    /// Runs an operation in its turn and calls `completion` with what it gives, or why it gives nothing.
    func run<Value: Sendable>(
        _ completion: ((Value?, (any Error)?) -> Void)?,
        _ operation: @escaping Operation<Value>,
    ) {
        let callback = callback(of: completion)
        turns.start { self.deliver(await Self.outcome(operation), to: callback) }
    }

    /// Runs an operation in its turn and calls `completion` with why it failed, if it did.
    func run(
        _ completion: (((any Error)?) -> Void)?,
        _ operation: @escaping Operation<Void>,
    ) {
        let callback = completion.map { completion in
            Callback<Result<Void, AuthError>> { result in
                switch result {
                case .success: completion(nil)
                case .failure(let error): completion(error)
                }
            }
        }
        turns.start { self.deliver(await Self.outcome(operation), to: callback) }
    }

    /// Runs what need not wait for its turn.
    func runAtOnce<Value: Sendable>(
        _ completion: ((Value?, (any Error)?) -> Void)?,
        _ operation: @escaping Operation<Value>,
    ) {
        let callback = callback(of: completion)
        Task { self.deliver(await Self.outcome(operation), to: callback) }
    }

    private func callback<Value>(
        of completion: ((Value?, (any Error)?) -> Void)?
    ) -> Callback<Result<Value, AuthError>>? {
        completion.map { completion in
            Callback { result in
                switch result {
                case .success(let value): completion(value, nil)
                case .failure(let error): completion(nil, error)
                }
            }
        }
    }

    private func deliver<Value: Sendable>(
        _ result: Result<Value, AuthError>,
        to callback: Callback<Result<Value, AuthError>>?,
    ) {
        guard let callback else { return }
        CallbackWatch.call(on: callbackQueue) { callback.call(result) }
    }

    private static func outcome<Value: Sendable>(
        _ operation: Operation<Value>
    ) async -> Result<Value, AuthError> {
        do {
            return .success(try await operation())
        } catch {
            return .failure(error)
        }
    }
}
