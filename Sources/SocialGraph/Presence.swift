import Foundation
public import HearthDatabase
import Records
import Locks

/// The user's being there, until `disappear`.
///
/// Each connection has an entry of its own, `presence/{uid}/{session}`, and the server is told anew with each one what
/// to do when it ends.
public final class Presence: Sendable {
    private struct State {
        var observation: Observation?
        /// The entry of this connection; nil without one.
        var session: DatabaseReference?
        /// Whether the server has answered it. Until then a client that loses its connection sends it once more.
        var isAnswered = false
        var isConnected = false
        var isOver = false
        /// What else goes with a connection, by path.
        var places: [String: DatabaseReference] = [:]
    }

    private let database: Database
    private let uid: String
    private let report: (@Sendable (ServiceError) -> Void)?
    private let state = Mutex(State())

    init(_ database: Database, _ uid: String, _ report: (@Sendable (ServiceError) -> Void)?) {
        self.database = database
        self.uid = uid
        self.report = report
    }

    private var lastOnline: DatabaseReference {
        database.reference(withPath: PersonTree.lastOnline(uid))
    }

    func watch() {
        let place = database.reference(withPath: ".info/connected")
        let handle = place.observe(.value) { [self] snapshot in
            let isConnected = snapshot.value as? Bool == true
            state.withLock { state in
                guard !state.isOver else { return }
                state.isConnected = isConnected
                takeBack(&state)
                if isConnected { enter(&state) }
            }
        }
        state.withLock { $0.observation = Observation(place, handle) }
    }

    /// Ends what is left of the connection before.
    ///
    /// The server has taken the entry away, unless that was on its way still: then it comes with the next connection,
    /// which does not end it. So what takes it away is sent right behind it, before anybody is asked.
    private func takeBack(_ state: inout State) {
        if let session = state.session, !state.isAnswered { session.removeValue { _, _ in } }
        state.session = nil
    }

    /// Says to the server of a new connection what to do when it ends, and then what is there: in this order, so that
    /// nothing is there that nobody would take away.
    private func enter(_ state: inout State) {
        let session = database.reference(withPath: PersonTree.presence(uid)).childByAutoId()
        session.onDisconnectRemoveValue()
        lastOnline.onDisconnectSetValue(ServerValue.timestamp())
        for place in state.places.values { place.onDisconnectRemoveValue() }
        state.session = session
        state.isAnswered = false
        let entry: [String: Any] = ["online": true, "at": ServerValue.timestamp()]
        session.setValue(entry) { [self] error, _ in
            self.state.withLock { state in
                if state.session?.key == session.key { state.isAnswered = true }
            }
            guard let error else { return }
            report?(ServiceError(error, purpose: "say that you are there"))
        }
    }

    /// Has the server take away what is at a place when a connection ends: that somebody is typing, say.
    ///
    /// Say so before it is written.
    public func removeOnDisconnect(_ place: DatabaseReference) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.places[place.placeName] = place
            if state.isConnected { place.onDisconnectRemoveValue() }
        }
    }

    /// Leaves what is at a place where it is after all.
    public func keepOnDisconnect(_ place: DatabaseReference) {
        state.withLock { state in
            guard !state.isOver, state.places.removeValue(forKey: place.placeName) != nil else {
                return
            }
            if state.isConnected { place.cancelDisconnectOperations(completionBlock: nil) }
        }
    }

    /// Says that the user is gone, as the end of the connection would, and returns when the server has it.
    ///
    /// Whoever comes back calls `appear` after that. Without a connection the server has seen that already, and this
    /// returns at once.
    /// - Throws: `ServiceError`.
    public func disappear() async throws {
        let (session, places) = state.withLock { state in
            state.isOver = true
            state.observation?.remove()
            let places = state.places.keys.sorted().compactMap { state.places[$0] }
            defer { state.session = nil }
            return (state.session, places)
        }
        guard let session else { return }
        var update: [String: Any] = [
            session.placeName: NSNull(), lastOnline.placeName: ServerValue.timestamp(),
        ]
        for place in places { update[place.placeName] = NSNull() }
        try await database.update(update, to: "say that you are gone")
        // Not before: should the connection end first, it is its end that says so.
        for place in [session, lastOnline] + places {
            place.cancelDisconnectOperations(completionBlock: nil)
        }
    }
}
