import HearthDatabase
import Synchronization

/// The rooms in which one user is shown as typing, each for as long as it was said, connection after connection.
///
/// What is sent is sent under the lock, so it goes out in the order in which it was said; sending waits for nothing.
final class Typings: Sendable {
    private struct State {
        var rooms: Set<String> = []
        /// Taken to be so until `.info/connected` says otherwise.
        var isConnected = true
        var connections: DatabaseHandle?
    }

    private let database: Database
    private let uid: String
    private let state = Mutex(State())

    init(database: Database, uid: String) {
        self.database = database
        self.uid = uid
    }

    deinit {
        state.withLock { state in
            for room in state.rooms { hide(in: room) }
            if let handle = state.connections { connected.removeObserver(withHandle: handle) }
        }
    }

    /// Shows it; returns when the server has it, or at once if it is shown or the connection is known to be cut.
    func begin(in room: String) async throws {
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            state.withLock { state in
                if state.connections == nil { state.connections = observeConnections() }
                let isNew = state.rooms.insert(room).inserted
                guard isNew, state.isConnected else { return done.resume() }
                show(in: room) { error in
                    if let error { done.resume(throwing: error) } else { done.resume() }
                }
            }
        }
    }

    /// Shows it no more; nothing is sent if it was not shown.
    func end(in room: String) {
        state.withLock { state in
            guard state.rooms.remove(room) != nil else { return }
            hide(in: room)
        }
    }

    private var connected: DatabaseReference { database.reference(withPath: ".info/connected") }

    private func place(_ room: String) -> DatabaseReference {
        database.reference(withPath: "typing/\(room)/\(uid)")
    }

    private func observeConnections() -> DatabaseHandle {
        connected.observe(.value) { [weak self] snapshot in
            self?.connectionChanged(to: snapshot.value as? Bool ?? false)
        }
    }

    /// On-disconnect writes are for one connection, and the server has just performed those of the one before.
    private func connectionChanged(to isConnected: Bool) {
        state.withLock { state in
            let isNew = isConnected && !state.isConnected
            state.isConnected = isConnected
            guard isNew else { return }
            for room in state.rooms.sorted() { show(in: room) { _ in } }
        }
    }

    private func show(in room: String, _ done: @escaping @Sendable ((any Error)?) -> Void) {
        let place = place(room)
        // First how it ends: a cut between the two leaves nothing behind.
        place.onDisconnectRemoveValue()
        place.setValue(true) { [weak self] error, _ in
            if error != nil { self?.state.withLock { _ = $0.rooms.remove(room) } }
            done(error)
        }
    }

    private func hide(in room: String) {
        let place = place(room)
        place.removeValue()
        place.cancelDisconnectOperations()
    }
}
