import Foundation
import PushWorker
import Synchronization

/// The machine's clock, set forward by the test alone: the person who waits, waits for that.
final class TestClock: Sendable {
    private struct State {
        var advance: Int64 = 0
        var lastID = 0
        var waiters: [Int: (time: Int64, continuation: CheckedContinuation<Void, Never>)] = [:]
        var cancelled: Set<Int> = []
    }

    private let state = Mutex(State())

    var clock: PushClock {
        PushClock(now: { self.now }, wait: { await self.wait($0) })
    }

    private var now: Int64 { state.withLock { Self.time($0) } }

    private static func time(_ state: State) -> Int64 {
        Int64(Date().timeIntervalSince1970 * 1000) + state.advance
    }

    func advance(minutes: Int64) {
        let due = state.withLock { state in
            state.advance += minutes * 60_000
            let now = Self.time(state)
            let due = state.waiters.filter { $0.value.time <= now }
            for id in due.keys { state.waiters[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    private func wait(_ time: Int64) async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if time <= Self.time(state) || state.cancelled.remove(id) != nil { return true }
                    state.waiters[id] = (time, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                let waiter = state.waiters.removeValue(forKey: id)
                if waiter == nil { state.cancelled.insert(id) }
                return waiter
            }
            waiter?.continuation.resume()
        }
    }
}
