import Foundation
import HearthDatabase
import Records
import Synchronization

/// What became of the newest events of a room.
public enum EventChange: Equatable, Sendable {
    /// An event that was there, or that happened just now; those of this client as soon as they are sent.
    case added(RoomEvent)
    /// It is another: of one that this client sent the server's time is known now, and with it its position.
    case changed(RoomEvent)
    /// It is not there: the rules have refused it.
    case removed(RoomEvent)
    /// Something that is no event and was left out.
    case faulty(RecordFault)
    /// All that was there has been told; once.
    case caughtUp
}

/// Tells the changes of a query's newest events one by one, without those that a newer one pushes out of the query.
///
/// An event that leaves a full query is either gone or older than all that are left in it; that is known when all events
/// of the moment have come, so at the `.value` that ends it.
final class EventWindow: Sendable {
    private struct State {
        var leaving: [RoomEvent] = []
        var isCaughtUp = false
    }

    private let limit: Int?
    private let tell: @Sendable (EventChange) -> Void
    private let state = Mutex(State())

    init(limit: Int?, tell: @escaping @Sendable (EventChange) -> Void) {
        self.limit = limit
        self.tell = tell
    }

    func added(_ snapshot: DataSnapshot) { report(snapshot) { .added($0) } }

    func changed(_ snapshot: DataSnapshot) { report(snapshot) { .changed($0) } }

    func removed(_ snapshot: DataSnapshot) {
        // What was no event was told when it came.
        guard let event = try? snapshot.record(as: RoomEvent.self) else { return }
        state.withLock { $0.leaving.append(event) }
    }

    func settled(_ snapshot: DataSnapshot) {
        let (leaving, isFirst) = state.withLock { state in
            defer { state = State(isCaughtUp: true) }
            return (state.leaving, !state.isCaughtUp)
        }
        if !leaving.isEmpty {
            let oldest = Self.oldest(of: snapshot, filling: limit)
            for event in leaving where oldest.map({ $0 < event.position }) ?? true {
                tell(.removed(event))
            }
        }
        if isFirst { tell(.caughtUp) }
    }

    /// The position of the first event of a full query; nil if there is room for more, so that nothing is pushed out.
    private static func oldest(of snapshot: DataSnapshot, filling limit: Int?) -> EventPosition? {
        guard let limit, snapshot.childrenCount >= limit,
            let first = snapshot.children.nextObject() as? DataSnapshot
        else { return nil }
        let at = first.childSnapshot(forPath: "at").value as? Double
        return EventPosition(milliseconds: at ?? -.infinity, key: first.key)
    }

    private func report(_ snapshot: DataSnapshot, _ change: (RoomEvent) -> EventChange) {
        do throws(RecordFault) {
            tell(change(try snapshot.record(as: RoomEvent.self)))
        } catch {
            tell(.faulty(error))
        }
    }
}
