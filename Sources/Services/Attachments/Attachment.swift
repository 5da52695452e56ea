public import Foundation
package import Social

/// A file of a message, as the message names it: `attachments/{name}`.
///
/// The bytes are in the files of the server, under the folder of the message and this name.
public struct Attachment: Hashable, Identifiable, Sendable {
    /// Its name among those of the message: a digit.
    public let name: String
    /// What its sender calls it: `lake.png`.
    public let title: String
    /// The type of the bytes: `image/png`.
    public let type: String
    /// Bytes.
    public let size: Int
    /// Where the bytes are, for all who have this address: so for all who may read the message.
    public let url: URL
    /// Where a smaller picture of it is.
    public let thumbnail: URL?

    /// The name.
    public var id: String { name }

    /// Whether it is shown as a picture.
    public var isPicture: Bool { type.hasPrefix("image/") }

    /// Its size for people: `812 bytes`, `12 kB`, `3.4 MB`.
    public var sizeText: String {
        switch size {
        case ..<1000: "\(size) bytes"
        case ..<999_500: "\((size + 500) / 1000) kB"
        default: "\(Double((size + 50_000) / 100_000) / 10) MB"
        }
    }

    /// An attachment as a test or a preview needs it; those of a message come from the services.
    public init(
        name: String,
        title: String,
        type: String,
        size: Int,
        url: URL,
        thumbnail: URL? = nil,
    ) {
        self.name = name
        self.title = title
        self.type = type
        self.size = size
        self.url = url
        self.thumbnail = thumbnail
    }
}

extension [Attachment] {
    /// The text of a message that has these files and no other text: programs that know no files show it.
    public var caption: String { AttachmentFile.caption(map(\.title)) }
}

extension Attachment: Record {
    package init(key: String, stored: Fields) throws {
        name = key
        title = try stored.text("title")
        type = try stored.text("type")
        size = try stored.count("size")
        url = try Self.address("url", try stored.text("url"))
        thumbnail = try stored.optional("thumbnail").map { try Self.address("thumbnail", $0) }
    }

    // Whatever a message names is opened: only what a browser loads.
    private static func address(_ field: String, _ text: String) throws -> URL {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased())
        else { throw Nonsense("\(field): it is no address of a file") }
        return url
    }

    /// Those of a message, in the order of their names.
    package static func all(in stored: [String: Fields]?) throws -> [Attachment] {
        try (stored ?? [:]).sorted { $0.key < $1.key }
            .map { try Attachment(key: $0.key, stored: $0.value) }
    }

    /// As a message has them.
    package static func stored(_ attachments: [Attachment]) -> [String: Any]? {
        if attachments.isEmpty { return nil }
        return Dictionary(uniqueKeysWithValues: attachments.map { ($0.name, $0.stored) })
    }

    private var stored: [String: Any] {
        var stored: [String: Any] = [
            "title": title, "type": type, "size": size, "url": url.absoluteString,
        ]
        stored["thumbnail"] = thumbnail?.absoluteString
        return stored
    }
}
