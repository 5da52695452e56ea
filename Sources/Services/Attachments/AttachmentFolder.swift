internal import Foundation
internal import Social

/// Where the files of one message or post are.
package struct AttachmentFolder: Hashable, Sendable {
    /// The key of the message or post, which the note of the upload stands under too.
    package let key: String
    /// `chat/rooms/{room}/{message}`.
    package let path: String

    /// The files of a message in a room.
    package static func room(_ room: String, _ message: String) -> AttachmentFolder {
        AttachmentFolder(key: message, path: "chat/rooms/\(room)/\(message)")
    }

    /// The files of a message of a direct chat.
    package static func direct(_ chat: String, _ message: String) -> AttachmentFolder {
        AttachmentFolder(key: message, path: "chat/direct/\(chat)/\(message)")
    }

    /// The files of a post.
    package static func post(_ post: String) -> AttachmentFolder {
        AttachmentFolder(key: post, path: "timeline/posts/\(post)")
    }

    /// The picture of a person.
    package static func person(_ uid: String, _ picture: String) -> AttachmentFolder {
        AttachmentFolder(key: picture, path: "people/\(uid)/\(picture)")
    }

    /// The picture of a room.
    package static func roomPicture(_ room: String, _ picture: String) -> AttachmentFolder {
        AttachmentFolder(key: picture, path: "rooms/\(room)/\(picture)")
    }
}

extension AttachmentFolder {
    /// The folder that the address of a person's picture leads to; nil for a picture that is elsewhere.
    init?(ofPerson uid: String, address: String) {
        // `https://server/v0/b/social/o/people%2Fann%2F-Nq...%2F0?alt=media&token=...`
        let names = Self.names(in: address)
        guard names.count == 4, names[0] == "people", names[1] == uid else { return nil }
        self = .person(uid, names[2])
    }

    /// The names on the way to the file that an address of the server leads to, its own last.
    package static func names(in address: String) -> [String] {
        address.prefix { $0 != "?" }.split(separator: "/o/").last?
            .removingPercentEncoding?.split(separator: "/").map(String.init) ?? []
    }
}

/// A user's note of files that no message names, or that it names no more: `uploads/{uid}/{key}`.
///
///     {folder, at, removing?: true}
///
/// It is there before the first byte, and goes with the update that names the files. One that is there longer is
/// of an upload that was cut, or of a deletion whose second step is missing: the files go, then the note.
struct UploadNote: Record {
    let folder: AttachmentFolder
    /// Milliseconds since 1970, of the server's clock.
    let at: Double

    init(key: String, stored: Fields) throws {
        folder = AttachmentFolder(key: key, path: try stored.text("folder"))
        at = try stored.time("at")
    }
}
