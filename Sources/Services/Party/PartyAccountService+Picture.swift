import Attachments
public import Foundation
import HearthStorage
public import Photos
import Social

/// The picture of a user: a file of the server, `people/{uid}/{key}`, that `profiles/{uid}/picture` has the address of.
extension PartyAccountService {
    /// Gives the user a picture in the place of the one that is there; nil takes it away.
    ///
    /// First a note in `users/{uid}/pictures`, then the bytes; the update that names them takes the note away and writes
    /// one for the earlier picture, whose bytes go. After a cut `mendPictures` removes what stays.
    ///
    /// - Returns: Its address, which opens without signing in.
    /// - Throws: `ServiceError`; the earlier picture stays then.
    @discardableResult
    public func setPicture(_ photo: Photo?) async throws -> URL? {
        let purpose = "change your picture"
        let old = try await ownPicture()
        var update = PartyUpdate(by: tree.uid)
        var url: URL?
        var key: String?
        if let photo {
            let new = try tree.newKey()
            let uploaded = try await upload(photo, new, to: purpose)
            update.setOwn("pictures/\(new)", NSNull())
            update.set("profiles/\(tree.uid)/picture", uploaded.absoluteString)
            (key, url) = (new, uploaded)
        } else {
            update.remove("profiles/\(tree.uid)/picture")
        }
        if let old { update.setOwn("pictures/\(old)", true) }
        do {
            try await tree.write(update, to: purpose)
        } catch .refused {
            if let key { try await removePicture(key) }
            throw ServiceError.refused(purpose)
        }
        // A failure here leaves the note, which `mendPictures` reads.
        if let old { _ = try? await removePicture(old) }
        return url
    }

    /// Removes the bytes of pictures that the profile does not name: to be called when a program starts.
    ///
    /// - Returns: The keys of the pictures that are gone.
    @discardableResult
    public func mendPictures() async throws -> [String] {
        let named = try await ownPicture()
        var removed: [String] = []
        for key in try await tree.user().pictures where key != named && PartyLimits.isKey(key) {
            try await removePicture(key)
            removed.append(key)
        }
        return removed
    }

    private func upload(_ photo: Photo, _ key: String, to purpose: String) async throws -> URL {
        var note = PartyUpdate(by: tree.uid)
        note.setOwn("pictures/\(key)", true)
        try await tree.write(note, to: purpose)
        let file = try tree.database.file("people/\(tree.uid)/\(key)")
        let metadata = StorageMetadata()
        metadata.contentType = "image/png"
        do {
            return try await ServiceError.namingFiles(purpose) {
                _ = try await file.putDataAsync(Data(photo.png), metadata: metadata)
                return try await file.downloadURL()
            }
        } catch {
            _ = try? await removePicture(key)
            throw error
        }
    }

    /// The bytes go, then the note.
    private func removePicture(_ key: String) async throws(ServiceError) {
        let purpose = "remove a picture of yours"
        let file = try tree.database.file("people/\(tree.uid)/\(key)")
        _ = try await ServiceError.namingFiles(purpose) { try await file.removeIfThere() }
        var update = PartyUpdate(by: tree.uid)
        update.setOwn("pictures/\(key)", NSNull())
        try await tree.write(update, to: purpose)
    }

    /// The key of the file that the profile names; nil for none, and for a picture that is elsewhere.
    private func ownPicture() async throws(ServiceError) -> String? {
        // `https://server/v0/b/party/o/people%2Fann%2F-Nq...?alt=media&token=...`
        let address = try await tree.profile(of: tree.uid)?.picture ?? ""
        let names = AttachmentFolder.names(in: address)
        let isOwn = names.count == 3 && names[0] == "people" && names[1] == tree.uid
        return isOwn && PartyLimits.isKey(names[2]) ? names[2] : nil
    }
}
