import Foundation
public import HearthDatabase
import HearthCore

/// The user's being there, until `disappear`.
///
/// Each connection has its own entry, `presence/{uid}/{session}`. At the start of each, the client sends the server
/// the writes for its end.
public final class Presence: Sendable {
    private struct State {
        var observation: Observation?
        /// The entry of this connection; nil without one.
        var session: DatabaseReference?
        /// Whether the server has answered it. Until then a client that loses its connection sends it once more.
        var isAnswered = false
        var isConnected = false
        var isOver = false
        /// Other locations that end with a connection, by path.
        var locations: [String: DatabaseReference] = [:]
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

    private var lastOnline: DatabaseReference { database.reference(withPath: "lastOnline/\(uid)") }

    func watch() {
        let location = database.reference(withPath: ".info/connected")
        let handle = location.observe(.value) { [self] snapshot in
            let isConnected = snapshot.value as? Bool == true
            state.withLock { state in
                guard !state.isOver else { return }
                state.isConnected = isConnected
                takeBack(&state)
                if isConnected { enter(&state) }
            }
        }
        state.withLock { $0.observation = Observation(location, handle) }
    }

    /// Ends what remains of the previous connection. The server has removed the entry, unless its write was still under
    /// way: then it arrives with the next connection, whose end does not remove it. So its removal is sent right after
    /// it, before any answer.
    private func takeBack(_ state: inout State) {
        if let session = state.session, !state.isAnswered { session.removeValue { _, _ in } }
        state.session = nil
    }

    /// Sends the writes for the end of a new connection, then its entry: in this order, so that no entry stays
    /// without a removal.
    private func enter(_ state: inout State) {
        let session = database.reference(withPath: "presence/\(uid)").childByAutoId()
        session.onDisconnectRemoveValue()
        lastOnline.onDisconnectSetValue(ServerValue.timestamp())
        for location in state.locations.values { location.onDisconnectRemoveValue() }
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

    /// The server removes the value at a location when a connection ends: for example, that the user is typing.
    ///
    /// Say so before it is written.
    public func removeOnDisconnect(_ location: DatabaseReference) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.locations[location.pathText] = location
            if state.isConnected { location.onDisconnectRemoveValue() }
        }
    }

    /// Keeps the value at a location after all.
    public func keepOnDisconnect(_ location: DatabaseReference) {
        state.withLock { state in
            guard !state.isOver, state.locations.removeValue(forKey: location.pathText) != nil
            else { return }
            if state.isConnected { location.cancelDisconnectOperations(completionBlock: nil) }
        }
    }

    /// Says that the user is gone, as the end of the connection would, and returns when the server has it.
    ///
    /// To come back, call `appear` after it. Without a connection the server has noticed the absence already, and
    /// this returns at once.
    public func disappear() async throws {
        let (session, locations) = state.withLock { state in
            state.isOver = true
            state.observation?.remove()
            let locations = state.locations.keys.sorted().compactMap { state.locations[$0] }
            defer { state.session = nil }
            return (state.session, locations)
        }
        guard let session else { return }
        var update: [String: Any] = [
            session.pathText: NSNull(), lastOnline.pathText: ServerValue.timestamp(),
        ]
        for location in locations { update[location.pathText] = NSNull() }
        try await database.update(update, to: "say that you are gone")
        // Not before: should the connection end first, it is its end that says so.
        for location in [session, lastOnline] + locations {
            location.cancelDisconnectOperations(completionBlock: nil)
        }
    }
}
