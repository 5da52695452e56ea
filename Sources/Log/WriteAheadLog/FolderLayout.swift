/// Names inside a data folder.
///
///     LOCK                            flock; the holder's pid as text
///     FORMAT                          version and id of the folder, see FormatFile
///     log/00000000000000000001.log    segment, named by the position of its first record
///     log/spare                       the next segment, preallocated, still nameless
///     log/closed                      where the log ended when it was closed, see ClosedEnd
///     checkpoints/0000...0017/        checkpoint at position 17: `data`, `manifest`
///     checkpoints/0000...0042.partial being written, or left by a crash: removed at start
///     checkpoints/0000...0003.dropped on its way out, or left by a crash: removed at start
///     checkpoints/0000...0009.damaged put aside by a start that fell back to the one before
///
/// Positions are written with 20 digits, so names sort as positions do.
enum FolderLayout {
    static let lock = "LOCK"
    static let format = "FORMAT"
    static let formatDraft = "FORMAT.partial"
    static let log = "log"
    static let spare = "log/spare"
    static let closed = "log/closed"
    static let closedDraft = "log/closed.partial"
    static let checkpoints = "checkpoints"
    static let partialSuffix = ".partial"
    static let droppedSuffix = ".dropped"
    static let damagedSuffix = ".damaged"

    static func segment(_ first: LogPosition) -> String { "log/\(digits(first)).log" }

    static func checkpoint(_ position: LogPosition, _ suffix: String = "") -> String {
        "checkpoints/\(digits(position))\(suffix)"
    }

    static func data(in checkpoint: String) -> String { "\(checkpoint)/data" }

    static func manifest(in checkpoint: String) -> String { "\(checkpoint)/manifest" }

    /// The first positions of all segments, ascending; other names are left out.
    static func segments(in storage: any LogStorage) throws(LogError) -> [LogPosition] {
        try storage.list(log).compactMap { name in
            name.hasSuffix(".log") ? position(name.dropLast(4)) : nil
        }
    }

    /// The positions of all finished checkpoints, ascending; other names are left out.
    static func checkpoints(in storage: any LogStorage) throws(LogError) -> [LogPosition] {
        try storage.list(checkpoints).compactMap { position($0[...]) }
    }

    /// Whether a folder has segments or finished checkpoints.
    static func hasContent(in storage: any LogStorage) throws(LogError) -> Bool {
        let hasLog = try !segments(in: storage).isEmpty
        let hasCheckpoints = try !checkpoints(in: storage).isEmpty
        return hasLog || hasCheckpoints
    }

    /// The position that exactly 20 digits name.
    private static func position(_ digits: Substring) -> LogPosition? {
        guard digits.utf8.count == 20 else { return nil }
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt64(digits).map { LogPosition($0) }
    }

    /// A position as names carry it.
    static func digits(_ position: LogPosition) -> String {
        let text = String(position.value)
        return String(repeating: "0", count: 20 - text.utf8.count) + text
    }
}

/// The FORMAT file: four lines of text.
///
///     hearth data folder
///     format 1
///     id 0123456789abcdef         16 hex digits, random, made once
///     crc32c 89abcdef             8 hex digits, over the three lines above
///
/// The id seeds the checksums of all other files. A client does not know it, so it cannot send a payload that a search
/// for the next intact record would take for one; and a file of another folder is never taken for one of this folder.
enum FormatFile {
    static let version: UInt32 = 1

    private static let title = "hearth data folder"

    static func text(id: UInt64) -> [UInt8] {
        let lines = [title, "format \(version)", "id \(CheckedText.hex(id, digits: 16))"]
        return CheckedText.text(lines, salt: 0)
    }

    /// The id in a file's bytes.
    ///
    /// Throws: `damage`, or `unknownFormat` for an intact file of another version.
    static func id(in bytes: [UInt8]) throws(LogError) -> UInt64 {
        try CheckedText.numbers(
            ["id "],
            radix: 16,
            in: bytes,
            salt: 0,
            title: title,
            version: version,
            file: FolderLayout.format,
        )[0]
    }
}
