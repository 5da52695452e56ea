internal import Attachments
public import Social

/// Rooms for any number of people, each a log of messages and events.
///
/// The service acts as one signed-in user. Every operation is one update: all or nothing. A denial by the rules is
/// `ServiceError.refused`, once; observers see their local change removed.
public struct RoomService: Sendable {
    /// Where rooms are.
    public let database: Database
    /// Whom it acts as.
    public let me: UserProfile

    /// The waits between tries.
    package var waits = RoomWaits.random
    let typings: Typings

    var attachments: AttachmentService { AttachmentService(database: database, uid: me.uid) }

    /// A service that acts as the user who is signed in at `database`.
    public init(database: Database, me: UserProfile) {
        self.database = database
        self.me = me
        typings = .of(me.uid, in: database)
    }

    /// A room as it is now.
    ///
    /// - Throws: `refused` if the user may not see it, `notFound` when there is none.
    public func room(_ key: String) async throws -> Room {
        try await read(try key.key("room"), to: "see this room")
    }

    /// Makes a room whose owner is this user, with others in it as members.
    ///
    /// The name has 1 to 100 characters. Each of `others` must exist and must not have blocked this user, or there will
    /// be no room. `membersRename` says whether members rename it too, and not owners and admins alone. Returns its
    /// key.
    ///
    /// - Throws: `invalid` for a name that cannot be, `refused` if one of the others cannot be brought in.
    public func create(
        name: String,
        type: RoomType = .private,
        inviting others: [String] = [],
        membersRename: Bool = false,
    ) async throws -> String {
        try ServiceError.checkLength(of: name, "name", ChatLimits.roomNameLength)
        var invited: Set<String> = []
        for uid in others where uid != me.uid { invited.insert(try uid.key("uid")) }
        let room = try newKey(below: "rooms")
        var update = RoomUpdate.making(
            room,
            name: name,
            type: type,
            inviting: invited,
            key: try newKey(below: "roomEvents/\(room)"),
            by: me.uid,
            summary: RoomText.of(.createdChat, by: me.username, target: nil),
        )
        if membersRename { update.setOfRoom("membersRename", to: true) }
        guard try await write(update, to: "make a room with these people") else {
            throw ServiceError.refused("make a room with these people")
        }
        return room
    }

    /// A key for an event that is to be sent; later ones sort behind earlier ones.
    public func newEventKey(in room: String) throws -> String {
        try newKey(below: "roomEvents/\(try room.key("room"))")
    }

    /// Sends a message: a text of 1 to 4,000 characters, the address of a picture, a location, or several of them.
    ///
    /// The user stops being shown as typing. Owners, admins and members may send. `answered` is the key of the message
    /// of this room that it answers. `key` is one of `newEventKey(in:)`, to know the event before it exists; a new one
    /// by default. Returns the key of the event.
    ///
    /// - Throws: `invalid` for an invalid message, `refused` if the user may not write there.
    @discardableResult
    public func send(
        text: String? = nil,
        picture: String? = nil,
        location: Location? = nil,
        style: Style? = nil,
        replyingTo answered: String? = nil,
        key: String? = nil,
        to room: String,
    ) async throws -> String {
        let message = try RoomEvent.Message(
            text: text,
            picture: picture,
            location: location,
            style: style,
            replyTo: try answered?.key("event"),
        )
        let room = try room.key("room")
        let key = if let key { try key.key("key") } else { try newEventKey(in: room) }
        typings.end(in: room)
        try await tell(.message(message), key: key, in: room, to: "send to this room")
        return key
    }

    /// Gives a room another name. Owners and admins may, and members of a room that says so.
    public func rename(_ room: String, to name: String) async throws {
        try ServiceError.checkLength(of: name, "name", ChatLimits.roomNameLength)
        try await tell(.renamedChat(name), in: try room.key("room"), to: "rename this room") {
            (known, update) throws(ServiceError) in
            guard known.name != name else {
                throw .invalid(field: "name", why: "the room is called so already")
            }
            update["rooms/\(known.key)/name"] = name
            for member in known.people { update["userRooms/\(member)/\(known.key)/name"] = name }
            if known.type == .public { update["publicRooms/\(known.key)"] = name }
        }
    }

    /// Lets members of a room give it another name, or no more. Owners may.
    public func letMembersRename(_ isAllowed: Bool, in room: String) async throws {
        let location = database.reference(withPath: "rooms/\(try room.key("room"))/membersRename")
        try await ServiceError.naming("say who renames this room") {
            _ = try await location.setValue(isAllowed ? true : nil)
        }
    }
}
