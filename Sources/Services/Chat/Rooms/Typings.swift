import HearthDatabase
import HearthCore

/// The rooms in which one user is shown as typing, until it is stopped, across connections. All services of one user at
/// one database share it, so each can stop what another started; the database holds it from the first room on. Requests
/// are sent under the lock, in the order of the calls.
final class Typings: Sendable {
    /// A caller that waits until it is shown, refused, or the connection is lost.
    private typealias Waiter = CheckedContinuation<Void, any Error>

    private struct State {
        /// Weak, since the database holds this.
        weak var database: Database?
        var rooms: Set<String> = []
        /// The value of `.info/connected`; nil until it is known.
        var isConnected: Bool?
        var isObserving = false
        /// Calls made before the connection state was known.
        var early: [String: Waiter] = [:]
        /// Requests of this connection without an answer.
        var unanswered: [Int: (room: String, waiter: Waiter?)] = [:]
        var count = 0
    }

    private struct Owner: Hashable {
        let database: ObjectIdentifier
        let uid: String
    }

    private struct Weak {
        weak var typings: Typings?
    }

    /// Those in use. Two services that know nothing of each other are made for one call each.
    private static let inUse = Mutex<[Owner: Weak]>([:])

    private let uid: String
    private let state: Mutex<State>

    private init(database: Database, uid: String) {
        self.uid = uid
        state = Mutex(State(database: database))
    }

    static func of(_ uid: String, in database: Database) -> Typings {
        let owner = Owner(database: ObjectIdentifier(database), uid: uid)
        return inUse.withLock { inUse in
            // An identifier may come again once its object is gone.
            if let typings = inUse[owner]?.typings, typings.belongs(to: database) { return typings }
            inUse = inUse.filter { $0.value.typings != nil }
            let typings = Typings(database: database, uid: uid)
            inUse[owner] = Weak(typings: typings)
            return typings
        }
    }

    private func belongs(to database: Database) -> Bool {
        state.withLock { $0.database === database }
    }

    /// Shows it; returns when the server has it, or at once if it is shown already or there is no connection.
    func begin(in room: String) async throws {
        try await withCheckedThrowingContinuation { (waiter: Waiter) in
            state.withLock { state in
                guard state.rooms.insert(room).inserted else { return waiter.resume() }
                observeConnections(&state)
                switch state.isConnected {
                case nil: state.early[room] = waiter
                case false?: waiter.resume()
                case true?: show(room, &state, waiter)
                }
            }
        }
    }

    /// Shows it no more; nothing is sent if it was not shown.
    func end(in room: String) {
        state.withLock { state in
            guard state.rooms.remove(room) != nil else { return }
            if let waiter = state.early.removeValue(forKey: room) { return waiter.resume() }
            let location = location(room, state)
            location?.removeValue()
            location?.cancelDisconnectOperations()
        }
    }

    private func location(_ room: String, _ state: borrowing State) -> DatabaseReference? {
        state.database?.reference(withPath: "typing/\(room)/\(uid)")
    }

    private func observeConnections(_ state: inout State) {
        if state.isObserving { return }
        state.isObserving = true
        // For as long as there is the database.
        state.database?.reference(withPath: ".info/connected").observe(.value) { [self] snapshot in
            connectionChanged(to: snapshot.value as? Bool ?? false)
        }
    }

    /// On-disconnect writes are for one connection, and the server has just performed those of the one before.
    private func connectionChanged(to isConnected: Bool) {
        state.withLock { state in
            guard isConnected != state.isConnected else { return }
            state.isConnected = isConnected
            if isConnected {
                for room in state.rooms.sorted() {
                    show(room, &state, state.early.removeValue(forKey: room))
                }
                return
            }
            for waiter in state.early.values { waiter.resume() }
            state.early = [:]
            for (_, (room, waiter)) in state.unanswered.sorted(by: { $0.key < $1.key }) {
                // It is sent again on the next connection, before anything says how it ends there.
                location(room, state)?.removeValue()
                waiter?.resume()
            }
            state.unanswered = [:]
        }
    }

    private func show(_ room: String, _ state: inout State, _ waiter: Waiter?) {
        guard let location = location(room, state) else { return waiter?.resume() ?? () }
        state.count += 1
        let number = state.count
        state.unanswered[number] = (room, waiter)
        // First how it ends: a cut between the two leaves nothing behind.
        location.onDisconnectRemoveValue()
        location.setValue(true) { [self] error, _ in answered(number, error) }
    }

    private func answered(_ number: Int, _ error: (any Error)?) {
        state.withLock { state in
            guard let (room, waiter) = state.unanswered.removeValue(forKey: number) else { return }
            guard let error else { return waiter?.resume() ?? () }
            state.rooms.remove(room)
            waiter?.resume(throwing: error)
        }
    }
}
