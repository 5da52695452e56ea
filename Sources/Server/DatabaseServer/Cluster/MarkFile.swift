import ClusterLog
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
    private static let magic = Array("RTMK".utf8)
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
        guard count == byteCount, bytes.starts(with: magic), word(bytes, at: 4, 4) == 1,
            word(bytes, at: 72) == folder.id,
            word(bytes, at: 80, 4) == checksum(bytes[..<80])
        else { throw .damage(LogDamage(file: name, offset: 0, fault: .unreadableHeader)) }
        return LogMark(
            sequence: word(bytes, at: 8),
            epoch: word(bytes, at: 16),
            commit: word(bytes, at: 24),
            chain: LogChain(bytes[40..<72]),
            logID: word(bytes, at: 32)
        )
    }

    /// Puts a mark in place of the one before, durably and at once whole. The local log must be synced up to it before.
    static func write(_ mark: LogMark, to folder: DataFolder) throws(LogError) {
        var bytes = magic
        append(1, 4, to: &bytes)
        for number in [mark.sequence, mark.epoch, mark.commit, mark.logID] {
            append(number, to: &bytes)
        }
        bytes += mark.chain.bytes
        append(folder.id, to: &bytes)
        append(checksum(bytes[...]), 4, to: &bytes)
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

    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        UInt64(bytes.withUnsafeBytes { CRC32C.update(0, $0) })
    }

    private static func append(_ number: UInt64, _ count: Int = 8, to bytes: inout [UInt8]) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
    }

    private static func word(_ bytes: [UInt8], at offset: Int, _ count: Int = 8) -> UInt64 {
        (0..<count).reduce(0) { $0 | UInt64(bytes[offset + $1]) << (8 * $1) }
    }
}
