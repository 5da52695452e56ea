import ClientTransport
import DiskCache
import Foundation
import HearthCore
import JSONTree
import Queries
import SyncCore

/// The serial queue that owns the client of one database: calls go in, effects are performed. A call hops onto the
/// queue once. The app's notifications of one step hop once more, in one block, onto the callback queue. `@unchecked`:
/// the properties of `state` are touched on `queue` alone; all else is constant and `Sendable`.
final class SyncQueue: @unchecked Sendable {
    let setup: DatabaseSetup
    let queue: DispatchQueue
    let transport: any ClientTransport
    let credentials: any TokenSource
    let observers = Mutex(ObserverTable())
    private let pushIDs: Mutex<PushIDGenerator>
    /// Milliseconds that the server's clock is ahead.
    let serverTimeOffset = Mutex<Int64>(0)
    private let callCount = Mutex<UInt64>(0)
    let state = State()

    final class State {
        var client: SyncClient?
        var isClosed = false
        /// Inputs that effects led to, taken before the next call.
        var inputs: [Input] = []
        var effects: [Effect] = []
        var sockets: [SocketID: any ClientSocket] = [:]
        var pending: [CallID: PendingCall] = [:]
        /// The app's notifications of this step, in order.
        var deliveries: [@Sendable () -> Void] = []
        var timer: (any DispatchSourceTimer)?
        var cache: DiskCache?
        var changes: [StoreChange] = []
    }

    init(
        _ setup: DatabaseSetup,
        transport: any ClientTransport,
        credentials: any TokenSource,
        seed: UInt64 = .random(in: .min ... .max),
    ) {
        self.setup = setup
        self.transport = transport
        self.credentials = credentials
        queue = DispatchQueue(label: "hearth.database", qos: .userInitiated)
        pushIDs = Mutex(PushIDGenerator(seed: seed))
    }

    /// The system's time when the process first asked, and how much of it has passed since. Set clocks change nothing:
    /// timers and the server's offset go on from the same count.
    static var now: Timestamp {
        let passed = anchor.instant.duration(to: SystemClock.instant) / .milliseconds(1)
        return Timestamp(milliseconds: anchor.milliseconds + Int64(passed))
    }

    private static let anchor = (
        milliseconds: SystemClock.milliseconds, instant: SystemClock.instant
    )

    /// A key that sorts behind all that were made before.
    func nextPushID() -> Key {
        let offset = serverTimeOffset.withLock { $0 }
        let now = Timestamp(milliseconds: Self.now.milliseconds + offset)
        return pushIDs.withLock { $0.next(now: now) }
    }
}

// MARK: Calls, from any thread

extension SyncQueue {
    /// Makes a call whose outcome is not awaited.
    func call(_ call: Call) { queue.async { self.take(.call(call)) } }

    /// Makes a call and reports its outcome exactly once.
    func call(_ pending: PendingCall, _ make: @escaping @Sendable (CallID) -> Call) {
        let id = CallID(callCount.next())
        queue.async {
            if self.state.isClosed {
                self.deliver(pending.route) { pending.finish(.failure(.closed)) }
                return self.flush()
            }
            self.state.pending[id] = pending
            self.take(.call(make(id)))
        }
    }

    func observe(_ entry: ObserverEntry) {
        observers.withLock { $0.insert(entry) }
        let observer = Observer(id: entry.id, target: entry.location.target, kinds: entry.kinds)
        queue.async {
            // Removed before it began, or by the closing of the database.
            guard self.observers.withLock({ $0[entry.id] != nil }) else { return }
            if self.state.isClosed { return self.end(entry) }
            self.take(.call(.observe(observer)))
        }
    }

    /// Removes an observer if `location` includes it; it receives nothing from now on.
    func removeObserver(_ id: ObserverID, at location: QueryLocation) {
        let entry = observers.withLock { observers -> ObserverEntry? in
            guard let entry = observers[id], entry.isMeant(by: location) else { return nil }
            observers.remove(id)
            return entry
        }
        guard let entry else { return }
        entry.remove()
        call(.stopObserving(id))
    }

    /// Removes the observers that `location` means, but not those of streams and async functions.
    func removeObservers(at location: QueryLocation) {
        let ids = observers.withLock { observers in
            observers.meant(by: location).filter { $0.route == .callbackQueue }.map(\.id)
        }
        for id in ids { removeObserver(id, at: location) }
    }

    /// Calls a function of the app on its callback queue, behind all that was called before.
    func callApp(_ callback: @escaping @Sendable () -> Void) {
        queue.async {
            self.deliver(.callbackQueue, callback)
            self.flush()
        }
    }

    /// Reports an error without asking the core.
    func fail(_ route: ObserverEntry.Route, _ report: @escaping @Sendable () -> Void) {
        switch route {
        case .callbackQueue: callApp(report)
        case .direct: report()
        }
    }

    /// Closes the connection for good; pending calls fail.
    func close() { queue.async { self.closeForGood() } }
}
