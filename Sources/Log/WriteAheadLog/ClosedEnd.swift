/// The end of a log that was closed cleanly: the file `log/closed`, five lines of text.
///
///     hearth closed log
///     format 1
///     segment 00000000000000000001    the last segment, by the position in its name
///     bytes 312                       of that segment, its seal included
///     position 4                      the last record
///     crc32c 89abcdef                 over the lines above, from the salt of the folder
///
/// It is valid while no later segment exists, so the next run invalidates it by making its first
/// segment, whose name is durable before its first record; the file itself is removed after that.
/// So no crash leaves a valid end beside a log that continued.
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
    static func read(_ folder: LogFolder) throws(LogError) -> ClosedEnd? {
        guard let file = try folder.storage.open(FolderLayout.closed) else { return nil }
        let window = try WindowReader(file, chunk: 256)
        defer { window.close() }
        let numbers = try CheckedText.numbers(
            ["segment ", "bytes ", "position "],
            in: Array(try window.bytes(at: 0, count: 256)),
            salt: salt(folder.id),
            title: title,
            version: version,
            file: FolderLayout.closed,
        )
        return ClosedEnd(
            segment: LogPosition(numbers[0]),
            byteCount: numbers[1],
            position: LogPosition(numbers[2]),
        )
    }

    /// Makes the file, durably and at once whole. The segment must be durable up to its end before.
    func write(to folder: LogFolder) throws(LogError) {
        let storage = folder.storage
        let file = try storage.create(FolderLayout.closedDraft)
        try file.write(text(folderID: folder.id), at: 0)
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

    /// The numbers behind these words, which begin the lines between version and checksum.
    ///
    /// Throws: `damage` for any other text; `unknownFormat` for an intact file of another version.
    static func numbers(
        _ words: [String],
        radix: Int = 10,
        in bytes: [UInt8],
        salt: UInt32,
        title: String,
        version: UInt32,
        file: String
    ) throws(LogError) -> [UInt64] {
        let damage = LogError.damage(LogDamage(file: file, offset: 0, fault: .unreadableHeader))
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        guard lines.count >= 4, lines.last?.isEmpty == true else { throw damage }
        let checksumLine = lines[lines.count - 2]
        let body = Array(bytes[..<checksumLine.startIndex])
        let checksum = UInt64(body.withUnsafeBytes { CRC32C.update(salt, $0) })
        guard checksumLine.elementsEqual("crc32c \(hex(checksum, digits: 8))".utf8),
            lines[0].elementsEqual(title.utf8),
            let found = number(after: "format ", in: lines[1], radix: 10)
        else { throw damage }
        guard found == UInt64(version) else {
            throw .unknownFormat(file: file, found: UInt32(clamping: found), known: version)
        }
        let numbers = zip(words, lines[2...]).compactMap { word, line in
            number(after: word, in: line, radix: radix)
        }
        guard numbers.count == words.count, lines.count == words.count + 4 else { throw damage }
        return numbers
    }

    /// The number that follows a word in a line; nil for any other text.
    private static func number(
        after word: String,
        in line: ArraySlice<UInt8>,
        radix: Int
    ) -> UInt64? {
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
