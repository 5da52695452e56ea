package import FileProtocol
import FileRecords
package import JSONTree
import WriteAheadLog

/// What a start found among the uploads.
package struct LoadedUploads: Sendable {
    /// The sessions that go on or that have ended, with the answers to give again.
    package fileprivate(set) var sessions: [UploadID: UploadSession] = [:]
    /// What is worth a line in the log, by path.
    package fileprivate(set) var notes: [UploadNote] = []
}

/// Something that a start found, and what it did.
package struct UploadNote: Sendable, Equatable, CustomStringConvertible {
    package enum Finding: Sendable, Equatable {
        /// Bytes of an upload that cannot go on, for it has no session: removed.
        case bytesWithoutSession
        /// A session whose bytes are missing: removed.
        case sessionWithoutBytes
        /// A session with fewer bytes than were durable: removed with them.
        case cutShort(byteCount: Int64, expected: Int64)
        /// A session that began too long ago: removed with its bytes.
        case expired
        /// A session that cannot be read. It is kept with its bytes until it is as old as sessions get, for another start
        /// or another version may read it; until then no client can go on with it.
        case unreadable(reason: String)
        /// Nothing that the server makes. It stays.
        case foreign
        /// Something that was to be removed, and could not be.
        case notRemoved(BlobError)
    }

    /// The path of the file.
    package let path: String
    package let finding: Finding

    /// The sentence for people.
    package var description: String {
        switch finding {
        case .bytesWithoutSession: "removed \(path): an upload without a session cannot go on"
        case .sessionWithoutBytes: "removed \(path): the bytes of the upload are missing"
        case .cutShort(let byteCount, let expected):
            "removed \(path): the upload has \(byteCount) bytes where \(expected) belong"
        case .expired: "removed \(path): the upload was not finished in time"
        case .unreadable(let reason): "cannot read \(path): \(reason); the upload cannot go on"
        case .foreign: "\(path) is no file of the server; it stays"
        case .notRemoved(let error): "\(error)"
        }
    }
}

extension UploadFolder {
    /// Reads all sessions, and removes what no upload needs. Once, at start, before any other call.
    ///
    /// - Throws: `disk` when the folder cannot be listed or synced.
    package func load(now: Timestamp) throws(BlobError) -> LoadedUploads {
        // A record that the last process renamed and did not sync must not be undone once clients know of it.
        try gate.run { () throws(LogError) in try storage.syncFolder(Self.root) }
        let names = try reading { () throws(LogError) in try storage.list(Self.root) }
        var loading = UploadLoading(folder: self, now: now, names: names)
        loading.run()
        return loading.loaded
    }
}

/// One pass over the names of the folder.
private struct UploadLoading {
    let folder: UploadFolder
    let now: Timestamp
    let names: [String]
    var loaded = LoadedUploads()

    private var storage: any BlobStorage { folder.storage }

    mutating func run() {
        let recorded = Set(names.compactMap { Self.id(in: $0, UploadFolder.recordSuffix) })
        for name in names {
            let path = "\(UploadFolder.root)/\(name)"
            if let id = Self.id(in: name, UploadFolder.recordSuffix) {
                loadRecord(id)
            } else if let id = Self.id(in: name, UploadFolder.bytesSuffix) {
                if !recorded.contains(id) { remove(path, .bytesWithoutSession) }
            } else if Self.isDraft(name) {
                remove(path, nil)
            } else {
                note(path, .foreign)
            }
        }
    }

    private static func id(in name: String, _ suffix: String) -> UploadID? {
        name.hasSuffix(suffix) ? UploadID(name.dropLast(suffix.utf8.count)) : nil
    }

    private static func isDraft(_ name: String) -> Bool {
        guard name.hasSuffix(UploadFolder.draftSuffix) else { return false }
        let name = String(name.dropLast(UploadFolder.draftSuffix.utf8.count))
        return id(in: name, UploadFolder.recordSuffix) ?? id(in: name, UploadFolder.bytesSuffix)
            != nil
    }

    private mutating func loadRecord(_ id: UploadID) {
        let path = UploadFolder.record(id)
        do throws(UnreadableRecord) {
            check(id, try session(path))
        } catch {
            note(path, .unreadable(reason: error.reason))
            guard let modified = error.modified else { return }
            if now.milliseconds - modified.milliseconds >= FileProtocolLimits.sessionLifetime {
                removeUpload(id, .expired)
            }
        }
    }

    /// Keeps a session that can go on or be answered.
    private mutating func check(_ id: UploadID, _ session: UploadSession) {
        if session.isExpired(at: now) { return removeUpload(id, .expired) }
        let path = UploadFolder.bytes(id)
        do throws(BlobError) {
            let found = try reading { () throws(LogError) in try storage.status(path) }
            if session.state != .active {
                if found != nil { remove(path, nil) }
            } else {
                guard let found, found.kind == .file else {
                    return removeUpload(id, .sessionWithoutBytes)
                }
                guard found.byteCount >= session.byteCount else {
                    return removeUpload(
                        id,
                        .cutShort(byteCount: found.byteCount, expected: session.byteCount)
                    )
                }
            }
            loaded.sessions[id] = session
        } catch {
            note(path, .unreadable(reason: "\(error)"))
        }
    }

    private func session(_ path: String) throws(UnreadableRecord) -> UploadSession {
        var modified: Timestamp?
        var bytes: [UInt8]?
        do throws(LogError) {
            let found = try storage.status(path)
            modified = found?.modified
            if found?.kind == .file, let file = try storage.openToRead(path) {
                defer { file.close() }
                bytes = try file.piece(at: 0, count: BlobLimits.recordByteCount)
            }
        } catch {
            throw UnreadableRecord(reason: "\(error)", modified: modified)
        }
        guard let bytes else {
            throw UnreadableRecord(reason: "it is not a regular file", modified: modified)
        }
        do throws(JSONFieldsFault) { return try UploadSession(json: bytes) } catch {
            throw UnreadableRecord(reason: "\(error)", modified: modified)
        }
    }

    private mutating func note(_ path: String, _ finding: UploadNote.Finding) {
        loaded.notes.append(UploadNote(path: storage.shown(path), finding: finding))
    }

    private mutating func remove(_ path: String, _ finding: UploadNote.Finding?) {
        do throws(BlobError) {
            try folder.gate.run { () throws(LogError) in try storage.remove(path) }
            if let finding { note(path, finding) }
        } catch {
            note(path, .notRemoved(error))
        }
    }

    private mutating func removeUpload(_ id: UploadID, _ finding: UploadNote.Finding) {
        do throws(BlobError) {
            try folder.remove(id)
            note(UploadFolder.record(id), finding)
        } catch {
            note(UploadFolder.record(id), .notRemoved(error))
        }
    }
}

/// Why a record cannot be read, and when it was written if that is known.
private struct UnreadableRecord: Error {
    let reason: String
    let modified: Timestamp?
}
