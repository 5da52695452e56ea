import Files
import Glibc
import JSONTree

/// The audit log in a data folder: lines of JSON, in files that are named by the number of their first line.
///
///     audit/                                   mode 0700
///     audit/00000000000000000001.jsonl         mode 0600
///     audit/00000000000000018312.jsonl
///
/// A file that has `fileByteCount` bytes is followed by another, and beyond `fileLimit` files the oldest is removed. Lines
/// are appended and synced; a crash leaves at most one torn line, at the end of a file.
///
/// Belongs to one thread, the log's, once the server runs.
final class AuditFolder {
    /// Bytes from which on a file takes no more lines.
    static let fileByteCount = 4 << 20
    static let fileLimit = 8

    let path: String
    /// The number of the newest line; 0 for none.
    private(set) var lastNumber: Int
    /// The file whose last line is torn, as it was found.
    let tornFile: String?
    private let fileByteCount: Int
    private let fileLimit: Int
    private var file: GrowingFile?
    private var mustEndLine: Bool
    /// Lines that could not be written yet.
    private var waiting: [(number: Int, line: [UInt8])] = []

    /// Lines that wait while the disk takes none; the oldest beyond are lost.
    static let waitingLimit = 1_000

    /// The log of a data folder, made when it is missing.
    init(
        inDataFolder folder: String,
        fileByteCount: Int = AuditFolder.fileByteCount,
        fileLimit: Int = AuditFolder.fileLimit
    ) throws(FileError) {
        path = Self.path(in: folder)
        self.fileByteCount = fileByteCount
        self.fileLimit = fileLimit
        if mkdir(path, 0o700) == 0 {
            try SmallFile.syncFolder(of: path)
        } else if errno != EEXIST {
            throw .system(call: "create folder", path: path, code: errno)
        }
        guard let newest = try Self.files(path).last else {
            (lastNumber, tornFile, mustEndLine) = (0, nil, false)
            return
        }
        let content = try AuditContent("\(path)/\(newest.name)")
        // Lines that cannot be read have numbers, too.
        let known = content.entries.last?.number ?? newest.first - 1
        lastNumber = known + content.unreadableCount
        tornFile = content.isTorn ? "\(path)/\(newest.name)" : nil
        mustEndLine = content.isTorn
    }

    static func path(in dataFolder: String) -> String { "\(dataFolder)/audit" }

    /// Its files, the oldest first; other names are left out.
    static func files(_ path: String) throws(FileError) -> [(name: String, first: Int)] {
        try Folder.names(path).compactMap { name in
            guard name.utf8.count == 26, name.hasSuffix(".jsonl"), let first = Int(name.prefix(20))
            else { return nil }
            return (name, first)
        }
    }

    /// Appends lines with their numbers, those that wait first.
    ///
    /// - Throws: why none of them is written; they wait for the next time.
    func append(_ lines: [(number: Int, line: [UInt8])]) throws(FileError) {
        waiting += lines
        if waiting.count > Self.waitingLimit {
            waiting.removeFirst(waiting.count - Self.waitingLimit)
        }
        guard let first = waiting.first, let last = waiting.last else { return }
        let file = try file(for: first.number)
        let end: [UInt8] = mustEndLine ? [UInt8(ascii: "\n")] : []
        try file.append(end + waiting.flatMap(\.line))
        mustEndLine = false
        lastNumber = last.number
        waiting = []
    }

    private func file(for number: Int) throws(FileError) -> GrowingFile {
        if file == nil, let newest = try Self.files(path).last {
            file = try GrowingFile("\(path)/\(newest.name)")
        }
        if let file, file.byteCount < fileByteCount { return file }
        let digits = "\(number)"
        let name = String(repeating: "0", count: max(0, 20 - digits.count)) + digits + ".jsonl"
        let next = try GrowingFile("\(path)/\(name)")
        file = next
        mustEndLine = false
        for old in try Self.files(path).dropLast(fileLimit) { unlink("\(path)/\(old.name)") }
        return next
    }
}

/// The lines of one file of the audit log.
struct AuditContent {
    struct Entry {
        let number: Int
        let author: String?
        let door: String?
        let line: [UInt8]

        /// Reads a line; nil when it is no entry.
        fileprivate init?(_ line: [UInt8]) {
            do throws(JSONError) {
                let entry = try Node.readingAnyJSON(line)
                guard let number = entry.member("number").integer.flatMap({ Int(exactly: $0) })
                else { return nil }
                self.number = number
                author = entry.member("by").string
                door = entry.member("door").string
                self.line = line
            } catch {
                return nil
            }
        }
    }

    /// Those that can be read, in order.
    private(set) var entries: [Entry] = []
    /// Whole lines that cannot be read.
    private(set) var unreadableCount = 0
    /// Whether the last line has no end.
    let isTorn: Bool

    /// Bytes of a file that are read: a file may be longer than its limit by what was appended at once.
    private static let byteLimit = 2 * AuditFolder.fileByteCount + 256 * AuditEntry.byteLimit

    init(_ path: String) throws(FileError) {
        self.init(bytes: try SmallFile.read(path, byteLimit: Self.byteLimit).bytes)
    }

    init(bytes: [UInt8]) {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true)
        isTorn = !bytes.isEmpty && bytes.last != UInt8(ascii: "\n")
        if isTorn { lines.removeLast() }
        for line in lines {
            if let entry = Entry(Array(line)) {
                entries.append(entry)
            } else {
                unreadableCount += 1
            }
        }
    }
}
