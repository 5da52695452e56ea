public import Foundation
import HearthCore

/// An upload or a download under way.
///
/// It goes on as long as it needs to, also when the app keeps no reference to it. Unchecked, since it is the base of
/// other classes: all that it has is immutable, or owned by the thread that has the lock.
public class StorageTask: NSObject, @unchecked Sendable {
    typealias Outcome = Result<StorageMetadata?, StorageError>

    private enum Phase {
        case running, paused
        case ended(Outcome)
    }

    private struct Observer {
        let handle: String
        let status: StorageTaskStatus
        let callback: CallbackBox<(StorageTaskSnapshot) -> Void>
    }

    private struct State {
        var phase = Phase.running
        var completed: Int64 = 0
        var total: Int64
        var observers: [Observer] = []
        var endings: [@Sendable (Outcome) -> Void] = []
        /// Whether observers of progress are to be called already.
        var isProgressQueued = false
        /// The present or last run.
        var run: Task<Void, Never>?

        func observers(of status: StorageTaskStatus) -> [Observer] {
            observers.filter { $0.status == status }
        }
    }

    let reference: StorageReference
    private let work: any TransferWork
    private let state: Mutex<State>

    init(_ reference: StorageReference, _ work: any TransferWork) {
        self.reference = reference
        self.work = work
        state = Mutex(State(total: work.byteCount))
        super.init()
        start()
    }

    /// The task as it is now.
    public var snapshot: StorageTaskSnapshot { snapshot(nil) }

    private func snapshot(_ status: StorageTaskStatus?) -> StorageTaskSnapshot {
        let (completed, total, phase) = state.withLock { ($0.completed, $0.total, $0.phase) }
        var (metadata, error): (StorageMetadata?, StorageError?)
        let present: StorageTaskStatus
        switch phase {
        case .running: present = completed > 0 ? .progress : .resume
        case .paused: present = .pause
        case .ended(.success(let result)): (present, metadata) = (.success, result)
        case .ended(.failure(let failure)): (present, error) = (.failure, failure)
        }
        return StorageTaskSnapshot(
            self,
            status ?? present,
            completed: completed,
            total: total,
            metadata: metadata,
            error: error
        )
    }

    // MARK: - Running

    /// Begins or goes on, once what ran before has ended.
    private func start() {
        state.withLock { state in
            let before = state.run
            state.run = Task {
                await before?.value
                await self.run()
            }
        }
    }

    private func run() async {
        let outcome: Outcome
        do throws(StorageError) {
            if Task.isCancelled { return }
            outcome = .success(try await work.run { self.report($0, of: $1) })
        } catch {
            outcome = .failure(error)
        }
        // A run that was broken off says so, and says nothing about the task.
        if case .failure(.cancelled) = outcome, Task.isCancelled { return }
        end(outcome)
    }

    private func end(_ outcome: Outcome) {
        let status: StorageTaskStatus
        switch outcome {
        case .success: status = .success
        case .failure: status = .failure
        }
        let ended: (observers: [Observer], endings: [@Sendable (Outcome) -> Void])? = state.withLock
        {
            state in
            if case .ended = state.phase { return nil }
            state.phase = .ended(outcome)
            defer { state.endings = [] }
            return (state.observers(of: status), state.endings)
        }
        guard let ended else { return }
        for ending in ended.endings { ending(outcome) }
        call(ended.observers, status)
        if status == .failure { abandon() }
    }

    /// Forgets what the last run has left, once it has ended.
    private func abandon() {
        let last = state.withLock { $0.run }
        let work = work
        Task {
            await last?.value
            await work.abandon()
        }
    }

    private func report(_ completed: Int64, of total: Int64) {
        let observers: [Observer] = state.withLock { state in
            guard case .running = state.phase else { return [] }
            (state.completed, state.total) = (completed, total)
            if state.isProgressQueued { return [] }
            let observers = state.observers(of: .progress)
            state.isProgressQueued = !observers.isEmpty
            return observers
        }
        call(observers, .progress)
    }

    /// Calls observers on their queue, with the numbers of then: those of progress are called once for all that has
    /// come in the meantime. What was removed meanwhile is not called.
    private func call(_ observers: [Observer], _ status: StorageTaskStatus) {
        let isEnd = status == .success || status == .failure
        if observers.isEmpty, !isEnd { return }
        CallbackWatch.call(on: reference.storage.callbackQueue) {
            if status == .progress { self.state.withLock { $0.isProgressQueued = false } }
            let snapshot = self.snapshot(status)
            for observer in observers where self.has(observer) { observer.callback.call(snapshot) }
            // They may hold the task, and nothing more happens to it.
            if isEnd { self.state.withLock { $0.observers = [] } }
        }
    }

    private func has(_ observer: Observer) -> Bool {
        state.withLock { state in state.observers.contains { $0.handle == observer.handle } }
    }

    /// Calls `ending` with the outcome, at once when there is one already, on any thread.
    func onEnd(_ ending: @escaping @Sendable (Outcome) -> Void) {
        let outcome: Outcome? = state.withLock { state in
            if case .ended(let outcome) = state.phase { return outcome }
            state.endings.append(ending)
            return nil
        }
        if let outcome { ending(outcome) }
    }

    // MARK: - What the app may do

    func pauseRun() {
        let observers: [Observer] = state.withLock { state in
            guard case .running = state.phase else { return [] }
            state.phase = .paused
            state.run?.cancel()
            return state.observers(of: .pause)
        }
        call(observers, .pause)
    }

    func resumeRun() {
        let observers: [Observer]? = state.withLock { state in
            guard case .paused = state.phase else { return nil }
            state.phase = .running
            return state.observers(of: .resume)
        }
        guard let observers else { return }
        start()
        call(observers, .resume)
    }

    func cancelRun() {
        state.withLock { $0.run }?.cancel()
        end(.failure(.cancelled))
    }

    func addObserver(
        _ status: StorageTaskStatus,
        _ handler: @escaping (StorageTaskSnapshot) -> Void,
    ) -> String {
        let observer = Observer(
            handle: UUID().uuidString,
            status: status,
            callback: CallbackBox(handler)
        )
        let (present, isEnded): (StorageTaskStatus, Bool) = state.withLock { state in
            switch state.phase {
            case .ended(.success): return (.success, true)
            case .ended(.failure): return (.failure, true)
            case .running, .paused: state.observers.append(observer)
            }
            if case .paused = state.phase { return (.pause, false) }
            return (status == .progress && state.completed > 0 ? .progress : .resume, false)
        }
        if present == status {
            CallbackWatch.call(on: reference.storage.callbackQueue) {
                // Of a task that has ended none are kept.
                if isEnded || self.has(observer) { observer.callback.call(self.snapshot(status)) }
            }
        }
        return observer.handle
    }

    func removeObservers(where isGone: @Sendable (String, StorageTaskStatus) -> Bool) {
        state.withLock { state in state.observers.removeAll { isGone($0.handle, $0.status) } }
    }
}
