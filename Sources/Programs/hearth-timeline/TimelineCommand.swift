import ArgumentParser
import Foundation
import HearthDatabase
import ServiceCommand
import Timeline

struct TimelineCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "timeline",
        abstract: "Show what you and those whom you follow have posted, newest first.",
        discussion: """
            Each line is a post: its key, when it was posted, by whom, its likes and its picture. With --follow the newest is \
            the last line, and further lines show what happens: `new`, `likes` and `gone`, until you stop it with Ctrl-C.

            Examples:
              hearth-timeline timeline
              hearth-timeline timeline --count 5
              hearth-timeline timeline --before=-NqX2eUfG0VbBqK5tHsa
              hearth-timeline timeline --follow
            """,
    )

    @Flag(help: "Go on and show what happens.")
    var follow = false

    @Option(help: "At most this many posts, 1 to 1000.")
    var count = TimelineLimits.pageSize

    // Keys begin with a hyphen, as options do.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The page behind another one, which names it on standard error.",
            valueName: "key"
        )
    )
    var before: String?

    @OptionGroup var folder: PhotoFolder
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if follow, before != nil {
            throw ValidationError("--follow shows the newest posts, --before older ones.")
        }
        if let before, before.hasPrefix("--") {
            throw ValidationError("--before is followed by the key of a post: --before=KEY.")
        }
        guard TimelineLimits.pageSizes.contains(count) else {
            throw ValidationError("--count is 1 to 1000.")
        }
    }

    func perform(as client: Client) async throws {
        if before == nil {
            // The unfinished work of programs that were cut off.
            let mending = try await client.timeline.mend()
            if follow { Shown.warn(mending.faults) }
        }
        if follow { return try await followLive(client) }
        let page = try await client.timeline.page(before: before, count: count)
        Shown.warn(page.faults)
        let shown = Shown(folder)
        for post in page.posts { try Output.print(shown.line(post)) }
        if page.posts.isEmpty, before == nil {
            StandardNote.print("nothing yet: post a picture, or follow a person")
        }
        if let next = page.next { StandardNote.print("older posts: --before=\(next)") }
    }

    private func followLive(_ client: Client) async throws {
        let connected = client.session.database.reference(withPath: ".info/connected")
        let handle = connected.observe(.value) { snapshot in
            if snapshot.value as? Bool == false {
                StandardNote.print("the connection is lost; it is tried again")
            }
        }
        defer { connected.removeObserver(withHandle: handle) }
        let (lists, continuation) = AsyncThrowingStream<Listing<ShownPost>, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(1)
        )
        let observation = try client.timeline.observe(newest: count) {
            continuation.yield($0)
        } withCancel: {
            continuation.finish(throwing: $0)
        }
        defer { observation.remove() }
        let shown = Shown(folder)
        var last: Listing<ShownPost>?
        for try await list in lists {
            Shown.warn(list.faults.filter { last?.faults.contains($0) != true })
            guard let before = last else {
                for post in list.records.reversed() { try Output.print(shown.line(post)) }
                last = list
                continue
            }
            let changes = TimelineOrder.changes(
                from: before.records,
                to: list.records,
                window: count,
            )
            for change in changes {
                switch change {
                case .came(let post): try Output.print(shown.line(post, mark: "new"))
                case .changed(let post): try Output.print(shown.line(post, mark: "likes"))
                case .went(let post): try Output.print(shown.line(post, mark: "gone"))
                }
            }
            last = list
        }
    }
}

struct PostsCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "posts",
        abstract: "Show what a person has posted, newest first.",
        discussion: """
            Examples:
              hearth-timeline posts
              hearth-timeline posts bea --count 5
            """,
    )

    @Argument(help: "A username or an e-mail address (default: you).")
    var user: String?

    @Option(help: "At most this many posts (default: all).")
    var count: Int?

    @OptionGroup var folder: PhotoFolder
    @OptionGroup var connection: ConnectionOptions

    func perform(as client: Client) async throws {
        let person = try await client.person(user)
        let listing = try await client.people.posts(for: person.uid, count: count)
        Shown.warn(listing.faults)
        let shown = Shown(folder)
        let liked = try await listing.records.mapInParallel { post in
            ShownPost(post: post, isLiked: try await client.likes.isPostLiked(post))
        }
        for post in liked { try Output.print(shown.line(post)) }
    }
}
