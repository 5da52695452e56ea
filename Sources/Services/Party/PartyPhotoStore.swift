import Attachments
import Foundation
public import HearthDatabase
import HearthStorage
public import Photos
import Social

/// Photos of one party: what is known of each in the database, `photos/{key}`, and its bytes in the files of the server,
/// `parties/{party}/photos/{key}`.
///
///     {owner, host, party, file: byteCount}
///
/// Earlier photos have their bytes in the database, as base64: `png` in the place of `file`. `PartyPhotoService.move`
/// moves them.
///
/// First the record is written, with a note in the own `users/{uid}/uploads`, then the bytes. `PartyPhotoService` takes
/// the note away with the update that links to them; a deletion writes one until the bytes are gone. So neither a link
/// without bytes nor bytes without a record or note stay behind.
public struct PartyPhotoStore: PhotoStore {
    let tree: PartyTree
    let host: String
    let party: String

    /// The photos for a party, as this signed-in user uploads them.
    public init(database: Database, uid: String, party: HostedParty) {
        self.init(PartyTree(database: database, uid: uid), host: party.owner, party: party.key)
    }

    init(_ tree: PartyTree, host: String, party: String) {
        self.tree = tree
        self.host = host
        self.party = party
    }

    /// Stores the photo and its note; storing the same photo again is harmless.
    public func store(_ photo: Photo, forKey key: String) async throws {
        try PhotoStoreError.check(key: key)
        var update = PartyUpdate(by: tree.uid)
        let count = photo.png.count
        update.set(
            "photos/\(key)",
            ["owner": tree.uid, "host": host, "party": party, "file": count] as [String: Any]
        )
        update.setOwn("uploads/\(key)", party)
        let facts = PhotoFacts(owner: tree.uid, host: host, party: party)
        try await tree.write(update, to: purpose) {
            // Stored data never changes. The same data may exist already.
            guard try await PhotoFacts.read(key, tree) == facts else { return false }
            return try await tree.photoValue("file", of: key) as? Int == count
        }
        try await tree.put(photo, key, party, to: purpose)
    }

    private var purpose: String { "upload a photo for the party \(party)" }

    /// The photo of a key; at most `byteLimit` bytes are decoded.
    public func load(forKey key: String, byteLimit: Int) async throws -> Photo {
        try await Self.load(key, byteLimit: byteLimit, tree)
    }

    /// Deletes the photo, its note and the own link; harmless when there is none.
    public func delete(forKey key: String) async throws {
        try PhotoStoreError.check(key: key)
        guard try await PhotoFacts.read(key, tree) != nil else { return }
        var update = PartyUpdate(by: tree.uid)
        update.removeOwnPhoto(key, of: party)
        try await tree.write(update, deleting: key)
        try await tree.removeBytes(key, of: party)
    }

    static func load(_ key: String, byteLimit: Int, _ tree: PartyTree) async throws -> Photo {
        try PhotoStoreError.check(key: key)
        let limit = min(byteLimit, PhotoLimits.byteCount)
        let bytes: Data
        if let text = try await tree.photoText("png", of: key) {
            bytes = try decoded(text, key, limit)
        } else if let party = try await tree.photoText("party", of: key) {
            do {
                bytes = try await tree.bytes(key, of: party).data(maxSize: Int64(limit))
            } catch StorageError.objectNotFound, StorageError.unauthorized {
                throw PhotoStoreError.notFound(key)
            } catch StorageError.downloadSizeExceeded {
                throw PhotoStoreError.tooLarge(key: key, byteLimit: limit)
            }
        } else {
            throw PhotoStoreError.notFound(key)
        }
        do {
            return try Photo(png: [UInt8](bytes))
        } catch let error as PhotoError {
            throw PhotoStoreError.faulty(key: key, error)
        }
    }

    private static func decoded(
        _ text: String,
        _ key: String,
        _ limit: Int,
    ) throws(PhotoStoreError) -> Data {
        // Four characters for three bytes: a longer text is not even decoded.
        guard text.utf8.count / 4 * 3 <= limit + 2 else {
            throw .tooLarge(key: key, byteLimit: limit)
        }
        guard let bytes = Data(base64Encoded: text) else {
            throw .faulty(key: key, .damaged("it is no base64"))
        }
        guard bytes.count <= limit else { throw .tooLarge(key: key, byteLimit: limit) }
        return bytes
    }
}

extension PartyUpdate {
    /// Deletes a photo of one's own and what links to it here; the note stays until the bytes are gone.
    mutating func removeOwnPhoto(_ key: String, of party: String) {
        remove("photos/\(key)")
        setOwn("photos/\(key)", NSNull())
        setOwn("uploads/\(key)", party)
    }
}

extension PartyTree {
    func bytes(_ photo: String, of party: String) throws(ServiceError) -> StorageReference {
        try database.file("parties/\(party)/photos/\(photo)")
    }

    /// Uploads the bytes of a photo whose record is there.
    func put(
        _ photo: Photo,
        _ key: String,
        _ party: String,
        to purpose: String,
    ) async throws(ServiceError) {
        let place = try bytes(key, of: party)
        let metadata = StorageMetadata()
        metadata.contentType = "image/png"
        do {
            try await ServiceError.namingFiles(purpose) {
                _ = try await place.putDataAsync(Data(photo.png), metadata: metadata)
            }
        } catch .refused {
            // Bytes that are there are not written over.
            let size = try await ServiceError.namingFiles(purpose) { try await place.sizeIfThere() }
            guard size == Int64(photo.png.count) else { throw .refused(purpose) }
        }
    }

    /// The step behind the deletion of a record: the bytes go, then the note.
    func removeBytes(_ photo: String, of party: String) async throws(ServiceError) {
        let purpose = "delete the photo \(photo)"
        let place = try bytes(photo, of: party)
        _ = try await ServiceError.namingFiles(purpose) { try await place.removeIfThere() }
        var update = PartyUpdate(by: uid)
        update.setOwn("uploads/\(photo)", NSNull())
        try await write(update, to: purpose)
    }
}
