import ArgumentParser
import Files
import Party
import ServiceCommand

struct PhotoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "photo",
        abstract: "Add, list, save, accept and delete photos of parties.",
        discussion: """
            Examples:
              hearth-party photo add Midsummer lake.png
              hearth-party photo list Midsummer
              hearth-party photo save OaBcDeFgHiJkLmNoPqR copy.png
            """,
        subcommands: [
            Add.self, List.self, Save.self, AcceptPhoto.self, Delete.self, Move.self,
        ],
    )

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a PNG to a party: the host is asked, unless that is you.",
            discussion: """
                It is shrunk to 300 points of width.

                Examples:
                  hearth-party photo add Midsummer lake.png
                """,
        )

        @Argument(help: "Key, or how its description begins.")
        var party: String

        @Argument(help: "A PNG file.", completion: .file())
        var file: String

        @OptionGroup
        var connection: ConnectionOptions

        func run() async throws {
            let photo = try PhotoFile.read(file)
            try await PartySession.run(connection) { session in
                let found = try await session.party(party)
                let key = try await session.photos.add(photo, to: found.key)
                let host = Output.line(try await session.name(found.owner))
                let isOwn = found.owner == session.uid
                try Output.print(fields: [
                    key.shown, isOwn ? "added" : "uploaded; \(host) is asked",
                ])
            }
        }
    }

    struct List: PartyCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the photos of a party, or those that you uploaded.",
            discussion: """
                Examples:
                  hearth-party photo list Midsummer
                  hearth-party photo list
                """,
        )

        @Argument(help: "Key, or how its description begins (default: your own photos).")
        var party: String?

        @OptionGroup
        var connection: ConnectionOptions

        func perform(_ session: PartySession) async throws {
            let photos =
                if let party {
                    try await session.party(party).photos
                } else {
                    try await session.accounts.me().photos
                }
            if photos.isEmpty { try Output.print("no photos") }
            for photo in photos {
                guard let uploader = try await session.photos.uploader(of: photo) else {
                    try Output.print(fields: [photo.shown, "deleted by its uploader"])
                    continue
                }
                let name = try await session.name(uploader)
                try Output.print(fields: [photo.shown, "by \(name)"])
            }
        }
    }

    struct Save: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Save a photo as a PNG file.",
            discussion: """
                Examples:
                  hearth-party photo save OaBcDeFgHiJkLmNoPqR copy.png
                """,
        )

        @Argument(help: "Key of the photo.")
        var photo: String

        @Argument(help: "Where to.", completion: .file())
        var file: String

        @Flag(help: "Replace a file that is there.")
        var force = false

        @OptionGroup
        var connection: ConnectionOptions

        func run() async throws {
            if !force, FileStamp.of(file) != nil {
                throw ProgramFault("\(file): is there already; --force replaces it")
            }
            try await PartySession.run(connection) { session in
                let key = try await session.photoKey(photo)
                let photo = try await session.photos.load(key)
                let draft = try FileDraft(file)
                try draft.write(photo.png)
                try draft.commit()
                try Output.print(fields: [
                    file, "\(photo.width) by \(photo.height)", "\(photo.png.count) bytes",
                ])
            }
        }
    }

    struct AcceptPhoto: PartyCommand {
        static let configuration = CommandConfiguration(
            commandName: "accept",
            abstract: "Let a guest's photo join your party; `refuse` says no.",
            discussion: """
                Examples:
                  hearth-party photo accept OaBcDeFgHiJkLmNoPqR
                """,
        )

        @Argument(help: "Key of the photo.")
        var photo: String

        @OptionGroup
        var connection: ConnectionOptions

        func perform(_ session: PartySession) async throws {
            let question = try await session.inbox.messages().records.first { message in
                guard case .photo(let key, _) = message.subject else { return false }
                return message.isQuestion && key.isShown(as: photo)
            }
            guard let question else {
                throw ProgramFault(
                    "no guest asks for the photo \(photo): "
                        + "`\(ProgramName.current) inbox` lists what waits for you"
                )
            }
            try await session.photos.accept(question)
            try Output.print("accepted the photo \(photo)")
        }
    }

    struct Delete: PartyCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a photo of yours, or take a guest's off your party.",
            discussion: """
                Examples:
                  hearth-party photo delete OaBcDeFgHiJkLmNoPqR
                """,
        )

        @Argument(help: "Key of the photo.")
        var photo: String

        @OptionGroup
        var connection: ConnectionOptions

        func perform(_ session: PartySession) async throws {
            let key = try await session.photoKey(photo)
            let isOwn = try await session.photos.uploader(of: key) == session.uid
            try await session.photos.delete(key)
            try Output.print(
                isOwn ? "deleted" : "taken off the party; its bytes stay its uploader's"
            )
        }
    }
}

extension PhotoCommand {
    struct Move: PartyCommand {
        static let configuration = CommandConfiguration(
            abstract: "Move your photos that are in the database to the files of the server.",
            discussion: """
                Earlier versions kept photos in the database. They are seen as before, by the same people. Prints the keys of \
                those that were moved; one that is cut off goes on when it is called again.

                Examples:
                  hearth-party photo move
                """,
        )

        @OptionGroup
        var connection: ConnectionOptions

        func perform(_ session: PartySession) async throws {
            let moved = try await session.photos.move()
            if moved.isEmpty { try Output.print("no photos are in the database") }
            for key in moved { try Output.print(fields: [key.shown, "moved"]) }
        }
    }
}

extension PartySession {
    /// The key of a photo for an input, with or without its dash.
    func photoKey(_ text: String) async throws -> String {
        for key in [text, "-\(text)"] where try await photos.uploader(of: key) != nil {
            return key
        }
        throw ProgramFault(
            "there is no photo \(text) that you may see: "
                + "`\(ProgramName.current) photo list PARTY` lists a party's"
        )
    }
}
