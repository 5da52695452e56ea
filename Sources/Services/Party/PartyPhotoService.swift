import Attachments
import Foundation
public import HearthDatabase
public import Photos
import Social

/// Photos of parties: guests upload and ask, the host decides.
public struct PartyPhotoService: Sendable {
    /// The result of `mend` for a photo whose bytes had arrived without a link to it.
    public enum Mended: Hashable, Sendable {
        /// It is linked now, and the host asked.
        case finished(String)
        /// Its party has ended, or the user is no longer a guest: the bytes are deleted.
        case removed(String)
    }

    let tree: PartyTree

    /// The service as this signed-in user has it.
    public init(database: Database, uid: String) { tree = PartyTree(database: database, uid: uid) }

    // MARK: Adding

    /// Uploads a photo, and asks the host; the host's own joins the party without asking.
    ///
    /// No link to the photo exists before its bytes are stored. After a cut between the two, call `mend`.
    ///
    /// - Returns: The photo's key.
    @discardableResult
    public func add(_ photo: Photo, to party: String) async throws -> String {
        let party = try await tree.party(party)
        let key = try tree.newKey()
        let store = PartyPhotoStore(tree, host: party.owner, party: party.key)
        try await store.store(photo, forKey: key)
        do {
            try await link(key, to: party.key, of: party.owner)
        } catch ServiceError.refused(let purpose) {
            // The party ended in the meantime, or this user was removed from it: the photo is removed completely.
            try await remove(key, of: party.key)
            throw ServiceError.refused(purpose)
        }
        return key
    }

    /// The own list, and the question to the host or the party: the step after the bytes.
    func link(_ photo: String, to party: String, of host: String) async throws(ServiceError) {
        var update = PartyUpdate(by: tree.uid)
        update.setOwn("photos/\(photo)", true)
        update.setOwn("uploads/\(photo)", NSNull())
        if host == tree.uid {
            update.set("parties/\(party)/photos/\(photo)", true)
        } else {
            // Under the photo's own key, so that it is asked once however often this is done.
            update.send(.photo(photo, party: party), .invite, to: host, key: photo)
        }
        try await tree.write(update, to: "add a photo to the party \(party)") {
            try await tree.user().photos.contains(photo)
        }
    }

    /// Finishes each photo whose bytes arrived before this user was cut off, and removes one whose bytes did not, or whose
    /// deletion was cut: to be called when a program starts.
    ///
    /// - Returns: The changes, in order of the photos' keys.
    @discardableResult
    public func mend() async throws -> [Mended] {
        var mended: [Mended] = []
        for (photo, party) in try await tree.user().uploads.sorted(by: { $0.key < $1.key })
        where PartyLimits.isKey(photo) && PartyLimits.isKey(party) {
            do {
                guard let facts = try await PhotoFacts.read(photo, tree),
                    try await hasBytes(photo, of: party)
                else { throw ServiceError.refused("see the photo") }
                try await link(photo, to: party, of: facts.host)
                mended.append(.finished(photo))
            } catch ServiceError.refused {
                try await remove(photo, of: party)
                mended.append(.removed(photo))
            }
        }
        return mended
    }

    private func hasBytes(_ photo: String, of party: String) async throws(ServiceError) -> Bool {
        if try await tree.photoText("png", of: photo) != nil { return true }
        let place = try tree.bytes(photo, of: party)
        return try await ServiceError.namingFiles("see the photo") {
            try await place.sizeIfThere()
        } != nil
    }

    /// Deletes bytes that can no longer be linked, and their remaining records.
    private func remove(_ photo: String, of party: String) async throws(ServiceError) {
        if try await PhotoFacts.read(photo, tree) != nil {
            var update = PartyUpdate(by: tree.uid)
            update.removeOwnPhoto(photo, of: party)
            try await tree.write(update, deleting: photo)
        }
        try await tree.removeBytes(photo, of: party)
    }

    // MARK: Moving

    /// Moves the bytes of this user's photos that are in the database to the files of the server: first the file, then
    /// the record that names it. A cut leaves each photo at one of the two places, and the next call goes on.
    ///
    /// - Returns: The keys of those that were moved.
    @discardableResult
    public func move() async throws -> [String] {
        var moved: [String] = []
        for key in try await tree.user().photos.sorted() where PartyLimits.isKey(key) {
            guard let text = try await tree.photoText("png", of: key),
                let facts = try await PhotoFacts.read(key, tree)
            else { continue }
            let photo = try await PartyPhotoStore.load(key, byteLimit: PhotoLimits.byteCount, tree)
            let purpose = "move the photo \(key)"
            try await tree.put(photo, key, facts.party, to: purpose)
            var update = PartyUpdate(by: tree.uid)
            update.remove("photos/\(key)/png")
            update.set("photos/\(key)/file", photo.png.count)
            try await tree.write(update, to: purpose) {
                try await tree.photoText("png", of: key) != text
            }
            moved.append(key)
        }
        return moved
    }

    // MARK: Deciding

    /// Accepts: the photo joins the party, the guest is notified, the question is removed.
    ///
    /// - Throws: `ServiceError.notFound` when its uploader has deleted it in the meantime.
    public func accept(_ question: PartyMessage) async throws {
        let (photo, party) = try parts(question)
        guard try await PhotoFacts.read(photo, tree) != nil else {
            throw ServiceError.notFound("photo \(photo) any more: refuse it")
        }
        var update = PartyUpdate(by: tree.uid)
        update.set("parties/\(party)/photos/\(photo)", true)
        update.answer(question, .accept)
        try await tree.write(update, deciding: question, to: "accept the photo \(photo)")
    }

    /// Refuses: notifies the guest, removes the question.
    public func refuse(_ question: PartyMessage) async throws {
        let (photo, _) = try parts(question)
        var update = PartyUpdate(by: tree.uid)
        update.answer(question, .refuse)
        try await tree.write(update, deciding: question, to: "refuse the photo \(photo)")
    }

    private func parts(
        _ message: PartyMessage
    ) throws(ServiceError) -> (photo: String, party: String) {
        guard case .photo(let photo, let party) = message.subject, message.isQuestion,
            message.to == tree.uid
        else { throw .invalid(field: "message", why: "it asks you for no photo") }
        return (photo, party)
    }

    // MARK: Seeing and deleting

    /// A photo that one uploaded, hosts, or sees as a guest.
    ///
    /// A photo with more bytes than the limit is not decoded: `PhotoStoreError.tooLarge`.
    public func load(
        _ photo: String,
        byteLimit: Int = PhotoLimits.byteCount,
    ) async throws -> Photo {
        try await PartyPhotoStore.load(photo, byteLimit: byteLimit, tree)
    }

    /// Who uploaded a photo, without its bytes; nil when this user does not see it.
    public func uploader(of photo: String) async throws -> String? {
        try PartyLimits.check(key: photo, "photo")
        return try await PhotoFacts.read(photo, tree)?.owner
    }

    /// Deletes a photo: its uploader the bytes, the own key and the party's; its host the party's key alone.
    ///
    /// The host of another's party is notified; their client removes the key when it applies the message.
    ///
    /// - Throws: `ServiceError.notFound` when this user does not see it, `invalid` when they are neither.
    public func delete(_ photo: String) async throws {
        try PartyLimits.check(key: photo, "photo")
        guard let facts = try await PhotoFacts.read(photo, tree) else {
            throw ServiceError.notFound("photo \(photo) that you may see")
        }
        if facts.owner == tree.uid {
            try await deleteOwn(photo, facts)
        } else if facts.host == tree.uid {
            try await takeOff(photo, from: facts.party)
        } else {
            throw ServiceError.invalid(
                field: "photo",
                why: "its uploader and the host of the party delete it",
            )
        }
    }

    /// The host takes a photo's key off the party; the bytes are the uploader's.
    public func takeOff(_ photo: String, from party: String) async throws {
        try PartyLimits.check(key: photo, "photo")
        _ = try await tree.ownParty(party)
        var update = PartyUpdate(by: tree.uid)
        update.remove("parties/\(party)/photos/\(photo)")
        try await tree.write(update, to: "take a photo off the party \(party)") {
            try await tree.visibleParty(party)?.photos.contains(photo) != true
        }
    }

    private func deleteOwn(_ photo: String, _ facts: PhotoFacts) async throws(ServiceError) {
        var update = PartyUpdate(by: tree.uid)
        update.removeOwnPhoto(photo, of: facts.party)
        let party = try await tree.visibleParty(facts.party)
        if let party, party.owner == tree.uid {
            update.remove("parties/\(party.key)/photos/\(photo)")
            try await tree.write(update, deleting: photo)
            return try await tree.removeBytes(photo, of: facts.party)
        }
        // Replaces the question, if that still waits. Only a guest may notify the host.
        var updateWithNotice = update
        updateWithNotice.send(
            .photo(photo, party: facts.party),
            .refuse,
            to: facts.host,
            key: photo
        )
        do {
            try await tree.write(
                facts.host == tree.uid ? update : updateWithNotice,
                deleting: photo
            )
        } catch .refused {
            try await tree.write(update, deleting: photo)
        }
        try await tree.removeBytes(photo, of: facts.party)
    }
}
