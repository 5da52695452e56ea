package import BlobStore
import DatabaseCore
import FileRecords
import JSONTree
import WriteAheadLog

/// The contents that the files of a backup have: how many bytes, and the name of a file that has them.
///
/// Found while the backup is read. Memory: the largest database of the backup, and each content.
package struct BlobReferences {
    package struct Reference {
        package let byteCount: Int64
        /// `BUCKET/NAME` of the first of its files, by name.
        fileprivate(set) var first: String
        fileprivate(set) var count = 1

        /// Its files, for people.
        var files: String { count == 1 ? first : "\(first) and \(count - 1) more" }
    }

    package private(set) var all: [BlobHash: Reference] = [:]
    /// Records that cannot be read.
    package private(set) var damaged: [String] = []
    private var archive = ArchiveReader()
    private var decoder = CheckpointDecoder()

    /// None, before the first byte.
    package init() {}

    /// Those of a backup, which messages call `name`.
    ///
    /// - Throws: `archive` and `content` with the first thing that is wrong.
    package init(of file: String, shownAs name: String? = nil) throws(BackupError) {
        var found = BlobReferences()
        _ = try BackupFile.read(file, shownAs: name) { event throws(BackupError) in
            guard case .chunk(let chunk) = event else { return }
            try found.add(chunk, from: name ?? file)
        }
        self = found
    }

    /// Those of a state.
    init(_ snapshots: [DatabaseSnapshot]) {
        for snapshot in snapshots { add(snapshot) }
    }

    /// Takes the next bytes of a backup.
    ///
    /// - Throws: `archive` and `content` with the first thing that is wrong; `name` is what they name.
    package mutating func feed(
        _ bytes: UnsafeRawBufferPointer,
        from name: String
    ) throws(BackupError) {
        var (archive, chunks) = (archive, [[UInt8]]())
        let error = archive.feed(bytes) { event in
            if case .chunk(let chunk) = event { chunks.append(chunk) }
        }
        self.archive = archive
        if let error { throw .archive(path: name, error) }
        for chunk in chunks { try add(chunk, from: name) }
    }

    /// Says that the backup has no more bytes.
    package func finish(from name: String) throws(BackupError) {
        if let error = archive.finish() { throw .archive(path: name, error) }
    }

    private mutating func add(_ chunk: [UInt8], from name: String) throws(BackupError) {
        var (decoder, found) = (decoder, [DatabaseSnapshot]())
        do throws(CommitDecodingError) {
            try decoder.feed(chunk) { if $0.database == .files { found.append($0) } }
        } catch {
            throw .content(path: name, reason: "holds what cannot be read: \(error)")
        }
        self.decoder = decoder
        for snapshot in found { add(snapshot) }
    }

    private mutating func add(_ snapshot: DatabaseSnapshot) {
        guard snapshot.database == .files else { return }
        FileTree(root: snapshot.root).visit { record in
            guard let hash = BlobHash(hex: record.content.blob) else { return }
            let file = "\(record.bucket.text)/\(record.name.text)"
            if let known = all[hash] {
                all[hash]?.first = min(known.first, file)
                all[hash]?.count += 1
            } else {
                all[hash] = Reference(byteCount: record.content.byteCount, first: file)
            }
        } damaged: { path in
            damaged.append("\(path)")
        }
    }

    /// Bytes of all contents.
    package var byteCount: Int64 { all.values.reduce(0) { $0 + $1.byteCount } }
}
