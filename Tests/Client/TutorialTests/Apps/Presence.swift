// swift-format-ignore-file
import Foundation
import HearthDatabase

/// Tells the others that this user is here, for as long as this device is connected.
class PresenceService {
    let myConnectionsRef: DatabaseReference
    let lastOnlineRef: DatabaseReference
    let connectedRef = Database.database().reference(withPath: ".info/connected")

    private(set) var isConnected = false
    private(set) var serverTimeOffset: TimeInterval?
    private(set) var connection: DatabaseReference?
    var onChange: () -> Void = {}

    init(uid: String) {
        myConnectionsRef = Database.database().reference(withPath: "presence/\(uid)/connections")
        lastOnlineRef = Database.database().reference(withPath: "presence/\(uid)/lastOnline")
    }

    func start() {
        connectedRef.observe(.value, with: { snapshot in
            self.isConnected = snapshot.value as? Bool ?? false
            self.onChange()

            // Only handle connection established (or I've reconnected after a loss of connection).
            guard self.isConnected else { return }

            // Add this device to my connections list.
            let con = self.myConnectionsRef.childByAutoId()

            // When this device disconnects, remove it.
            con.onDisconnectRemoveValue()

            // The onDisconnect() call is before the call to set() itself. This is to avoid a race
            // condition where you set the user's onDisconnect() but the server disconnects first.
            con.setValue(true)
            self.connection = con

            // When I disconnect, update the last time I was seen online.
            self.lastOnlineRef.onDisconnectSetValue(ServerValue.timestamp())
        })

        let offsetRef = Database.database().reference(withPath: ".info/serverTimeOffset")
        offsetRef.observe(.value, with: { snapshot in
            if let offset = snapshot.value as? TimeInterval {
                self.serverTimeOffset = offset
                self.onChange()
            }
        })
    }

    /// What the time is at the server, in milliseconds.
    var estimatedServerTimeMs: Double {
        return Date().timeIntervalSince1970 * 1_000.0 + (serverTimeOffset ?? 0)
    }

    /// Says good-bye properly: nothing is to happen on disconnect any more.
    func signOut(completion: @escaping (Error?) -> Void) {
        lastOnlineRef.cancelDisconnectOperations()
        connectedRef.removeAllObservers()
        connection?.cancelDisconnectOperations { error, _ in
            self.connection?.removeValue()
            self.lastOnlineRef.setValue(ServerValue.timestamp())
            completion(error)
        }
    }
}

/// Shows whether a friend is online.
class FriendCell {
    private let ref: DatabaseReference
    private(set) var isOnline = false
    private(set) var lastSeen: Date?
    var setNeedsDisplay: () -> Void = {}

    init(friendUID: String) {
        ref = Database.database().reference().child("presence").child(friendUID)
        ref.keepSynced(true)
    }

    func bind() {
        ref.observe(.value) { [weak self] snapshot in
            guard let self = self else { return }
            self.isOnline = snapshot.hasChild("connections")
            if let milliseconds = snapshot.childSnapshot(forPath: "lastOnline").value as? Double {
                self.lastSeen = Date(timeIntervalSince1970: milliseconds / 1000)
            }
            self.setNeedsDisplay()
        }
    }

    func prepareForReuse() {
        ref.removeAllObservers()
        ref.keepSynced(false)
    }
}
