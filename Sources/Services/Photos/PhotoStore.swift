/// Where photos are kept: by key, each whole or not at all.
///
/// Link to a photo after `store` has returned. Keys are those of `childByAutoId` or similar: 1 to
/// `PhotoLimits.keyLength` of `A-Z a-z 0-9 _ -`.
public protocol PhotoStore: Sendable {
    /// Keeps a photo under a key; the same photo again is harmless. When it returns, the photo is durable. When it
    /// throws, the key has its old photo or, if only the last step failed, the new one: one of them, whole.
    func store(_ photo: Photo, forKey key: String) async throws

    /// The photo of a key; never reads more than `byteLimit` bytes, or `PhotoLimits.byteCount`.
    func load(forKey key: String, byteLimit: Int) async throws -> Photo

    /// Removes the photo of a key, durably; harmless when there is none.
    func delete(forKey key: String) async throws
}

extension PhotoStore {
    /// The photo of a key.
    public func load(forKey key: String) async throws -> Photo {
        try await load(forKey: key, byteLimit: PhotoLimits.byteCount)
    }
}

/// Why a photo was not stored, read or removed.
public enum PhotoStoreError: Error, Hashable, Sendable {
    /// Not 1 to 64 of `A-Z a-z 0-9 _ -`.
    case invalidKey(String)
    /// Nothing is stored under the key.
    case notFound(String)
    /// The stored photo has more bytes than may be read.
    case tooLarge(key: String, byteLimit: Int)
    /// The stored bytes are not a photo.
    case faulty(key: String, PhotoError)
    /// The disk, or the owner's share of it, is full.
    case noSpace(path: String)
    /// The path of a file is a link, a device or a folder; or the folder's path is not a folder.
    case wrongKind(path: String)
    /// A system call failed with this error number.
    case system(call: String, path: String, code: Int32)
}

extension PhotoStoreError {
    /// Throws `invalidKey` for an invalid key: a path, for example.
    package static func check(key: String) throws(PhotoStoreError) {
        let isKey = key.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
            default: false
            }
        }
        guard isKey, 1...PhotoLimits.keyLength ~= key.utf8.count else { throw .invalidKey(key) }
    }
}
