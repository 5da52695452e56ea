import Foundation
public import HearthDatabase
public import Photos
import Social

/// Photos of one party in the database itself: `photos/{key}`, as base64.
///
///     {owner, host, party, png}
///
/// With the bytes comes a note in the own `users/{uid}/uploads`, in one update; `PartyPhotoService` takes it away
/// with the update that links to them, so that neither a link without bytes nor bytes without a link stay behind.
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
        let text = Data(photo.png).base64EncodedString()
        guard text.utf16.count <= PartyLimits.photoLength else {
            throw PhotoStoreError.tooLarge(key: key, byteLimit: PhotoLimits.byteCount)
        }
        var update = PartyUpdate(by: tree.uid)
        update.set("photos/\(key)", ["owner": tree.uid, "host": host, "party": party, "png": text])
        update.setOwn("uploads/\(key)", party)
        let facts = PhotoFacts(owner: tree.uid, host: host, party: party)
        try await tree.write(update, to: "upload a photo for the party \(party)") {
            // Stored data never changes. The same data may exist already.
            guard try await PhotoFacts.read(key, tree) == facts else { return false }
            return try await tree.photoText("png", of: key) == text
        }
    }

    /// The photo of a key; at most `byteLimit` bytes are decoded.
    public func load(forKey key: String, byteLimit: Int) async throws -> Photo {
        try await Self.load(key, byteLimit: byteLimit, tree)
    }

    /// Deletes the photo, its note and the own link; harmless when there is none.
    public func delete(forKey key: String) async throws {
        try PhotoStoreError.check(key: key)
        guard try await PhotoFacts.read(key, tree) != nil else { return }
        var update = PartyUpdate(by: tree.uid)
        update.remove("photos/\(key)")
        update.setOwn("photos/\(key)", NSNull())
        update.setOwn("uploads/\(key)", NSNull())
        try await tree.write(update, deleting: key)
    }

    static func load(_ key: String, byteLimit: Int, _ tree: PartyTree) async throws -> Photo {
        try PhotoStoreError.check(key: key)
        guard let text = try await tree.photoText("png", of: key) else {
            throw PhotoStoreError.notFound(key)
        }
        // Four characters for three bytes: a longer text is not even decoded.
        let limit = min(byteLimit, PhotoLimits.byteCount)
        guard text.utf8.count / 4 * 3 <= limit + 2 else {
            throw PhotoStoreError.tooLarge(key: key, byteLimit: limit)
        }
        guard let bytes = Data(base64Encoded: text) else {
            throw PhotoStoreError.faulty(key: key, .damaged("it is no base64"))
        }
        guard bytes.count <= limit else {
            throw PhotoStoreError.tooLarge(key: key, byteLimit: limit)
        }
        do {
            return try Photo(png: [UInt8](bytes))
        } catch let error as PhotoError {
            throw PhotoStoreError.faulty(key: key, error)
        }
    }
}
