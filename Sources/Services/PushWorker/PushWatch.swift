import Foundation
import HearthDatabase
import Social
import Synchronization

/// The push worker's reads and writes in the database. Everything comes on the database's callback queue and goes to
/// `tell` in that order: the state after a write before the write's answer, and all first data of a connection before
/// the answer to a later request.
final class PushWatch: Sendable {
    private let database: Database
    private let tell: @Sendable (PushEvent) -> Void
    private let observations = Mutex<[Observation]>([])

    init(_ database: Database, tell: @escaping @Sendable (PushEvent) -> Void) {
        self.database = database
        self.tell = tell
    }

    func start() {
        observeChildren(of: "chats") { [self] uid, data in
            .threads(uid, .direct, records(in: data, as: DirectEntry.self, \.news))
        }
        observeChildren(of: "userRooms") { [self] uid, data in
            .threads(uid, .room, records(in: data, as: RoomEntry.self, \.news))
        }
        observeChildren(of: "mutes") { .mutes($0, Set($1?.keys ?? [])) }
        observeChildren(of: "presence") { .presence($0, isOnline: $1?.exists() ?? false) }
        observeChildren(of: "lastOnline") { .lastOnline($0, ($1?.value as? NSNumber)?.int64Value) }
        observeChildren(of: "pushed") { [self] uid, data in
            .records(uid, records(in: data, as: PushedEntry.self, \.record))
        }
        observeValue(".info/serverTimeOffset") { [tell] snapshot in
            tell(.offset((snapshot.value as? NSNumber)?.int64Value ?? 0))
        }
        observeValue(".info/connected") { [tell] snapshot in
            tell(.connected(snapshot.value as? Bool == true))
        }
    }

    func stop() {
        observations.withLock { observations in
            for observation in observations { observation.remove() }
            observations = []
        }
    }

    /// Reports `caughtUp` when the server has answered this connection's earlier requests.
    func askBack(_ connection: Int) {
        // Any location without an observer: its reply comes after the first data of observed ones.
        database.reference(withPath: "usernames/push-worker").getData { [tell] error, _ in
            guard let error else { return tell(.caughtUp(connection: connection)) }
            // With any other error the connection is gone, and the next one asks again.
            if case DatabaseError.permissionDenied = error {
                tell(.failed(.notAllowed("usernames")))
            }
        }
    }

    /// Reports `sender`: the account with a username.
    func lookUp(_ thread: PushThread, _ username: String) {
        guard Username.isValid(username) else { return tell(.input(.sender(thread, .noUser))) }
        let location = database.reference(withPath: "usernames/\(username.lowercased())")
        location.getData { [tell] error, snapshot in
            let answer: SenderAnswer =
                error != nil
                ? .unknown : (snapshot?.value as? String).map { .uid($0) } ?? .noUser
            tell(.input(.sender(thread, answer)))
        }
    }

    /// Stores the claim of a push, and reports `claimed`.
    func claim(_ thread: PushThread, _ record: PushRecord) {
        var value: [String: Any] = [
            "id": record.id, "at": record.at, "claimedAt": ServerValue.timestamp(),
            "state": record.state.rawValue,
        ]
        value["unread"] = record.unread
        value["body"] = record.body
        location(of: thread).setValue(value) { [tell] error, _ in
            tell(.input(.claimed(thread, fault: error.map { $0.localizedDescription })))
        }
    }

    /// Stores the outcome of a push, and reports `recorded`.
    func end(_ thread: PushThread, _ record: PushRecord) {
        let values: [String: Any] = ["state": record.state.rawValue, "body": NSNull()]
        location(of: thread).updateChildValues(values) { [tell] error, _ in
            tell(.input(.recorded(thread, fault: error.map { $0.localizedDescription })))
        }
    }

    func forget(_ thread: PushThread) { location(of: thread).removeValue() }

    private func location(of thread: PushThread) -> DatabaseReference {
        database.reference(withPath: "pushed").child(thread.recipient).child(thread.key)
    }

    /// Observes the data of each person below a location; of a person without data it is nil.
    private func observeChildren(
        of path: String,
        _ input: @escaping @Sendable (String, DataSnapshot?) -> PushInput,
    ) {
        let location = database.reference(withPath: path)
        let read: @Sendable (DataSnapshot) -> PushInput = { input($0.key, $0) }
        let inputs: [(DataEventType, @Sendable (DataSnapshot) -> PushInput)] = [
            (.childAdded, read), (.childChanged, read), (.childRemoved, { input($0.key, nil) }),
        ]
        for (type, input) in inputs {
            let handle = location.observe(
                type,
                with: { [tell] snapshot in tell(.input(input(snapshot))) },
                withCancel: { [tell] _ in tell(.failed(.notAllowed(path))) }
            )
            add(location, handle)
        }
    }

    private func observeValue(_ path: String, _ take: @escaping @Sendable (DataSnapshot) -> Void) {
        let location = database.reference(withPath: path)
        add(location, location.observe(.value, with: take))
    }

    private func add(_ location: DatabaseReference, _ handle: DatabaseHandle) {
        observations.withLock { $0.append(Observation(location, handle)) }
    }

    /// What the valid records say, by their keys; reports the faults of the others.
    private func records<Model: Record, Part>(
        in data: DataSnapshot?,
        as _: Model.Type,
        _ part: (Model) -> Part,
    ) -> [String: Part] {
        var parts: [String: Part] = [:]
        guard let data else { return parts }
        for case let child as DataSnapshot in data.children {
            do throws(RecordFault) {
                parts[child.key] = part(try child.record(as: Model.self))
            } catch {
                tell(.fault(error))
            }
        }
        return parts
    }
}
