package import FileProtocol
import WriteAheadLog

/// The uploads of a data folder: their bytes, and their sessions if they have one.
///
/// Every call but `newID` blocks: call it on a worker. Calls about different uploads may come at the same time.
package final class UploadFolder: Sendable {
    static let root = "files/uploads"
    static let draftSuffix = ".partial"
    static let bytesSuffix = ".part"
    static let recordSuffix = ".json"

    let storage: any BlobStorage
    let gate: WriteGate

    init(_ storage: any BlobStorage, _ gate: WriteGate) {
        self.storage = storage
        self.gate = gate
    }

    static func bytes(_ id: UploadID) -> String { "\(root)/\(id)\(bytesSuffix)" }

    static func record(_ id: UploadID) -> String { "\(root)/\(id)\(recordSuffix)" }

    /// An identifier that no upload has had.
    package func newID() -> UploadID {
        UploadID(random: storage.randomNumber(), storage.randomNumber())
    }

    /// Begins the bytes of an upload. Without a session, which `store` makes durable, they are gone after a restart.
    ///
    /// - Throws: `disk`, `stopped`.
    package func create(_ id: UploadID) throws(BlobError) -> BlobDraft {
        let file = try gate.run { () throws(LogError) in try storage.createNew(Self.bytes(id)) }
        return BlobDraft(id, storage, gate, file)
    }

    /// Goes on with the first `byteCount` bytes of an upload after a restart, as its session says. Reads them all.
    ///
    /// - Throws: `disk`, `stopped`, `missing`, `notAFile`, `cutShort`.
    package func reopen(_ id: UploadID, byteCount: Int64) throws(BlobError) -> BlobDraft {
        let draft = BlobDraft(id, storage, gate, nil)
        try draft.restore(byteCount)
        return draft
    }

    /// Makes a session durable, after the bytes that it speaks of: give their draft unless nothing was appended. A failure
    /// leaves the old record or the new one.
    ///
    /// - Throws: `disk`, `stopped`, `missing`.
    package func store(
        _ session: UploadSession,
        of id: UploadID,
        with draft: BlobDraft?
    ) throws(BlobError) {
        try draft?.sync()
        let path = Self.record(id)
        try gate.run { () throws(LogError) in
            let file = try storage.create(path + Self.draftSuffix)
            defer { file.close() }
            try session.json.withUnsafeBufferPointer { bytes throws(LogError) in
                try file.write(UnsafeRawBufferPointer(bytes), at: 0)
            }
            try file.sync()
            try storage.rename(path + Self.draftSuffix, to: path)
            try storage.syncFolder(Self.root)
        }
    }

    /// Removes an upload: session and bytes. Nothing happens when there is none.
    ///
    /// - Throws: `disk`, `stopped`; what is left then goes at the next start.
    package func remove(_ id: UploadID) throws(BlobError) {
        try gate.run { () throws(LogError) in
            // Bytes without a session are removed at start; a session without bytes would be reported there.
            try storage.remove(Self.record(id) + Self.draftSuffix)
            try storage.remove(Self.record(id))
        }
        try removeBytes(of: id)
    }

    /// Removes the bytes of an upload that has no session, or whose session has ended.
    ///
    /// - Throws: `disk`, `stopped`.
    package func removeBytes(of id: UploadID) throws(BlobError) {
        try gate.run { () throws(LogError) in
            try storage.remove(Self.bytes(id) + Self.draftSuffix)
            try storage.remove(Self.bytes(id))
        }
    }
}
