import Locks

/// Runs operations one after the other, in the order they were asked for.
final class Turns: Sendable {
    private let last = Mutex<Task<Void, Never>?>(nil)

    /// Runs `body` once all that came before has ended; it goes on whether or not somebody waits.
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

/// A function of the app's that is called on its callback queue alone.
///
/// Sendable: the callback queue owns it; apps say which that is, and write functions for it.
struct Callback<Arguments>: @unchecked Sendable {
    let call: (Arguments) -> Void
}
