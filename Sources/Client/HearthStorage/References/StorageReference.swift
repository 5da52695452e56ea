public import Foundation
import HearthCore

/// An object or a folder of a bucket, which may be there or not.
///
/// A reference to what cannot be reports the error when it is used, and nothing is sent.
public final class StorageReference: NSObject, Sendable {
    /// The files that it belongs to.
    public let storage: Storage

    let path: StoragePath
    /// Why it cannot be used.
    let fault: StorageError?

    init(_ storage: Storage, _ path: StoragePath, _ fault: StorageError?) {
        self.storage = storage
        self.path = path
        self.fault = fault
        super.init()
    }

    /// The name of the bucket.
    public var bucket: String { path.bucket }

    /// The name in the bucket without a slash in front: `a/b.png`; empty at the root.
    public var fullPath: String { path.object }

    /// The last segment of the name: `b.png`; empty at the root.
    public var name: String { path.name }

    /// The root of the bucket.
    public func root() -> StorageReference { StorageReference(storage, path.root, fault) }

    /// What is one segment shorter; nil at the root.
    public func parent() -> StorageReference? {
        path.parent.map { StorageReference(storage, $0, fault) }
    }

    /// What is below this one. Slashes at the ends and several in a row do not count.
    public func child(_ path: String) -> StorageReference {
        StorageReference(storage, self.path.child(path), fault)
    }

    /// `gs://BUCKET/NAME`.
    public override var description: String { path.description }

    /// Whether another one is at the same place of the same files.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? StorageReference else { return false }
        return other.path == path && other.storage === storage
    }

    /// The hash of the place.
    public override var hash: Int { path.hashValue }

    /// The path, to be a folder.
    ///
    /// - Throws: The fault of the reference.
    func usable() throws(StorageError) -> StoragePath {
        if let fault { throw fault }
        return path
    }

    /// The path, to be an object.
    ///
    /// - Throws: The fault of the reference; `invalidArgument` at the root.
    func object() throws(StorageError) -> StoragePath {
        if path.isRoot, fault == nil {
            throw .invalidArgument(
                message: "The root of the bucket \(path.bucket) is no object: use child(_:)."
            )
        }
        return try usable()
    }
}
