package import BlobStore
import DatabaseCore
package import Files
import Glibc
import JSONTree
package import WriteAheadLog

/// Why there is no backup, or not a whole one.
package enum BackupError: Error, CustomStringConvertible {
    case file(FileError)
    /// The file is not what was written.
    case archive(path: String, ArchiveError)
    /// The bytes are what was written, and make no sense.
    case content(path: String, reason: String)
    case log(LogError)
    /// A folder of contents of files cannot be written.
    case blob(BlobError)
    /// Contents of files that are missing or damaged, a line for each.
    case files([String])
    case destinationExists(path: String)
    /// What stands where the new folder is to be written was not left there by a restore or salvage.
    case strangeDraft(path: String)
    /// A server that would not give one, in its words.
    case refused(String)

    /// Contents that are named at a time.
    private static let lineLimit = 100

    /// The sentence for people.
    package var description: String {
        switch self {
        case .file(let error): "\(error)"
        case .archive(let path, let error): "\(path) \(error)"
        case .content(let path, let reason): "\(path) \(reason)"
        case .log(let error): "\(error)"
        case .blob(let error): "\(error)"
        case .files(let lines):
            "\(lines.count) contents of files are missing or damaged; 'hearth files check' says what to do\n"
                + lines.prefix(Self.lineLimit).map { "  \($0)" }.joined(separator: "\n")
        case .refused(let text): text
        case .destinationExists(let path):
            "\(path) is there already and not empty; name a folder that is yet to be made"
        case .strangeDraft(let path):
            "\(path) is there and not what a restore or salvage leaves; see what it is, and remove it"
        }
    }
}

/// Does work on a log whose errors are those of a backup.
func logged<Value>(_ work: () throws(LogError) -> Value) throws(BackupError) -> Value {
    do throws(LogError) { return try work() } catch { throw .log(error) }
}

/// What a whole backup holds.
package struct BackupSummary: Sendable, Equatable, CustomStringConvertible {
    /// Milliseconds since 1970 UTC.
    package let time: Int64
    package let info: CheckpointInfo
    package let byteCount: UInt64

    /// One line, then one for each database.
    package var description: String {
        let date = ISO8601.text(of: time)
        let heads = info.heads.map { "  \($0.database) up to commit \($0.commit)" }
        let first = "a whole backup of \(date), \(byteCount) bytes, \(heads.count) databases"
        return ([first] + heads).joined(separator: "\n")
    }

    /// Whether files have records in it, whose bytes are elsewhere.
    package var hasFiles: Bool {
        info.heads.contains { $0.database.description == DatabaseID.files.name }
    }
}

/// A backup on its way into a file: checked as it comes, and again as it stands on the disk.
///
/// Nothing is at `path` but what stood there before until the backup is whole. Readable by its owner
/// alone, since it holds everything.
package final class BackupFile {
    private let path: String
    private let draft: FileDraft
    private var reader = ArchiveReader()
    private var syncedByteCount = 0
    /// Bytes after which the file is synced: a server's log on the same disk waits for other dirty
    /// data, so little is kept dirty.
    private static let syncByteCount = 8 << 20

    /// Bytes taken so far.
    package private(set) var byteCount = 0

    package init(_ path: String) throws(BackupError) {
        self.path = path
        do throws(FileError) { draft = try FileDraft(path, permissions: 0o600) } catch {
            throw .file(error)
        }
    }

    /// Takes the next bytes of the archive.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(BackupError) {
        byteCount += bytes.count
        if let error = reader.feed(bytes, { _ in }) {
            throw .archive(path: "what the server sent", error)
        }
        do throws(FileError) {
            try draft.write(bytes)
            guard byteCount - syncedByteCount >= Self.syncByteCount else { return }
            _ = try draft.sync()
            syncedByteCount = byteCount
        } catch {
            throw .file(error)
        }
    }

    /// Makes the file durable, reads it again, and gives it its name.
    ///
    /// Without `isVerified` only checksums are compared; with it everything is decoded, down to the
    /// last node, as a restore would. `andThen` is called with the file before that, and can still refuse it.
    package func finish(
        isVerified: Bool = true,
        andThen: (String) throws(BackupError) -> Void = { _ in }
    ) throws(BackupError) -> BackupSummary {
        if let error = reader.finish() { throw .archive(path: "what the server sent", error) }
        let written: String
        do throws(FileError) { written = try draft.sync() } catch { throw .file(error) }
        let summary =
            try isVerified
            ? BackupContent.verify(written, shownAs: path)
            : BackupFile.read(written, shownAs: path) { _ throws(BackupError) in }
        try andThen(written)
        do throws(FileError) { try draft.commit() } catch { throw .file(error) }
        return summary
    }

    /// Reads a file from start to end, checks every byte, and gives each chunk to `body`.
    ///
    /// Memory: one chunk.
    /// - Throws: `archive` with the position of the first damage; `file`; what `body` throws.
    static func read(
        _ path: String,
        shownAs name: String? = nil,
        _ body: (ArchiveReader.Event) throws(BackupError) -> Void
    ) throws(BackupError) -> BackupSummary {
        let name = name ?? path
        let descriptor = retrying { open(path, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else {
            throw .file(.system(call: "open", path: name, code: errno))
        }
        defer { close(descriptor) }
        var reading = Reading(name: name)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw .file(.system(call: "read", path: name, code: errno))
            }
            guard count > 0 else { break }
            try reading.feed(UnsafeRawBufferPointer(rebasing: buffer[..<count]), body)
        }
        return try reading.finish()
    }

    /// The same for the bytes of one, in memory.
    static func read(
        _ bytes: [UInt8],
        shownAs name: String,
        _ body: (ArchiveReader.Event) throws(BackupError) -> Void
    ) throws(BackupError) -> BackupSummary {
        var reading = Reading(name: name)
        var offset = 0
        while offset < bytes.count {
            let end = min(offset + (1 << 20), bytes.count)
            let piece = Array(bytes[offset..<end])
            try piece.withUnsafeBufferPointer { piece throws(BackupError) in
                try reading.feed(UnsafeRawBufferPointer(piece), body)
            }
            offset = end
        }
        return try reading.finish()
    }

    /// A backup that is read from start to end.
    private struct Reading {
        let name: String
        private var reader = ArchiveReader()
        private var time: Int64 = 0
        private var info: CheckpointInfo?

        init(name: String) {
            self.name = name
        }

        mutating func feed(
            _ bytes: UnsafeRawBufferPointer,
            _ body: (ArchiveReader.Event) throws(BackupError) -> Void
        ) throws(BackupError) {
            var (time, info) = (time, info)
            let error = try reader.feed(bytes) { event throws(BackupError) in
                if case .header(let header) = event { time = header.time }
                if case .trailer(let found) = event { info = found }
                try body(event)
            }
            (self.time, self.info) = (time, info)
            if let error { throw .archive(path: name, error) }
        }

        func finish() throws(BackupError) -> BackupSummary {
            if let error = reader.finish() { throw .archive(path: name, error) }
            guard let info else { preconditionFailure("a whole archive has a trailer") }
            return BackupSummary(time: time, info: info, byteCount: reader.offset)
        }
    }
}
