public import Foundation
public import Photos
package import Social

/// A file that is to be sent.
public struct AttachmentFile: Sendable {
    enum Source: Sendable {
        case data(Data)
        case file(URL)
    }

    /// What its readers see: `lake.png`.
    public let title: String
    /// The type of the bytes; nil: by the ending of the file.
    public let type: String?
    /// Bytes.
    public let byteCount: Int
    /// A smaller picture of it, of one that is a PNG and wider than that. A JPEG, or what `Photo` does not take, has
    /// none: its readers load the file itself.
    public let thumbnail: Photo?
    let source: Source

    /// A file on the disk. Its bytes are read when it is sent, those of a PNG at once too.
    ///
    /// - Throws: `ServiceError.invalid` when it is no file that can be read, or too large.
    public init(_ file: URL, title: String? = nil, type: String? = nil) throws {
        let found: URLResourceValues
        do {
            found = try file.resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
        } catch {
            throw Self.invalid("\(file.path) cannot be read: \(error.localizedDescription)")
        }
        guard found.isRegularFile == true, let byteCount = found.fileSize else {
            throw Self.invalid("\(file.path) is no file: give the path of one")
        }
        var thumbnail: Photo?
        if file.pathExtension.lowercased() == "png", byteCount <= PhotoLimits.inputByteCount {
            thumbnail = Self.thumbnail(of: try Data(contentsOf: file))
        }
        try self.init(
            .file(file),
            title ?? file.lastPathComponent,
            type,
            byteCount,
            thumbnail
        )
    }

    /// Bytes in memory.
    ///
    /// - Throws: `ServiceError.invalid` when there are too many.
    public init(_ data: Data, title: String, type: String) throws {
        try self.init(.data(data), title, type, data.count, Self.thumbnail(of: data))
    }

    private init(
        _ source: Source,
        _ title: String,
        _ type: String?,
        _ byteCount: Int,
        _ thumbnail: Photo?,
    ) throws {
        try ServiceError.checkLength(of: title, "title", AttachmentLimits.titleLength)
        guard byteCount <= AttachmentLimits.byteCount else {
            throw Self.invalid(
                "\(title) has \(byteCount) bytes, more than the \(AttachmentLimits.byteCount) that may be sent"
            )
        }
        self.source = source
        self.title = title
        self.type = type
        self.byteCount = byteCount
        self.thumbnail = thumbnail
    }

    private static func invalid(_ why: String) -> ServiceError {
        .invalid(field: "file", why: why)
    }

    private static func thumbnail(of data: Data) -> Photo? {
        guard let photo = try? Photo(png: [UInt8](data)) else { return nil }
        // Behind the signature and the first chunk's length and type; what is small is its own thumbnail.
        let width = data.dropFirst(16).prefix(4).reduce(0) { $0 << 8 | Int($1) }
        return width > PhotoLimits.width ? photo : nil
    }

    /// The text of a message that has files and no other text: programs that know no files show it.
    package static func caption(_ titles: [String]) -> String {
        let first = titles.first ?? ""
        return titles.count > 1 ? "\(first) and \(titles.count - 1) more" : first
    }
}

extension [AttachmentFile] {
    /// - Throws: `ServiceError.invalid` when there are none or too many.
    package func check() throws(ServiceError) {
        guard 1...AttachmentLimits.count ~= count else {
            throw .invalid(
                field: "files",
                why: "a message has 1 to \(AttachmentLimits.count) files, not \(count)"
            )
        }
    }
}
