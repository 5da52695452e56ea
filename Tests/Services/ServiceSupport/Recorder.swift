import Dispatch
import Synchronization

/// Keeps what an observer receives, for a test that waits for it.
package final class Recorder<Value: Sendable>: Sendable {
    private struct Waiter {
        let id: Int
        let isEnough: @Sendable ([Value]) -> Bool
        let continuation: CheckedContinuation<[Value], any Error>
    }

    private struct State {
        var values: [Value] = []
        var waiters: [Waiter] = []
        var nextWaiter = 0
    }

    private let state = Mutex(State())

    /// Nothing was reported yet.
    package init() {}

    /// What was reported so far, in order.
    package var values: [Value] { state.withLock { $0.values } }

    /// Keeps one more; the block of an observer.
    package func record(_ value: Value) {
        let (values, done) = state.withLock { state in
            state.values.append(value)
            let values = state.values
            let done = state.waiters.filter { $0.isEnough(values) }
            state.waiters.removeAll { $0.isEnough(values) }
            return (values, done)
        }
        for waiter in done { waiter.continuation.resume(returning: values) }
    }

    /// Waits until what was reported is enough, 300 seconds at the most: machines that run tests are crowded.
    ///
    /// - Throws: `NotReported` with all that was reported.
    @discardableResult
    package func wait(
        until isEnough: @escaping @Sendable ([Value]) -> Bool
    ) async throws -> [Value] {
        try await withCheckedThrowingContinuation { continuation in
            let (id, values): (Int, [Value]?) = state.withLock { state in
                if isEnough(state.values) { return (0, state.values) }
                let id = state.nextWaiter
                state.nextWaiter += 1
                let waiter = Waiter(id: id, isEnough: isEnough, continuation: continuation)
                state.waiters.append(waiter)
                return (id, nil)
            }
            if let values {
                continuation.resume(returning: values)
            } else {
                DispatchQueue.global().asyncAfter(deadline: .now() + 300) { [weak self] in
                    self?.giveUp(id)
                }
            }
        }
    }

    /// Waits until so many were reported.
    @discardableResult
    package func wait(count: Int) async throws -> [Value] {
        try await wait { $0.count >= count }
    }

    /// Waits until the newest is as it should be.
    @discardableResult
    package func wait(
        untilLast isRight: @escaping @Sendable (Value) -> Bool
    ) async throws -> Value {
        let values = try await wait { $0.last.map(isRight) ?? false }
        guard let last = values.last else { throw NotReported(reported: "nothing") }
        return last
    }

    private func giveUp(_ id: Int) {
        let (waiter, values) = state.withLock { state in
            let waiter = state.waiters.first { $0.id == id }
            state.waiters.removeAll { $0.id == id }
            return (waiter, state.values)
        }
        waiter?.continuation.resume(throwing: NotReported(reported: "\(values)"))
    }
}

/// What a test waited for did not come in time.
package struct NotReported: Error, CustomStringConvertible {
    let reported: String
    package var description: String { "not in 300 seconds; reported so far: \(reported)" }
}
