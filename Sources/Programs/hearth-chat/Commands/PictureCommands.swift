import ArgumentParser
import Chat
import ServiceCommand

struct PictureCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "picture",
        abstract: "Change your picture, or print where that of a person is.",
        discussion: """
            A PNG is shrunk to 300 points of width. The file of the picture before it is removed.

            Examples:
              hearth-chat picture lake.png
              hearth-chat picture --remove
              hearth-chat picture --of bea
            """,
    )

    @OptionGroup var choice: PictureChoice

    @Option(help: ArgumentHelp("Whose picture; yours by default.", valueName: "person"))
    var of: String?

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if of != nil, choice.changes {
            throw ValidationError("--of prints the picture of a person; you change your own alone")
        }
    }

    func perform(as client: Client) async throws {
        guard choice.changes else {
            let person = if let of { try await client.person(of) } else { client.me }
            guard let picture = person.picture else {
                throw ServiceError.notFound("picture of \(person.username)")
            }
            return try Output.print(Output.line(picture))
        }
        let service = PictureService(database: client.session.database, uid: client.session.uid)
        try await choice.change { try await service.set($0, progress: $1) }
    }
}

struct RoomPictureCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "picture",
        abstract: "Change the picture of a room, or print where it is.",
        discussion: """
            Those change it who may rename the room.

            Examples:
              hearth-chat rooms picture lunch soup.png
              hearth-chat rooms picture lunch --remove
              hearth-chat rooms picture lunch
            """,
    )

    @OptionGroup var location: RoomArgument
    @OptionGroup var choice: PictureChoice
    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let room = try await client.myRoom(location.room)
        guard choice.changes else {
            guard let picture = try await client.rooms.room(room.key).picture else {
                throw ServiceError.notFound("picture of #\(room.name)")
            }
            return try Output.print(Output.line(picture.url.absoluteString))
        }
        try await naming("change the picture of #\(room.name)") {
            try await choice.change {
                try await client.rooms.setPicture($0, of: room.key, progress: $1)
            }
        }
    }
}

/// The picture that a command sets.
struct PictureChoice: ParsableArguments {
    @Argument(help: "A file of up to 10 MiB.", completion: .file())
    var file: String?

    @Flag(help: "Take the picture away.")
    var remove = false

    /// Whether there is something to change.
    var changes: Bool { file != nil || remove }

    func validate() throws {
        if file != nil, remove {
            throw ValidationError("give a file, or --remove to take the picture away")
        }
    }

    /// Changes it, with the progress on a terminal.
    func change(
        _ set: (AttachmentFile?, @escaping AttachmentService.Progress) async throws -> Void
    ) async throws {
        let progress = UploadProgress()
        defer { progress.end() }
        try await set(try file.map { try AttachmentFile(path: $0) }) {
            progress.show($0, of: $1)
        }
        progress.end()
        try Output.print(file == nil ? "the picture is gone" : "the picture is changed")
    }
}
