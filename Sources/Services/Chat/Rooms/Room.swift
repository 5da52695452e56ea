public import Foundation
import Social

/// Whether everyone can find and join a room, or only invited people can.
public enum RoomType: String, CaseIterable, Sendable {
    /// Members see it; one comes in when a member invites.
    case `private`
    /// Everybody signed in sees and joins it.
    case `public`
}

/// A room: `rooms/{r}`.
public struct Room: Equatable, Sendable {
    /// The key.
    public let key: String
    /// 1 to 100 characters.
    public let name: String
    /// When it was made, by the server's clock.
    public let createdAt: Date
    /// Who made it.
    public let createdBy: String
    /// Who finds it.
    public let type: RoomType
    /// Whether members rename it too.
    public let membersRename: Bool
    /// The role of each account in it, banned ones included.
    public let members: [String: RoomRole]
    /// The latest event.
    public let lastEvent: RoomEvent
    /// Its picture, a file of the server.
    public let picture: Picture?

    /// The picture of a room.
    public struct Picture: Equatable, Sendable {
        /// The key of its folder.
        package let key: String
        /// Where it opens, without signing in.
        public let url: URL
    }

    /// The accounts that are in it, sorted: events reach them.
    public var people: [String] { members.filter { $0.value.isIn }.map(\.key).sorted() }

    /// A person's role in it; nil for a person who is neither in it nor banned.
    public func role(of uid: String) -> RoomRole? { members[uid] }

    /// Whether a person may rename it: owners and admins, and members if the room allows it.
    public func mayRename(_ uid: String) -> Bool {
        guard let role = role(of: uid) else { return false }
        return role.mayRename || membersRename && role == .member
    }

    /// Whether a person is in it.
    public func has(_ uid: String) -> Bool { members[uid]?.isIn ?? false }
}

extension Room: Record {
    package struct Stored: Decodable {
        let name: String
        let createdAt: Double
        let createdBy: String
        let type: String
        let membersRename: Bool?
        /// Missing once the last member has left.
        let members: [String: String]?
        let lastEvent: RoomEvent.Stored
        let picture: [String: String]?
    }

    package init(key: String, stored: Stored) throws {
        guard !stored.name.isEmpty else { throw Nonsense("name: it is empty") }
        guard let type = RoomType(rawValue: stored.type) else {
            throw Nonsense("type: nothing is called \(stored.type)")
        }
        guard let eventKey = stored.lastEvent.key else {
            throw Nonsense("lastEvent.key: nothing is there")
        }
        var members: [String: RoomRole] = [:]
        for (uid, word) in stored.members ?? [:] {
            guard let role = RoomRole(rawValue: word) else {
                throw Nonsense("members.\(uid): no role is called \(word)")
            }
            members[uid] = role
        }
        self.key = key
        name = stored.name
        createdAt = Date(timeIntervalSince1970: stored.createdAt / 1000)
        createdBy = stored.createdBy
        self.type = type
        membersRename = stored.membersRename ?? false
        self.members = members
        lastEvent = try RoomEvent(key: eventKey, stored: stored.lastEvent)
        if let key = stored.picture?["key"], let url = stored.picture?["url"].flatMap(URL.init) {
            picture = Picture(key: key, url: url)
        } else {
            picture = nil
        }
    }
}
