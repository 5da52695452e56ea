import ClusterLog
import JSONTree
import WriteAheadLog

/// Where a node stands in the log that it shares: the file `cluster-mark` of its data folder, 84 bytes.
///
///     offset size
///      0     4   magic "RTMK"
///      4     4   format, 1
///      8     8   sequence
///     16     8   epoch
///     24     8   commit
///     32     8   id of the log
///     40    32   chain
///     72     8   id of the data folder
///     80     4   CRC-32C of everything before
///
/// Little-endian. It is written after the local log is synced, so that log holds at least what the mark says. It may hold
/// more: commits that come once more from the shared log are known by their numbers.
enum MarkFile {
    private static let name = "cluster-mark"
    private static let draft = "cluster-mark.partial"
    /// All names that it may have.
    static let names = [name, draft]
    private static let magic = Array("RTMK".utf8)
    private static let format: UInt32 = 1
    private static let byteCount = 84

    /// The mark of a data folder; nil when it was never part of a group.
    ///
    /// - Throws: `damage` for a file that is not whole, or of another folder; `disk`.
    static func read(_ folder: DataFolder) throws(LogError) -> LogMark? {
        guard let file = try folder.storage.open(name) else { return nil }
        defer { file.close() }
        var bytes = [UInt8](repeating: 0, count: byteCount + 1)
        let count = try bytes.withUnsafeMutableBufferPointer { buffer throws(LogError) in
            try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
        }
        var cursor = ByteCursor(Array(bytes.prefix(count)))
        guard count == byteCount, cursor.run(4).map({ Array($0) }) == magic,
            cursor.integer(UInt32.self) == format,
            let mark = LogMark(from: &cursor),
            cursor.integer(UInt64.self) == folder.id,
            cursor.integer(UInt32.self) == CRC32C.sum(bytes[..<80])
        else { throw .damage(LogDamage(file: name, offset: 0, fault: .unreadableHeader)) }
        return mark
    }

    /// Puts a mark in place of the one before, durably and at once whole. The local log must be synced up to it before.
    static func write(_ mark: LogMark, to folder: DataFolder) throws(LogError) {
        var bytes = magic
        bytes.append(littleEndian: format)
        bytes += mark.encoded
        bytes.append(littleEndian: folder.id)
        bytes.append(littleEndian: CRC32C.sum(bytes[...]))
        let storage = folder.storage
        let file = try storage.create(draft)
        defer { file.close() }
        try bytes.withUnsafeBufferPointer { buffer throws(LogError) in
            try file.write(UnsafeRawBufferPointer(buffer), at: 0)
        }
        try file.sync()
        try storage.rename(draft, to: name)
        try storage.syncFolder("")
    }
}

extension LogMark {
    /// Its 64 bytes in a mark file.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        for number in [sequence, epoch, commit, logID] { bytes.append(littleEndian: number) }
        return bytes + chain.bytes
    }

    /// Reads them; nil when there are fewer.
    init?(from cursor: inout ByteCursor) {
        guard let sequence = cursor.integer(UInt64.self), let epoch = cursor.integer(UInt64.self),
            let commit = cursor.integer(UInt64.self), let logID = cursor.integer(UInt64.self),
            let chain = cursor.run(LogChain.byteCount)
        else { return nil }
        self.init(
            sequence: sequence,
            epoch: epoch,
            commit: commit,
            chain: LogChain(chain),
            logID: logID
        )
    }

    /// As a header says it: base64url of its bytes.
    var text: String { Base64.encode(encoded, .url) }

    /// Reads a header; nil for anything else.
    init?(text: String) {
        guard let bytes = Base64.decodeURL(text.utf8) else { return nil }
        var cursor = ByteCursor(bytes)
        self.init(from: &cursor)
        guard cursor.isAtEnd else { return nil }
    }
}
