import ArgumentParser
import Chat
import ServiceCommand

struct RoomsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rooms",
        abstract: "Make rooms, bring people in, come and go.",
        discussion: """
            Examples:
              hearth-chat rooms create Lunch --invite bea --invite cid
              hearth-chat rooms create Everybody --public
              hearth-chat rooms public
              hearth-chat rooms join Everybody
              hearth-chat rooms members '#lunch'
            """,
        subcommands: [
            RoomListCommand.self, PublicRoomsCommand.self, CreateRoomCommand.self,
            JoinRoomCommand.self, LeaveRoomCommand.self, RenameRoomCommand.self,
            RoomPictureCommand.self, RoomMembersCommand.self, InviteCommand.self,
            RemoveCommand.self, BanCommand.self,
            UnbanCommand.self, RoleCommand.self,
        ],
        defaultSubcommand: RoomListCommand.self,
    )
}

struct RoomListCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the rooms that you are in.",
        discussion: """
            Example:
              hearth-chat rooms
            """,
    )

    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        for room in try await client.myRooms() {
            try Output.print(fields: ["#\(room.name)", room.key])
        }
    }
}

struct PublicRoomsCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "public",
        abstract: "List the rooms that all users may join.",
        discussion: """
            Examples:
              hearth-chat rooms public
              hearth-chat rooms public Lun
            """,
    )

    @Argument(help: "How their names begin.")
    var beginning = ""

    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        var last: PublicRoom?
        while true {
            let page = try await client.rooms.publicRooms(named: beginning, after: last)
            for room in page.records {
                try Output.print(fields: ["#\(room.name)", room.key])
            }
            for fault in page.faults { Output.warn("left out: \(fault)") }
            guard let end = page.records.last else { return }
            last = end
        }
    }
}

struct CreateRoomCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a room, whose owner you are.",
        discussion: """
            Examples:
              hearth-chat rooms create Lunch --invite bea --invite cid
              hearth-chat rooms create Everybody --public
            """,
    )

    @Argument(help: "What it is called.")
    var name: String

    @Flag(name: .customLong("public"), help: "All users find it and may join.")
    var isPublic = false

    @Flag(
        name: .customLong("members-rename"),
        help: "Members may give it another name, and not owners and admins alone."
    )
    var membersRename = false

    @Option(
        name: .customLong("invite"),
        help: ArgumentHelp("Who is in it from the start; may be repeated.", valueName: "person")
    )
    var invited: [String] = []

    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        var others: [String] = []
        for text in invited { others.append(try await client.person(text).uid) }
        let key = try await client.rooms.create(
            name: name,
            type: isPublic ? .public : .private,
            inviting: others,
            membersRename: membersRename
        )
        try Output.print("made #\(Output.line(name))  \(key)")
    }
}

struct JoinRoomCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "join",
        abstract: "Come into a public room.",
        discussion: """
            Example:
              hearth-chat rooms join Everybody
            """,
    )

    @Argument(help: "Its name.")
    var room: String

    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let room = try await client.publicRoom(room)
        try await naming("join #\(room.name)") { try await client.rooms.join(room.key) }
        try Output.print("you are in #\(Output.line(room.name))")
    }
}

struct LeaveRoomCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "leave",
        abstract: "Leave a room; it stays for the others.",
        discussion: """
            Its only owner makes another member an owner first (`hearth-chat rooms role`): without an owner no one can \
            give roles any more.

            Example:
              hearth-chat rooms leave '#lunch'
            """,
    )

    @OptionGroup var location: RoomArgument
    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let room = try await client.myRoom(location.room)
        try await client.rooms.leave(room.key)
        try Output.print("you left #\(Output.line(room.name))")
    }
}

struct RenameRoomCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract:
            "Give a room another name; owners and admins may, and members of a room that says so.",
        discussion: """
            Example:
              hearth-chat rooms rename lunch Dinner
            """,
    )

    @OptionGroup var location: RoomArgument

    @Argument(help: "The new name.")
    var name: String

    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let room = try await client.myRoom(location.room)
        try await naming("rename #\(room.name)") {
            try await client.rooms.rename(room.key, to: name)
        }
        try Output.print("#\(Output.line(room.name)) is #\(Output.line(name))")
    }
}

struct RoomMembersCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "members",
        abstract: "List who is in a room, and as what.",
        discussion: """
            Example:
              hearth-chat rooms members lunch
            """,
    )

    @OptionGroup var location: RoomArgument
    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let room = try await client.rooms.room(try await client.myRoom(location.room).key)
        for (person, role) in try await client.members(of: room) {
            try Output.print(fields: [person, role.rawValue])
        }
    }
}

struct InviteCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "Bring people into a room.",
        discussion: """
            Example:
              hearth-chat rooms invite lunch bea cid@example.com
            """,
    )

    @OptionGroup var location: RoomArgument

    @Argument(help: "Usernames or e-mail addresses.")
    var people: [String]

    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let room = try await client.myRoom(location.room)
        for text in people {
            let person = try await client.person(text)
            try await client.invite(person, to: room.key, named: "#\(room.name)")
            try Output.print("\(Output.line(person.username)) is in #\(Output.line(room.name))")
        }
    }
}

struct RemoveCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Put a person out of a room; they may be invited again.",
        discussion: """
            Example:
              hearth-chat rooms remove lunch cid
            """,
    )

    @OptionGroup var location: RoomArgument
    @OptionGroup var other: PersonArgument
    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let room = try await client.myRoom(location.room)
        let person = try await client.person(other.person)
        try await naming("put \(person.username) out of #\(room.name)") {
            try await client.rooms.remove(person.uid, from: room.key)
        }
        try Output.print("\(Output.line(person.username)) is out of #\(Output.line(room.name))")
    }
}

struct BanCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "ban",
        abstract: "Put a person out of a room for good.",
        discussion: """
            Example:
              hearth-chat rooms ban lunch mallory
            """,
    )

    @OptionGroup var location: RoomArgument
    @OptionGroup var other: PersonArgument
    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let room = try await client.myRoom(location.room)
        let person = try await client.person(other.person)
        try await naming("ban \(person.username) from #\(room.name)") {
            try await client.rooms.ban(person.uid, from: room.key)
        }
        let words = "\(person.username) is banned from #\(room.name)"
        try Output.print(Output.line(words))
    }
}

struct UnbanCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "unban",
        abstract: "Take a ban back.",
        discussion: """
            Example:
              hearth-chat rooms unban lunch mallory
            """,
    )

    @OptionGroup var location: RoomArgument
    @OptionGroup var other: PersonArgument
    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let room = try await client.myRoom(location.room)
        let person = try await client.person(other.person)
        try await naming("take back the ban of \(person.username)") {
            try await client.rooms.unban(person.uid, in: room.key)
        }
        let words = "\(person.username) may come back to #\(room.name)"
        try Output.print(Output.line(words))
    }
}

struct RoleCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "role",
        abstract: "Make a person in a room an owner, admin, member or watcher.",
        discussion: """
            Example:
              hearth-chat rooms role lunch bea admin
            """,
    )

    @OptionGroup var location: RoomArgument
    @OptionGroup var other: PersonArgument

    @Argument(help: "owner, admin, member or watcher.")
    var role: String

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard let role = RoomRole(rawValue: role), role.isIn else {
            throw ValidationError("a role is owner, admin, member or watcher")
        }
    }

    func perform(as client: Client) async throws {
        guard let role = RoomRole(rawValue: role) else { return }
        let room = try await client.myRoom(location.room)
        let person = try await client.person(other.person)
        try await naming("make \(person.username) \(role.rawValue) of #\(room.name)") {
            try await client.rooms.setRole(role, of: person.uid, in: room.key)
        }
        let words = "\(person.username) is \(role.rawValue) of #\(room.name)"
        try Output.print(Output.line(words))
    }
}

/// A room that the user is in.
struct RoomArgument: ParsableArguments {
    @Argument(help: "Name of a room that you are in.")
    var room: String
}

extension Client {
    /// Who is in a room, by username and in the order of these.
    func members(of room: Room) async throws -> [(username: String, role: RoomRole)] {
        let profiles = try await people.profiles(of: room.members.keys.sorted()).records
        return profiles.compactMap { person in
            room.role(of: person.uid).map { (person.username, $0) }
        }
        .sorted { $0.0 < $1.0 }
    }
}
