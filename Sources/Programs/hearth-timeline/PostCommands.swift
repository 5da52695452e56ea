import ArgumentParser
import Attachments
import Foundation
import Photos
import ServiceCommand
import Timeline

struct PostCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "post",
        abstract: "Post a picture to all who follow you.",
        discussion: """
            The picture is a PNG file, which is shrunk to 300 points of width and kept in a folder, or the address of one that \
            others can open. Others do not see the path of a file: the post says photo:KEY, which shows the picture where the folder is; \
            with --photo-url the folder has an address for all. With --upload the file, of any size and kind of picture, is stored \
            on the server and goes with the post. Prints the key of the post.

            Examples:
              hearth-timeline post holiday.png
              hearth-timeline post holiday.jpg --upload --height 480
              hearth-timeline post holiday.png --photos /srv/photos --photo-url https://photos.example.com
              hearth-timeline post https://example.com/holiday.jpg --height 480
            """,
    )

    @Argument(help: "A PNG file ('-' is standard input), or an address such as https://...")
    var picture: String

    @Option(help: "Height in points of the picture behind an address, or of one that is uploaded.")
    var height: Double = 300

    @Flag(help: "Store the file on the server.")
    var upload = false

    @OptionGroup var photos: PhotoOptions
    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        // Known before, so that it can be looked for.
        let key = try await client.posts.newKey()
        let posted =
            if upload {
                try await postUpload(key, client)
            } else if picture.contains("://") {
                try await post(picture, height: height, key, client)
            } else {
                try await postFile(key, client)
            }
        try Output.print(posted)
    }

    private func postUpload(_ key: String, _ client: Client) async throws -> String {
        let file = try AttachmentFile(URL(fileURLWithPath: picture))
        let progress = UploadProgress()
        defer { progress.end() }
        return try await client.posts.create(
            picture: file,
            imageHeight: file.thumbnail.map { Double($0.height) } ?? height,
            key: key,
            progress: { progress.show($0, of: $1) }
        ).key
    }

    /// The bytes first: no post leads to a picture that is not there.
    private func postFile(_ key: String, _ client: Client) async throws -> String {
        let (photoKey, photo) = try await photos.store(picture, client.session.database)
        let url = photos.url(photoKey)
        do {
            return try await post(url, height: Double(photo.height), key, client)
        } catch let fault as UnknownOutcome {
            throw ProgramFault("\(fault); its picture stays: \(photos.file(photoKey))")
        } catch {
            await removePicture(url)
            throw error
        }
    }

    /// Posts, and returns the key of the post.
    ///
    /// - Throws: `UnknownOutcome` when it is unknown whether the post exists; after any other error it does not.
    private func post(
        _ url: String,
        height: Double,
        _ key: String,
        _ client: Client,
    ) async throws -> String {
        do {
            return try await client.posts.create(imageURL: url, imageHeight: height, key: key).key
        } catch let failure {
            let owner: String?
            do {
                owner = try await client.posts.owner(ofKey: key)
            } catch {
                throw UnknownOutcome(
                    reason: ProgramFault(failure).description,
                    question: "\(ProgramName.current) show\(connection.repeated) \(key)",
                )
            }
            guard owner == client.me.uid else { throw failure }
            return key
        }
    }

    /// The reported error is that of the post.
    private func removePicture(_ url: String) async {
        do {
            try await photos.remove(url)
        } catch {
            Output.warn("the picture stays: \(ProgramFault(error))")
        }
    }
}

/// An error after which a post may be there or not.
private struct UnknownOutcome: Error, CustomStringConvertible {
    let reason: String
    /// The command that shows the outcome.
    let question: String

    var description: String {
        "\(reason); whether it was posted is not known: `\(question)` shows it"
    }
}

struct ShowCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a post.",
        usage: PostKeyArgument.usage("show"),
        discussion: """
            Examples:
              hearth-timeline show -NqX2eUfG0VbBqK5tHsa
            """,
    )

    @OptionGroup var key: PostKeyArgument
    @OptionGroup var folder: PhotoFolder
    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let shown = try await client.posts.show(forKey: key.key)
        for line in Shown(folder).lines(shown) { try Output.print(line) }
    }
}

struct DeleteCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a post of yours from every timeline, with its likes.",
        usage: PostKeyArgument.usage("delete"),
        discussion: """
            Its picture goes too, if it is in the folder for pictures.

            Examples:
              hearth-timeline delete -NqX2eUfG0VbBqK5tHsa
            """,
    )

    @OptionGroup var key: PostKeyArgument
    @OptionGroup var photos: PhotoOptions
    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let picture = try await picture(client)
        try await client.posts.delete(forKey: key.key)
        if let picture { try await photos.remove(picture) }
        try Output.print("deleted \(Output.line(key.key))")
    }

    /// Where the post's picture is; nil for a faulty post, which is deleted all the same.
    private func picture(_ client: Client) async throws -> String? {
        do {
            return try await client.posts.show(forKey: key.key).post.imageURL
        } catch ServiceError.faulty {
            return nil
        }
    }
}

struct LikeCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "like",
        abstract: "Like a post.",
        usage: PostKeyArgument.usage("like"),
        discussion: """
            Examples:
              hearth-timeline like -NqX2eUfG0VbBqK5tHsa
            """,
    )

    @OptionGroup var key: PostKeyArgument
    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let shown = try await client.posts.show(forKey: key.key)
        try await client.likes.create(for: shown.post)
        let now = try await client.posts.show(forKey: key.key)
        try Output.print(Shown.likes(now))
    }
}

struct UnlikeCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlike",
        abstract: "Like a post no longer.",
        usage: PostKeyArgument.usage("unlike"),
        discussion: """
            Examples:
              hearth-timeline unlike -NqX2eUfG0VbBqK5tHsa
            """,
    )

    @OptionGroup var key: PostKeyArgument
    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let shown = try await client.posts.show(forKey: key.key)
        try await client.likes.delete(for: shown.post)
        let now = try await client.posts.show(forKey: key.key)
        try Output.print(Shown.likes(now))
    }
}

/// The key of a post, which begins with a hyphen as options do.
struct PostKeyArgument: ParsableArguments, Sendable {
    /// How a command that takes one is called: the parser would say that it takes several.
    static func usage(_ command: String) -> String {
        "\(ProgramName.current) \(command) <key> [<options>]"
    }

    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp("Key of the post, as `post` and `timeline` print it.", valueName: "key")
    )
    var words: [String]

    /// All arguments that are not options, including a `--` before a key.
    private var keys: [String] { words.filter { $0 != "--" } }

    var key: String { keys.first ?? "" }

    func validate() throws {
        guard keys.count == 1 else { throw ValidationError("Name one post by its key.") }
    }
}
