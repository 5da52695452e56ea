import ArgumentParser
import Files
import Party
import ServiceCommand

struct PictureCommand: PartyCommand {
    static let configuration = CommandConfiguration(
        commandName: "picture",
        abstract: "Change your picture, or print where that of a person is.",
        discussion: """
            A PNG is shrunk to 300 points of width. The file of the picture before it is removed.

            Examples:
              hearth-party picture me.png
              hearth-party picture --remove
              hearth-party picture --of bob@example.com
            """,
    )

    @Argument(help: "A PNG file.", completion: .file())
    var file: String?

    @Flag(help: "Take the picture away.")
    var remove = false

    @Option(
        help: ArgumentHelp("Whose picture, by their address; yours by default.", valueName: "email")
    )
    var of: String?

    @OptionGroup
    var connection: ConnectionOptions

    func validate() throws {
        let count = [file != nil, remove, of != nil].count { $0 }
        if count > 1 { throw ValidationError("a file, --remove and --of: give one of them") }
    }

    func perform(_ party: PartySession) async throws {
        if file == nil, !remove { return try await show(party) }
        let photo = try file.map { try PhotoFile.read($0) }
        try await party.accounts.setPicture(photo)
        try Output.print(photo == nil ? "the picture is gone" : "the picture is changed")
    }

    private func show(_ party: PartySession) async throws {
        let profile =
            if let of { try await party.person(of) } else {
                try await party.accounts.profile(of: party.uid)
            }
        guard let picture = profile?.picture else {
            throw ProgramFault("there is no picture of \(of ?? "yours") yet")
        }
        try Output.print(Output.line(picture))
    }
}

/// A photo that a command is given.
enum PhotoFile {
    /// Reads a PNG, and shrinks it.
    static func read(_ path: String) throws -> Photo {
        let bytes = try InputFile.read(path, byteLimit: PhotoLimits.inputByteCount)
        do {
            return try Photo(png: bytes)
        } catch {
            throw ProgramFault("\(path): \(error)")
        }
    }
}
