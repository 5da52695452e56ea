/// Where a log ended when it was closed in good order: the file `log/closed`, five lines of text.
///
///     hearth closed log
///     format 1
///     segment 00000000000000000001    the last segment, by the position in its name
///     bytes 312                       of that segment, its seal included
///     position 4                      the last record
///     crc32c 89abcdef                 over the lines above, from the salt of the folder
///
/// It counts as long as no later segment exists, so the next run takes it back by making its first
/// segment, whose name is durable before its first record; the file itself is removed after that. No
/// crash can therefore leave a log that goes on beside a file that says where it ends.
struct ClosedEnd: Equatable {
    static let version: UInt32 = 1
    private static let title = "hearth closed log"

    /// The last segment.
    var segment: LogPosition
    /// Bytes of that segment, all of them intact.
    var byteCount: UInt64
    /// The last record.
    var position: LogPosition

    /// The text of the file.
    func text(folderID: UInt64) -> [UInt8] {
        CheckedText.text(
            [
                Self.title, "format \(Self.version)", "segment \(FolderLayout.digits(segment))",
                "bytes \(byteCount)", "position \(position)",
            ],
            salt: Self.salt(folderID),
        )
    }

    /// Reads the file of a folder; nil when there is none.
    ///
    /// Throws: `damage`; `unknownFormat`; `disk`.
    static func read(
        _ storage: any LogStorage,
        folderID: UInt64
    ) throws(LogError) -> ClosedEnd? {
        guard let file = try storage.open(FolderLayout.closed) else { return nil }
        let window = try WindowReader(file, chunk: 256)
        defer { window.close() }
        let bytes = Array(try window.bytes(at: 0, count: 256))
        guard
            let lines = try CheckedText.lines(
                of: bytes,
                salt: salt(folderID),
                title: title,
                version: version,
                file: FolderLayout.closed,
            ),
            lines.count == 3,
            let segment = CheckedText.number(after: "segment ", in: lines[0], radix: 10),
            let byteCount = CheckedText.number(after: "bytes ", in: lines[1], radix: 10),
            let position = CheckedText.number(after: "position ", in: lines[2], radix: 10)
        else {
            let fault = LogDamage.Fault.unreadableHeader
            throw .damage(LogDamage(file: FolderLayout.closed, offset: 0, fault: fault))
        }
        return ClosedEnd(
            segment: LogPosition(segment),
            byteCount: byteCount,
            position: LogPosition(position),
        )
    }

    /// Makes the file, durably and at once whole. The segment must be durable up to its end before.
    func write(to storage: any LogStorage, folderID: UInt64) throws(LogError) {
        let file = try storage.create(FolderLayout.closedDraft)
        try file.write(text(folderID: folderID), at: 0)
        try file.sync()
        file.close()
        try storage.rename(FolderLayout.closedDraft, to: FolderLayout.closed)
        try storage.syncFolder(FolderLayout.log)
    }

    private static func salt(_ folderID: UInt64) -> UInt32 {
        checksumSalt(folderID: folderID, position: .start)
    }
}

/// Small files of text whose last line is a checksum of the lines above.
///
///     title
///     format 1
///     ...
///     crc32c 89abcdef    8 hex digits
enum CheckedText {
    static func text(_ lines: [String], salt: UInt32) -> [UInt8] {
        let body = lines.map { "\($0)\n" }.joined()
        let checksum = Array(body.utf8).withUnsafeBytes { CRC32C.update(salt, $0) }
        return Array("\(body)crc32c \(hex(UInt64(checksum), digits: 8))\n".utf8)
    }

    /// The lines between version and checksum; nil when title, checksum or version are not right.
    ///
    /// Throws: `unknownFormat` for an intact file of another version.
    static func lines(
        of bytes: [UInt8],
        salt: UInt32,
        title: String,
        version: UInt32,
        file: String
    ) throws(LogError) -> [ArraySlice<UInt8>]? {
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        guard lines.count >= 4, lines.last?.isEmpty == true else { return nil }
        let checksumLine = lines[lines.count - 2]
        let body = bytes[..<checksumLine.startIndex]
        let checksum = Array(body).withUnsafeBytes { CRC32C.update(salt, $0) }
        guard checksumLine.elementsEqual("crc32c \(hex(UInt64(checksum), digits: 8))".utf8) else {
            return nil
        }
        guard lines[0].elementsEqual(title.utf8) else { return nil }
        guard let found = number(after: "format ", in: lines[1], radix: 10) else { return nil }
        guard found == UInt64(version) else {
            throw .unknownFormat(file: file, found: UInt32(clamping: found), known: version)
        }
        return Array(lines[2..<lines.count - 2])
    }

    /// The number that follows a word in a line; nil when anything else stands there.
    static func number(after word: String, in line: ArraySlice<UInt8>, radix: Int) -> UInt64? {
        guard line.starts(with: word.utf8) else { return nil }
        return UInt64(
            String(decoding: line.dropFirst(word.utf8.count), as: UTF8.self),
            radix: radix
        )
    }

    static func hex(_ value: UInt64, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
