import HearthCore

/// Runs operations one after the other, in the order they were asked for.
final class SerialQueue: Sendable {
    private let last = Mutex<Task<Void, Never>?>(nil)

    /// Runs `body` after all that was started before; it runs even if no caller awaits it.
    @discardableResult
    func start<Value: Sendable>(
        _ body: @escaping @Sendable () async -> Value
    ) -> Task<Value, Never> {
        last.withLock { last in
            let before = last
            let task = Task {
                await before?.value
                return await body()
            }
            last = Task { _ = await task.value }
            return task
        }
    }
}
