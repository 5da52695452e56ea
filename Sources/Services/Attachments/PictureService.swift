public import Foundation
public import HearthDatabase
internal import Photos
import Social

/// The picture of a person: a file of the server that `users/{uid}/picture` has the address of.
public struct PictureService: Sendable {
    private let database: Database
    private let uid: String

    /// The service as this signed-in user has it.
    public init(database: Database, uid: String) {
        self.database = database
        self.uid = uid
    }

    /// Gives the user a picture, of a PNG one of 300 points' width, in the place of the one that is there; nil takes it
    /// away. The bytes of the earlier one go; after a cut `AttachmentService.mend` removes what stays.
    ///
    /// - Returns: Its address, which opens without signing in.
    /// - Throws: `ServiceError`: `refused` for what is no picture or has more than 10 MiB, `files` when the server does
    ///   not take it.
    @discardableResult
    public func set(
        _ picture: AttachmentFile?,
        progress: AttachmentService.Progress? = nil,
    ) async throws -> URL? {
        let place = "users/\(uid)/picture"
        let known = try await database.read(place, to: "see your picture").value as? String
        let service = AttachmentService(database: database, uid: uid)
        return try await service.replace(
            known.flatMap { AttachmentFolder(ofPerson: uid, address: $0) },
            with: picture,
            at: { .person(uid, $0) },
            progress,
            purpose: "change your picture",
            naming: { _, url in [place: url?.absoluteString ?? NSNull()] },
        )
    }
}

extension AttachmentService {
    /// Replaces a picture: uploads the new one, names it in one update with a note that removes `old`, and removes that.
    /// nil takes the picture away. `places` is what the update says of the new picture, whose folder ends in that key; nil
    /// for none.
    ///
    /// - Returns: The address of the new picture.
    /// - Throws: `ServiceError`; the picture before it stays then.
    package func replace(
        _ old: AttachmentFolder?,
        with picture: AttachmentFile?,
        at folder: (_ key: String) -> AttachmentFolder,
        _ progress: Progress? = nil,
        purpose: String,
        naming places: (_ key: String?, _ url: URL?) -> [String: Any],
    ) async throws -> URL? {
        func name(_ key: String?, _ url: URL?) async throws(ServiceError) {
            var update = places(key, url)
            if let key { update[path(folder(key))] = NSNull() }
            if let old { update[path(old)] = removal(old) }
            try await database.update(update, to: purpose)
        }
        var url: URL?
        if let picture {
            let key = try newKey()
            url = try await send([picture.small()], to: folder(key), progress) { attachments in
                try await name(key, attachments[0].url)
                return attachments[0].url
            }
        } else {
            try await name(nil, nil)
        }
        if let old { await removeDeleted(old) }
        return url
    }
}

extension AttachmentFile {
    /// The smaller picture of it where there is one, else itself.
    fileprivate func small() throws -> AttachmentFile {
        guard let thumbnail else { return self }
        return try AttachmentFile(Data(thumbnail.png), title: title, type: "image/png")
    }
}
