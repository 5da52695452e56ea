internal import Foundation
public import HearthDatabase
internal import HearthStorage
internal import Photos
public import Social

/// The files of messages and posts: those of the server that the database is at.
///
/// Bytes and tree are two places, so a note in the tree holds them together: it is written before the first byte, and
/// goes in the update that names the files. After a cut `mend` removes what was never named, and what a deletion left.
public struct AttachmentService: Sendable {
    let database: Database
    private let uid: String

    /// The service as this signed-in user has it.
    public init(database: Database, uid: String) {
        self.database = database
        self.uid = uid
    }

    /// Bytes that are there, and bytes of all files.
    public typealias Progress = @Sendable (_ completed: Int64, _ total: Int64) -> Void

    // MARK: Sending

    /// Uploads files, and names them in the record that `name` writes in one update with `notePath` taken away. When
    /// this fails, no file stays; after a cut `mend` sees to that.
    package func send<Value>(
        _ files: [AttachmentFile],
        to folder: AttachmentFolder,
        _ progress: Progress?,
        naming name: ([Attachment]) async throws -> Value,
    ) async throws -> Value {
        let purpose = "send files"
        try files.check()
        try await database.update(
            [path(folder): ["folder": folder.path, "at": ServerValue.timestamp()]],
            to: purpose
        )
        do {
            return try await name(try await upload(files, to: folder, progress, purpose))
        } catch {
            // A failure here leaves the note, which `mend` reads.
            _ = try? await remove(folder)
            throw error
        }
    }

    /// The note of a folder: the update that names the files sets it to `NSNull()`.
    package func path(_ folder: AttachmentFolder) -> String { "uploads/\(uid)/\(folder.key)" }

    private func upload(
        _ files: [AttachmentFile],
        to folder: AttachmentFolder,
        _ progress: Progress?,
        _ purpose: String,
    ) async throws(ServiceError) -> [Attachment] {
        let place = try place(folder)
        let total = Int64(files.reduce(0) { $0 + $1.byteCount })
        var (attachments, completed): ([Attachment], Int64) = ([], 0)
        for (index, file) in files.enumerated() {
            let name = String(index)
            let before = completed
            let stored = try await ServiceError.namingFiles(purpose) {
                try await place.child(name).put(file) { progress?(before + $0, total) }
            }
            var thumbnail: URL?
            if let photo = file.thumbnail {
                thumbnail = try await ServiceError.namingFiles(purpose) {
                    let small = place.child(Self.small(name))
                    let metadata = StorageMetadata()
                    metadata.contentType = "image/png"
                    _ = try await small.putDataAsync(Data(photo.png), metadata: metadata)
                    return try await small.downloadURL()
                }
            }
            completed += Int64(file.byteCount)
            progress?(completed, total)
            attachments.append(
                Attachment(
                    name: name,
                    title: file.title,
                    type: stored.type,
                    size: file.byteCount,
                    url: stored.url,
                    thumbnail: thumbnail
                )
            )
        }
        return attachments
    }

    // MARK: Removing

    /// What the update that deletes a record says of its files: they are to be removed.
    package func removal(_ folder: AttachmentFolder) -> [String: Any] {
        ["folder": folder.path, "at": ServerValue.timestamp(), "removing": true]
    }

    /// Removes the files that the deletion of a record has left, behind its update. It throws nothing: the record is
    /// deleted, and what fails here stands in the note, for `mend`.
    package func removeDeleted(_ folder: AttachmentFolder) async { _ = try? await remove(folder) }

    /// Removes the files of uploads that were cut and of deletions whose second step is missing: to be called when a
    /// program starts.
    ///
    /// - Parameter age: An upload that began later may go on, on another device.
    /// - Returns: The folders whose files are gone now, and notes that make no sense.
    /// - Throws: `ServiceError`; what was removed until then is gone.
    @discardableResult
    public func mend(unnamedFor age: Duration = .seconds(86_400)) async throws -> Listing<String> {
        guard let notes = try await notes() else { return Listing() }
        let known = notes.records(as: UploadNote.self)
        var mended = Listing<String>()
        mended.faults = known.faults
        if known.records.isEmpty { return mended }
        let now = try await serverTime()
        for note in known.records {
            let isRemoving = notes.childSnapshot(forPath: "\(note.folder.key)/removing").exists()
            guard isRemoving || note.at <= now - age / .milliseconds(1),
                try await remove(note.folder)
            else { continue }
            mended.records.append(note.folder.path)
        }
        return mended
    }

    /// The user's notes; nil where rules are from before there were files, so that none was sent.
    private func notes() async throws(ServiceError) -> DataSnapshot? {
        do throws(ServiceError) {
            return try await database.read("uploads/\(uid)", to: "see the own uploads")
        } catch .refused {
            return nil
        }
    }

    /// Takes back the right to name the files, then removes them and the note; false when they are named by now.
    private func remove(_ folder: AttachmentFolder) async throws(ServiceError) -> Bool {
        let purpose = "remove files that no message names"
        let place = try place(folder)
        guard try await database.accepts(["\(path(folder))/removing": true], to: purpose) else {
            return false
        }
        for name in (0..<AttachmentLimits.count).map({ String($0) }) {
            // Files come one after another, and the thumbnail behind its picture.
            let isGone = try await ServiceError.namingFiles(purpose) {
                try await place.child(name).removeIfThere()
            }
            let isSmallGone = try await ServiceError.namingFiles(purpose) {
                try await place.child(Self.small(name)).removeIfThere()
            }
            if !isGone, !isSmallGone { break }
        }
        try await database.update([path(folder): NSNull()], to: purpose)
        return true
    }

    // MARK: Reaching the server

    /// A key for a folder that is to be filled.
    func newKey() throws(ServiceError) -> String {
        guard let key = database.reference(withPath: "uploads/\(uid)").childByAutoId().key else {
            preconditionFailure("a child with a key of its own has a key")
        }
        return key
    }

    private func place(_ folder: AttachmentFolder) throws(ServiceError) -> StorageReference {
        try database.file(folder.path)
    }

    private static func small(_ name: String) -> String { "\(name)-small" }

    /// Milliseconds since 1970.
    private func serverTime() async throws(ServiceError) -> Double {
        let offset = database.reference(withPath: ".info/serverTimeOffset")
        let ahead = try await offset.read(to: "see the server's clock").value as? Double
        return Date().timeIntervalSince1970 * 1000 + (ahead ?? 0)
    }
}

extension StorageReference {
    fileprivate func put(
        _ file: AttachmentFile,
        _ progress: @escaping (Int64) -> Void,
    ) async throws -> (type: String, url: URL) {
        let metadata = StorageMetadata()
        metadata.contentType = file.type
        let report: (Foundation.Progress?) -> Void = { progress($0?.completedUnitCount ?? 0) }
        let stored =
            switch file.source {
            case .data(let data):
                try await putDataAsync(data, metadata: metadata, onProgress: report)
            case .file(let url):
                try await putFileAsync(from: url, metadata: metadata, onProgress: report)
            }
        return (stored.contentType ?? "application/octet-stream", try await downloadURL())
    }
}
