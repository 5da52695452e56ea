public import Foundation
import HearthCore

/// What is known about an object beside its bytes.
///
/// The properties that can be set go along with an upload, or to the server by `updateMetadata`, which sends only what
/// was changed since the metadata came from there.
public final class StorageMetadata: NSObject, Sendable {
    private let settable: Mutex<MetadataResource.Settable>
    private let resource: MetadataResource

    /// Metadata to set.
    public override convenience init() { self.init(MetadataResource()) }

    /// Metadata with the members of a dictionary, whose keys are those of the protocol: `contentType`, `metadata`, ...
    public convenience init(dictionary: [String: AnyHashable]) {
        self.init(MetadataResource(dictionary))
    }

    init(_ resource: MetadataResource) {
        self.resource = resource
        settable = Mutex(resource.settable)
    }

    // MARK: - Of the server

    /// The bucket; empty for metadata that the app has made.
    public var bucket: String { resource.bucket ?? "" }

    /// The name of the object in its bucket: `a/b.png`.
    public var path: String? { resource.name }

    /// The last segment of the name: `b.png`.
    public var name: String? { resource.name.map { StoragePath(bucket: "", object: $0).name } }

    /// Bytes of the object.
    public var size: Int64 { resource.size.flatMap { Int64($0) } ?? 0 }

    /// Another number for each content.
    public var generation: Int64 { resource.generation.flatMap { Int64($0) } ?? 0 }

    /// Counts changes of the metadata of one content, from 1.
    public var metageneration: Int64 { resource.metageneration.flatMap { Int64($0) } ?? 0 }

    /// The MD5 of the bytes in Base64.
    public var md5Hash: String? { resource.md5Hash }

    /// When this content came.
    public var timeCreated: Date? { resource.timeCreated.flatMap(MetadataResource.date) }

    /// When content or metadata changed last.
    public var updated: Date? { resource.updated.flatMap(MetadataResource.date) }

    /// Whether the server has said that there is such an object.
    public var isFile: Bool { resource.generation != nil }

    /// Never: folders are only parts of names.
    public var isFolder: Bool { false }

    // MARK: - To set

    /// `Cache-Control` of downloads.
    public var cacheControl: String? {
        get { settable.withLock { $0.cacheControl } }
        set { settable.withLock { $0.cacheControl = newValue } }
    }

    /// `Content-Disposition` of downloads.
    public var contentDisposition: String? {
        get { settable.withLock { $0.contentDisposition } }
        set { settable.withLock { $0.contentDisposition = newValue } }
    }

    /// `Content-Encoding` of the bytes as they are stored.
    public var contentEncoding: String? {
        get { settable.withLock { $0.contentEncoding } }
        set { settable.withLock { $0.contentEncoding = newValue } }
    }

    /// `Content-Language` of downloads.
    public var contentLanguage: String? {
        get { settable.withLock { $0.contentLanguage } }
        set { settable.withLock { $0.contentLanguage = newValue } }
    }

    /// The type of the bytes: `image/png`.
    public var contentType: String? {
        get { settable.withLock { $0.contentType } }
        set { settable.withLock { $0.contentType = newValue } }
    }

    /// Texts of the app's own.
    public var customMetadata: [String: String]? {
        get { settable.withLock { $0.metadata } }
        set { settable.withLock { $0.metadata = newValue } }
    }

    // MARK: - As a whole

    /// The members that are there, under the keys of the protocol.
    public func dictionaryRepresentation() -> [String: AnyHashable] { current.dictionary }

    /// Whether another one has the same members.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? StorageMetadata)?.current == current
    }

    /// The hash of its members.
    public override var hash: Int { current.hashValue }

    /// Another one with the same members, which changes for itself.
    public override func copy() -> Any {
        let copy = StorageMetadata(resource)
        let settable = current.settable
        copy.settable.withLock { $0 = settable }
        return copy
    }

    /// Its members in order.
    public override var description: String {
        let members = dictionaryRepresentation().sorted { $0.key < $1.key }
        return
            "StorageMetadata(\(members.map { "\($0.key): \($0.value)" }.joined(separator: ", ")))"
    }

    private var current: MetadataResource {
        var resource = resource
        resource.settable = settable.withLock { $0 }
        return resource
    }

    /// The JSON of an upload, and the type of its bytes: `type` where the app does not say.
    func upload(to path: StoragePath, type: String?) -> (json: Data, type: String) {
        var settable = settable.withLock { $0 }
        let type = settable.contentType ?? type ?? "application/octet-stream"
        settable.contentType = type
        return (settable.json(named: path.object), type)
    }

    /// The JSON of what was changed since the server sent it.
    var changes: Data { settable.withLock { $0 }.changes(from: resource.settable) }
}
