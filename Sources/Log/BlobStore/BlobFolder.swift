package import WriteAheadLog

/// The folder `files` of a data folder.
///
///     files/blobs/ab/cdef…        a blob: its SHA-256 in hexadecimal, the first two digits as a folder; mode 0400
///     files/uploads/ID.part       bytes of an upload
///     files/uploads/ID.json       its session, if it has one
///     files/uploads/….partial     a new form of either of these, before it is renamed: removed at start
///
/// One process uses it at a time: the one that holds the lock of the data folder.
package final class BlobFolder: Sendable {
    static let root = "files"

    package let blobs: LocalBlobs
    package let uploads: UploadFolder
    let storage: any BlobStorage
    let gate = WriteGate()

    /// Names the folder, and touches nothing.
    package init(_ storage: any BlobStorage) {
        self.storage = storage
        blobs = LocalBlobs(storage, gate)
        uploads = UploadFolder(storage, gate)
    }

    /// Makes the folders that are missing, durably. Once, at start.
    ///
    /// - Throws: `disk`; `notAFile` when a link or a file has the name of a folder.
    package func prepare() throws(BlobError) {
        for path in [Self.root, LocalBlobs.root, UploadFolder.root] {
            try gate.makeFolder(path, storage)
        }
        try gate.run { () throws(LogError) in
            try storage.syncFolder(Self.root)
            try storage.syncFolder("")
        }
    }

    /// The failure after which nothing more is written; nil while all is well.
    package var failure: DiskFailure? { gate.failure }

    /// Bytes that this process may still write to the disk, and bytes of the whole disk.
    ///
    /// - Throws: `disk`.
    package func room() throws(BlobError) -> (freeByteCount: UInt64, diskByteCount: UInt64) {
        try reading { () throws(LogError) in
            (try storage.freeByteCount(), try storage.diskByteCount())
        }
    }
}

extension WriteGate {
    /// Makes a folder if it is missing. The folder above it is not synced.
    ///
    /// - Throws: `disk`, `stopped`; `notAFile` when a link or a file has its name.
    func makeFolder(_ path: String, _ storage: any BlobStorage) throws(BlobError) {
        let found = try reading { () throws(LogError) in try storage.status(path) }
        if let found {
            guard found.kind == .folder else { throw .notAFile(path: storage.shown(path)) }
        } else {
            try run { () throws(LogError) in try storage.createFolder(path) }
        }
    }
}

extension LogStorage {
    /// A path below the data folder as messages have it.
    func shown(_ path: String) -> String { "\(self.path)/\(path)" }
}
