import Foundation
import ServiceCommand
import Timeline

/// Posts and people as lines: for people on a terminal, for programs elsewhere.
struct Shown {
    private let time = LocalTime()
    private let folder: PhotoFolder

    /// Pictures that are in the folder are shown as its files.
    init(_ folder: PhotoFolder) { self.folder = folder }

    /// A post in one line: key, time, poster, likes, picture.
    func line(_ shown: ShownPost, mark: String? = nil) -> String {
        let post = shown.post
        let fields = [
            post.key, time.shown(post.createdAt), post.poster.username, Self.likes(shown),
            folder.shown(post.imageURL),
        ]
        return Output.line(fields: (mark.map { [$0] } ?? []) + fields)
    }

    /// A post, one line for each of its fields.
    func lines(_ shown: ShownPost) -> [String] {
        let post = shown.post
        return [
            ("key", post.key), ("posted", time.shown(post.createdAt)), ("by", post.poster.username),
            ("likes", Self.likes(shown)), ("picture", folder.shown(post.imageURL)),
            ("height", post.imageHeight.formatted(.number.grouping(.never))),
        ].map { name, value in Output.line(name, value) }
    }

    /// A person in one line: username and name.
    static func line(_ person: UserProfile) -> String {
        let fields = [person.username] + (person.name.map { [$0] } ?? [])
        return Output.line(fields: fields)
    }

    static func likes(_ shown: ShownPost) -> String {
        let count = shown.post.likeCount
        return "\(count) \(count == 1 ? "like" : "likes")\(shown.isLiked ? ", yours too" : "")"
    }

    /// Reports each fault.
    static func warn(_ faults: [RecordFault]) {
        for fault in faults { Output.warn("left out: \(fault)") }
    }
}
