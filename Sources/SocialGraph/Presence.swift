import Foundation
public import HearthDatabase
import Records
import Synchronization

/// The user's being there, until `disappear`.
///
/// Each connection has an entry of its own, `presence/{uid}/{session}`, and the server is told anew with each one what
/// to do when it ends.
public final class Presence: Sendable {
    private struct State {
        var observation: Observation?
        /// The entry of the newest connection.
        var session: DatabaseReference?
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
                if isConnected { enter(&state) }
            }
        }
        state.withLock { $0.observation = Observation(place, handle) }
    }

    /// Says to the server of a new connection what this one is, and what to do when it ends: in this order, so that
    /// nothing is there that nobody would take away.
    private func enter(_ state: inout State) {
        let sessions = database.reference(withPath: PersonTree.presence(uid))
        let session = sessions.childByAutoId()
        session.onDisconnectRemoveValue()
        lastOnline.onDisconnectSetValue(ServerValue.timestamp())
        for place in state.places.values { place.onDisconnectRemoveValue() }
        var update: [String: Any] = [
            session.key ?? "": ["online": true, "at": ServerValue.timestamp()] as [String: Any]
        ]
        // The entry before may have been on its way when its connection was lost, and come with this one.
        if let old = state.session?.key { update[old] = NSNull() }
        state.session = session
        sessions.updateChildValues(update) { [report] error, _ in
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
    /// Without a connection the server has seen that already, and this returns at once.
    /// - Throws: `ServiceError`.
    public func disappear() async throws {
        let (session, places, isConnected) = state.withLock { state in
            state.isOver = true
            state.observation?.remove()
            let places = state.places.keys.sorted().compactMap { state.places[$0] }
            defer { state.session = nil }
            return (state.session, places, state.isConnected)
        }
        guard let session else { return }
        guard isConnected else {
            // The entry may still be on its way.
            session.removeValue { _, _ in }
            return
        }
        for place in [session, lastOnline] + places {
            place.cancelDisconnectOperations(completionBlock: nil)
        }
        var update: [String: Any] = [
            session.placeName: NSNull(), lastOnline.placeName: ServerValue.timestamp(),
        ]
        for place in places { update[place.placeName] = NSNull() }
        try await database.update(update, to: "say that you are gone")
    }
}
