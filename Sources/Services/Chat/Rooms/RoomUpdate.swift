import Foundation
import HearthDatabase

/// The paths of one update: a change of a room, and its event for every member.
package struct RoomUpdate {
    /// The new value of each path; `NSNull` for one that goes.
    package private(set) var paths: [String: Any] = [:]
    /// The room.
    package let room: String
    /// The key of the event; nil for an update without one.
    package let event: String?

    /// An empty update, and the key of its later event.
    package init(of room: String, event: String? = nil) {
        self.room = room
        self.event = event
    }

    /// An update with an event: `summary` is its text in the lists of `people`, who are members before and after it.
    /// For the acting user `uid` it is not unread.
    package init(
        of room: String,
        telling content: RoomEvent.Content,
        key: String,
        by uid: String,
        summary: String,
        to people: some Sequence<String>,
    ) {
        self.room = room
        event = key
        var stored = Self.stored(content, by: uid)
        paths["roomEvents/\(room)/\(key)"] = stored
        // The copy has the text, which every message with files has.
        stored["attachments"] = nil
        stored["key"] = key
        paths["rooms/\(room)/lastEvent"] = stored
        for member in people {
            let location = "userRooms/\(member)/\(room)"
            paths["\(location)/lastEventText"] = summary
            paths["\(location)/lastEventAt"] = ServerValue.timestamp()
            if member != uid { paths["\(location)/unread"] = ServerValue.increment(1) }
        }
    }

    /// The new value of a path; `NSNull` takes it away.
    package subscript(path: String) -> Any {
        get { paths[path] ?? NSNull() }
        set { paths[path] = newValue }
    }

    mutating func setOfRoom(_ field: String, to value: Any) {
        var stored = paths["rooms/\(room)"] as? [String: Any] ?? [:]
        stored[field] = value
        paths["rooms/\(room)"] = stored
    }

    static func stored(_ content: RoomEvent.Content, by uid: String) -> [String: Any] {
        var stored = content.stored
        stored["by"] = uid
        stored["at"] = ServerValue.timestamp()
        return stored
    }

    static func entry(_ name: String, summary: String, unread: Int) -> [String: Any] {
        [
            "name": name, "lastEventText": summary, "lastEventAt": ServerValue.timestamp(),
            "unread": unread,
        ]
    }

    /// A whole new room with its first event, in the lists of all who are in it.
    package static func making(
        _ room: String,
        name: String,
        type: RoomType,
        inviting others: Set<String>,
        key: String,
        by uid: String,
        summary: String,
    ) -> RoomUpdate {
        let stored = Self.stored(.createdChat, by: uid)
        var members = Dictionary(
            uniqueKeysWithValues: others.map { ($0, RoomRole.member.rawValue) }
        )
        members[uid] = RoomRole.owner.rawValue
        var update = RoomUpdate(of: room, event: key)
        update["roomEvents/\(room)/\(key)"] = stored
        update["rooms/\(room)"] =
            [
                "name": name, "createdAt": ServerValue.timestamp(), "createdBy": uid,
                "type": type.rawValue, "members": members,
                "lastEvent": stored.merging(["key": key]) { $1 },
            ] as [String: Any]
        for member in members.keys {
            update["userRooms/\(member)/\(room)"] = entry(
                name,
                summary: summary,
                unread: member == uid ? 0 : 1,
            )
        }
        if type == .public { update["publicRooms/\(room)"] = name }
        return update
    }
}
