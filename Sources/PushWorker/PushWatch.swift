import Foundation
import HearthDatabase
import Records
import Synchronization

/// What a push worker reads and writes in the database.
///
/// Everything comes on the database's callback queue and goes to `tell` in that order: the state that a write leads
/// to before the answer to it, and all of a connection's first news before the answer to a question put behind them.
final class PushWatch: Sendable {
    private let database: Database
    private let tell: @Sendable (PushEvent) -> Void
    private let observations = Mutex<[Observation]>([])

    init(_ database: Database, tell: @escaping @Sendable (PushEvent) -> Void) {
        self.database = database
        self.tell = tell
    }

    /// Begins to watch all that is read.
    func start() {
        observeChildren(of: "chats", gone: { .threads($0, .direct, [:]) }) { [tell] uid, snapshot in
            let listing = snapshot.records(as: DirectEntry.self)
            for fault in listing.faults { tell(.fault(fault)) }
            return .threads(uid, .direct, Self.news(listing.records.map { ($0.key, $0.news) }))
        }
        observeChildren(of: "userRooms", gone: { .threads($0, .room, [:]) }) {
            [tell] uid, snapshot in
            let listing = snapshot.records(as: RoomEntry.self)
            for fault in listing.faults { tell(.fault(fault)) }
            return .threads(uid, .room, Self.news(listing.records.map { ($0.key, $0.news) }))
        }
        observeChildren(of: "mutes", gone: { .mutes($0, []) }) { uid, snapshot in
            .mutes(uid, Set(snapshot.children.compactMap { ($0 as? DataSnapshot)?.key }))
        }
        observeChildren(of: "presence", gone: { .presence($0, isOnline: false) }) { uid, snapshot in
            .presence(uid, isOnline: snapshot.exists())
        }
        observeChildren(of: "lastOnline", gone: { .lastOnline($0, nil) }) { uid, snapshot in
            .lastOnline(uid, (snapshot.value as? NSNumber)?.int64Value)
        }
        observeChildren(of: "pushed", gone: { .records($0, [:]) }) { [tell] uid, snapshot in
            let listing = snapshot.records(as: PushedEntry.self)
            for fault in listing.faults { tell(.fault(fault)) }
            let records = listing.records.map { ($0.key, $0.record) }
            return .records(uid, Dictionary(records, uniquingKeysWith: { $1 }))
        }
        observeValue(".info/serverTimeOffset") { [tell] snapshot in
            tell(.offset((snapshot.value as? NSNumber)?.int64Value ?? 0))
        }
        observeValue(".info/connected") { [tell] snapshot in
            tell(.connected(snapshot.value as? Bool == true))
        }
    }

    /// Ends it: nothing more is told.
    func stop() {
        observations.withLock { observations in
            for observation in observations { observation.remove() }
            observations = []
        }
    }

    /// Tells `caughtUp` when the server has answered what this connection asked it before.
    func askBack(_ connection: Int) {
        // Any place that is observed by nobody: its reply comes behind the first news of those that are.
        database.reference(withPath: "usernames/push-worker").getData { [tell] error, _ in
            guard let error else { return tell(.caughtUp(connection: connection)) }
            // With any other error the connection is gone, and the next one asks again.
            if case DatabaseError.permissionDenied = error {
                tell(.failed(.notAllowed("usernames")))
            }
        }
    }

    /// Tells `sender`: who has a username.
    func lookUp(_ thread: PushThread, _ username: String) {
        let isUsername = username.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
            default: false
            }
        }
        guard isUsername, 1...30 ~= username.utf8.count else {
            return tell(.input(.sender(thread, .nobody)))
        }
        let place = database.reference(withPath: "usernames/\(username.lowercased())")
        place.getData { [tell] error, snapshot in
            let answer: SenderAnswer =
                error != nil
                ? .unknown : (snapshot?.value as? String).map { .uid($0) } ?? .nobody
            tell(.input(.sender(thread, answer)))
        }
    }

    /// Stores that a push is taken on, and tells `claimed`.
    func claim(_ thread: PushThread, _ record: PushRecord) {
        var value: [String: Any] = [
            "id": record.id, "at": record.at, "claimedAt": ServerValue.timestamp(),
            "state": record.state.rawValue,
        ]
        value["unread"] = record.unread
        value["body"] = record.body
        place(of: thread).setValue(value) { [tell] error, _ in
            tell(.input(.claimed(thread, fault: error.map { $0.localizedDescription })))
        }
    }

    /// Stores how a push ended, and tells `recorded`.
    func end(_ thread: PushThread, _ record: PushRecord) {
        let values: [String: Any] = ["state": record.state.rawValue, "body": NSNull()]
        place(of: thread).updateChildValues(values) { [tell] error, _ in
            tell(.input(.recorded(thread, fault: error.map { $0.localizedDescription })))
        }
    }

    func forget(_ thread: PushThread) { place(of: thread).removeValue() }

    private func place(of thread: PushThread) -> DatabaseReference {
        database.reference(withPath: "pushed").child(thread.recipient).child(thread.key)
    }

    /// Watches what each person has below a place; `gone` is for one who has nothing any more.
    private func observeChildren(
        of path: String,
        gone: @escaping @Sendable (String) -> PushInput,
        _ input: @escaping @Sendable (String, DataSnapshot) -> PushInput,
    ) {
        let place = database.reference(withPath: path)
        let refused: @Sendable (any Error) -> Void = { [tell] _ in tell(.failed(.notAllowed(path)))
        }
        for type in [DataEventType.childAdded, .childChanged] {
            let handle = place.observe(
                type,
                with: { [tell] snapshot in tell(.input(input(snapshot.key, snapshot))) },
                withCancel: refused
            )
            add(place, handle)
        }
        let handle = place.observe(
            .childRemoved,
            with: { [tell] snapshot in tell(.input(gone(snapshot.key))) },
            withCancel: refused
        )
        add(place, handle)
    }

    private func observeValue(
        _ path: String,
        _ take: @escaping @Sendable (DataSnapshot) -> Void,
    ) {
        let place = database.reference(withPath: path)
        add(place, place.observe(.value, with: take))
    }

    private func add(_ place: DatabaseReference, _ handle: DatabaseHandle) {
        observations.withLock { $0.append(Observation(place, handle)) }
    }

    private static func news(_ entries: [(String, ThreadNews)]) -> [String: ThreadNews] {
        Dictionary(entries, uniquingKeysWith: { $1 })
    }
}
