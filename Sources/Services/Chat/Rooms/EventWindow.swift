import Foundation
import HearthDatabase
import Social
import HearthCore

/// A change of the newest events of a room.
public enum EventChange: Equatable, Sendable {
    /// An event that was there, or that happened just now; those of this client as soon as they are sent.
    case added(RoomEvent)
    /// It is another: of one that this client sent the server's time is known now, and with it its position.
    case changed(RoomEvent)
    /// It is not there: the rules have refused it.
    case removed(RoomEvent)
    /// A value that is not an event and was left out.
    case faulty(RecordFault)
    /// All present events have been reported; once.
    case caughtUp
}

/// Reports the changes of a query's newest events one by one, without those that a newer one pushes out of the query.
/// An event that leaves a full query is either gone or older than all that are left in it; that is known when all
/// events of the moment have come, so at the `.value` that ends it.
final class EventWindow: Sendable {
    private struct State {
        /// The events that the app has, also those pushed out.
        var sent: [String: RoomEvent] = [:]
        var leaving: [String] = []
        var isCaughtUp = false
    }

    private let limit: Int?
    private let tell: @Sendable (EventChange) -> Void
    private let state = Mutex(State())

    init(limit: Int?, tell: @escaping @Sendable (EventChange) -> Void) {
        self.limit = limit
        self.tell = tell
    }

    /// A child is there, for the first time or again, or is another.
    func read(_ snapshot: DataSnapshot) {
        do throws(RecordFault) {
            let event = try snapshot.record(as: RoomEvent.self)
            let known = state.withLock { $0.sent.updateValue(event, forKey: event.key) }
            if known == event { return }
            tell(known == nil ? .added(event) : .changed(event))
        } catch {
            forget(snapshot.key)
            tell(.faulty(error))
        }
    }

    func removed(_ snapshot: DataSnapshot) { state.withLock { $0.leaving.append(snapshot.key) } }

    func settled(_ snapshot: DataSnapshot) {
        let (leaving, isFirst) = state.withLock { state in
            defer {
                state.leaving = []
                state.isCaughtUp = true
            }
            return (state.leaving.compactMap { state.sent[$0] }, !state.isCaughtUp)
        }
        if !leaving.isEmpty {
            let oldest = Self.oldest(of: snapshot, filling: limit)
            for event in leaving where oldest.map({ $0 < event.position }) ?? true {
                forget(event.key)
            }
        }
        if isFirst { tell(.caughtUp) }
    }

    private func forget(_ key: String) {
        let known = state.withLock { $0.sent.removeValue(forKey: key) }
        if let known { tell(.removed(known)) }
    }

    /// The position of the first event of a full query; nil if there is room for more, so that nothing is pushed out.
    private static func oldest(of snapshot: DataSnapshot, filling limit: Int?) -> EventPosition? {
        guard let limit, snapshot.childrenCount >= limit,
            let first = snapshot.children.nextObject() as? DataSnapshot
        else { return nil }
        let at = first.childSnapshot(forPath: "at").value as? Double
        return EventPosition(milliseconds: at ?? -.infinity, key: first.key)
    }
}
