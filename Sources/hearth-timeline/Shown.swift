import Foundation
import Glibc
import ServiceCommand
import Timeline

/// Posts and people as lines: for people on a terminal, for programs elsewhere.
struct Shown {
    private let isTerminal: Bool
    private let time = LocalTime()

    private let folder: PhotoFolder

    /// Pictures that are in the folder are shown as its files.
    init(_ folder: PhotoFolder, isTerminal: Bool = isatty(STDOUT_FILENO) == 1) {
        self.folder = folder
        self.isTerminal = isTerminal
    }

    /// A post in one line: key, time, poster, likes, picture.
    func line(_ shown: ShownPost, mark: String? = nil) -> String {
        let post = shown.post
        let fields = [
            post.key, when(post.createdAt), post.poster.username, Self.likes(shown),
            folder.shown(post.imageURL),
        ]
        return join((mark.map { [$0] } ?? []) + fields)
    }

    /// A post, one line for each of its fields.
    func lines(_ shown: ShownPost) -> [String] {
        let post = shown.post
        return [
            ("key", post.key), ("posted", when(post.createdAt)), ("by", post.poster.username),
            ("likes", Self.likes(shown)), ("picture", folder.shown(post.imageURL)),
            ("height", post.imageHeight.formatted(.number.grouping(.never))),
        ].map { name, value in
            isTerminal
                ? name.padding(toLength: 9, withPad: " ", startingAt: 0) + Output.line(value)
                : join([name, value])
        }
    }

    /// A person in one line: username and name.
    static func line(_ person: UserProfile) -> String {
        let fields = [person.username] + (person.name.map { [$0] } ?? [])
        return join(fields, isTerminal: isatty(STDOUT_FILENO) == 1)
    }

    static func likes(_ shown: ShownPost) -> String {
        let count = shown.post.likeCount
        return "\(count) \(count == 1 ? "like" : "likes")\(shown.isLiked ? ", yours too" : "")"
    }

    private func when(_ date: Date) -> String {
        isTerminal ? time.minute(date) : time.iso(date)
    }

    private func join(_ fields: [String]) -> String {
        Self.join(fields, isTerminal: isTerminal)
    }

    private static func join(_ fields: [String], isTerminal: Bool) -> String {
        // A tab is no control of the line here: the fields themselves have none.
        fields.map { Output.line($0) }.joined(separator: isTerminal ? "  " : "\t")
    }

    /// Says what was left out, for each of it.
    static func warn(_ faults: [RecordFault]) {
        for fault in faults { Output.warn("left out: \(fault)") }
    }
}
