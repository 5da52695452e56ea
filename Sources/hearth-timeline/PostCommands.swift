import ArgumentParser
import Photos
import ServiceCommand
import Timeline

/// `hearth-timeline post`.
struct PostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "post",
        abstract: "Post a picture to all who follow you.",
        discussion: """
            The picture is a PNG file, which is shrunk to 300 points of width and kept in a folder, or the address of one that \
            others can open. Of a file, others see no path: the post says photo:KEY, and whoever has the folder sees the picture; \
            with --photo-url the folder has an address for all. Prints the key of the post.

            Examples:
              hearth-timeline post holiday.png
              hearth-timeline post holiday.png --photos /srv/photos --photo-url https://photos.example.com
              hearth-timeline post https://example.com/holiday.jpg --height 480
            """,
    )

    @Argument(help: "A PNG file ('-' is standard input), or an address such as https://...")
    var picture: String

    @Option(help: "Height in points of the picture behind an address.")
    var height: Double = 300

    @OptionGroup var photos: PhotoOptions
    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        try await Client.run(connection) { client in
            let post =
                picture.contains("://")
                ? try await client.posts.create(imageURL: picture, imageHeight: height)
                : try await postFile(client)
            try Output.print(post.key)
        }
    }

    /// The bytes first: no post leads to a picture that is not there.
    private func postFile(_ client: Client) async throws -> Post {
        let (key, photo) = try await photos.store(picture, client.session.database)
        let url = photos.url(key)
        do {
            return try await client.posts.create(
                imageURL: url,
                imageHeight: Double(photo.height),
            )
        } catch {
            try await photos.remove(url)
            throw error
        }
    }
}

/// `hearth-timeline show`.
struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a post.",
        discussion: """
            Examples:
              hearth-timeline show -NqX2eUfG0VbBqK5tHsa
            """,
    )

    @OptionGroup var key: PostKeyArgument
    @OptionGroup var folder: PhotoFolder
    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        try await Client.run(connection) { client in
            let shown = try await client.posts.show(forKey: key.key)
            for line in Shown(folder).lines(shown) { try Output.print(line) }
        }
    }
}

/// `hearth-timeline delete`.
struct DeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a post of yours from every timeline, with its likes.",
        discussion: """
            Its picture goes too, if it is in the folder for pictures.

            Examples:
              hearth-timeline delete -NqX2eUfG0VbBqK5tHsa
            """,
    )

    @OptionGroup var key: PostKeyArgument
    @OptionGroup var photos: PhotoOptions
    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        try await Client.run(connection) { client in
            let picture = try await picture(client)
            try await client.posts.delete(forKey: key.key)
            if let picture { try await photos.remove(picture) }
            try Output.print("deleted \(Output.line(key.key))")
        }
    }

    /// Where the post's picture is; nil for a post that makes no sense, which is deleted all the same.
    private func picture(_ client: Client) async throws -> String? {
        do {
            return try await client.posts.show(forKey: key.key).post.imageURL
        } catch ServiceError.faulty {
            return nil
        }
    }
}

/// `hearth-timeline like`.
struct LikeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "like",
        abstract: "Like a post.",
        discussion: """
            Examples:
              hearth-timeline like -NqX2eUfG0VbBqK5tHsa
            """,
    )

    @OptionGroup var key: PostKeyArgument
    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        try await Client.run(connection) { client in
            let shown = try await client.posts.show(forKey: key.key)
            try await client.likes.create(for: shown.post)
            let now = try await client.posts.show(forKey: key.key)
            try Output.print(Shown.likes(now))
        }
    }
}

/// `hearth-timeline unlike`.
struct UnlikeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlike",
        abstract: "Like a post no longer.",
        discussion: """
            Examples:
              hearth-timeline unlike -NqX2eUfG0VbBqK5tHsa
            """,
    )

    @OptionGroup var key: PostKeyArgument
    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        try await Client.run(connection) { client in
            let shown = try await client.posts.show(forKey: key.key)
            try await client.likes.delete(for: shown.post)
            let now = try await client.posts.show(forKey: key.key)
            try Output.print(Shown.likes(now))
        }
    }
}

/// The key of a post, which begins with a hyphen as options do.
struct PostKeyArgument: ParsableArguments, Sendable {
    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp("Key of the post, as `post` and `timeline` print it.", valueName: "key")
    )
    var words: [String]

    /// All that is no option, so also the `--` that may stand before a key.
    private var keys: [String] { words.filter { $0 != "--" } }

    var key: String { keys.first ?? "" }

    func validate() throws {
        guard keys.count == 1 else { throw ValidationError("Name one post by its key.") }
    }
}
