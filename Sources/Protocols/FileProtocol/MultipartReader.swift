/// Reads an upload that has metadata and bytes in one body, which comes in parts of any sizes.
///
///     --X CRLF
///     Content-Type: application/json CRLF CRLF
///     {"contentType":"text/plain"} CRLF
///     --X CRLF
///     Content-Type: text/plain CRLF CRLF
///     the bytes CRLF
///     --X--
///
/// One pass. The bytes of the object are not copied: they are ranges of what was fed, and a few that began like the boundary
/// and were none. What is kept is bounded by the limits of the metadata, of a part's headers and of the boundary.
package struct MultipartReader: Sendable {
    /// What was found.
    package enum Event: Sendable, Equatable {
        /// The first part.
        case metadata([UInt8])
        /// The second part begins, of this type.
        case content(type: String)
        /// Bytes of the object, which lie in what was fed last.
        case bytes(Range<Int>)
        /// Bytes of the object that were fed before: at most a boundary of them.
        case keptBytes([UInt8])
        /// The body is whole.
        case end
    }

    private enum State { case preamble, delimiter, head, metadata, content, end }

    private var search: DelimiterSearch
    private var state = State.preamble
    /// What is kept of the part that is being read: the line behind a boundary, headers, or metadata.
    private var kept: [UInt8] = []
    private var partCount = 0

    /// Reads a body with this boundary.
    package init(boundary: [UInt8]) {
        search = DelimiterSearch([0x0D, 0x0A, 0x2D, 0x2D] + boundary)
        // The first boundary needs no line end before it.
        search.matchCount = 2
    }

    /// Takes the next bytes of the body.
    ///
    /// - Throws: `FileFault` (400), also after bytes of the object were handed out.
    package mutating func feed(_ bytes: [UInt8]) throws(FileFault) -> [Event] {
        var events: [Event] = []
        var index = 0
        while index < bytes.count {
            switch state {
            case .preamble, .metadata: try keep(bytes, &index, &events)
            case .delimiter: try readDelimiter(bytes[index], &events, &index)
            case .head: try readHead(bytes[index], &events, &index)
            case .content: readContent(bytes, &index, &events)
            // What follows the last boundary does not count.
            case .end: return events
            }
        }
        return events
    }

    /// The body has ended.
    ///
    /// - Throws: `FileFault` (400) when its last boundary was missing.
    package func finish() throws(FileFault) {
        if state != .end { throw Self.partFault }
    }

    private static let partFault = FileFault.plain("Unexpected number of parts in request body")

    private static let typeFault = FileFault.plain(
        "Failed to parse multipart request body part. Missing content type."
    )

    /// Reads bytes up to a boundary, and keeps those of metadata.
    private mutating func keep(
        _ bytes: [UInt8],
        _ index: inout Int,
        _ events: inout [Event]
    ) throws(FileFault) {
        let limit = FileProtocolLimits.metadataByteCount + search.pattern.count
        while index < bytes.count {
            let isFound = search.isFound(bytes[index])
            if state == .metadata { kept.append(bytes[index]) }
            index += 1
            if kept.count > limit {
                throw FileFault(
                    400,
                    "The metadata must have at most \(FileProtocolLimits.metadataByteCount) bytes."
                )
            }
            if isFound {
                if state == .metadata {
                    kept.removeLast(min(kept.count, search.pattern.count))
                    events.append(.metadata(kept))
                }
                enter(.delimiter)
                return
            }
        }
    }

    /// Reads what stands behind a boundary: `--` at the last one, else blanks and the end of the line.
    private mutating func readDelimiter(
        _ byte: UInt8,
        _ events: inout [Event],
        _ index: inout Int
    ) throws(FileFault) {
        index += 1
        kept.append(byte)
        if kept == [0x2D, 0x2D] {
            guard partCount == 2 else { throw Self.partFault }
            events.append(.end)
            return enter(.end)
        }
        if kept[0] != 0x2D, kept.suffix(2) == [0x0D, 0x0A] {
            guard partCount < 2 else { throw Self.partFault }
            return enter(.head)
        }
        let isBlank = byte == 0x20 || byte == 0x09 || byte == 0x0D
        guard kept == [0x2D] || isBlank && kept[0] != 0x2D,
            kept.count <= FileProtocolLimits.partHeadByteCount
        else {
            throw FileFault(400, "A boundary of the body must be followed by the end of the line.")
        }
    }

    /// Reads the headers of a part, up to the empty line.
    private mutating func readHead(
        _ byte: UInt8,
        _ events: inout [Event],
        _ index: inout Int
    ) throws(FileFault) {
        index += 1
        kept.append(byte)
        guard kept.count <= FileProtocolLimits.partHeadByteCount else {
            throw FileFault(400, "The headers of a part of the body are too long.")
        }
        guard byte == 0x0A, kept.suffix(4) == [0x0D, 0x0A, 0x0D, 0x0A] || kept == [0x0D, 0x0A]
        else { return }
        guard let type = PartHead.value("content-type", kept) else { throw Self.typeFault }
        partCount += 1
        if partCount == 2 { events.append(.content(type: type)) }
        enter(partCount == 1 ? .metadata : .content)
    }

    /// Hands out bytes of the object up to a boundary, or to the end of what was fed.
    private mutating func readContent(
        _ bytes: [UInt8],
        _ index: inout Int,
        _ events: inout [Event]
    ) {
        // Bytes of earlier feeds that began like the boundary: they are a part of its text.
        let keptCount = search.matchCount
        let start = index
        var isFound = false
        while index < bytes.count, !isFound {
            if search.matchCount > 0 || bytes[index] == search.pattern[0] {
                isFound = search.isFound(bytes[index])
            }
            index += 1
        }
        // Where the bytes end that are known to be the object's; before `start` while some of the kept ones are not.
        let end = index - search.matchCount
        let known = min(keptCount, end - start + keptCount)
        if known > 0 { events.append(.keptBytes(Array(search.pattern[..<known]))) }
        if end > start { events.append(.bytes(start..<end)) }
        if isFound { enter(.delimiter) }
    }

    private mutating func enter(_ next: State) {
        state = next
        kept = []
        search.matchCount = 0
    }
}

/// The headers of one part.
enum PartHead {
    /// The value of a header, whose name is written in lower case; nil when it is not there or empty.
    static func value(_ name: String, _ head: [UInt8]) -> String? {
        for line in head.split(separator: 0x0A) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let found = String(decoding: line[..<colon], as: UTF8.self)
            guard FileRequestHead.isEqual(found, name) else { continue }
            let blank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
            var value = line[(colon + 1)...].drop(while: blank)
            while let last = value.last, blank(last) { value = value.dropLast() }
            return value.isEmpty ? nil : String(decoding: value, as: UTF8.self)
        }
        return nil
    }
}
