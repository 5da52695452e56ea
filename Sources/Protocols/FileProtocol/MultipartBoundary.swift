/// The boundary of a multipart body, from the header `Content-Type`.
enum MultipartBoundary {
    /// Whether a type is `multipart/related`.
    static func isRelated(_ type: String?) -> Bool {
        guard let type else { return false }
        return mediaType(type) == "multipart/related"
    }

    /// The type alone, in lower case.
    private static func mediaType(_ header: String) -> String {
        let type = header.prefix { $0 != ";" }
        return String(type.filter { $0 != " " && $0 != "\t" }).lowercased()
    }

    /// The boundary that a head names for a body of this type.
    ///
    /// - Throws: `FileFault` (400) in the words of the official emulator.
    static func of(_ head: FileRequestHead, _ type: String) throws(FileFault) -> [UInt8] {
        let header = head.header("content-type") ?? ""
        let fault = FileFault.plain("Bad content type. \(header)")
        guard mediaType(header) == type, let text = parameter("boundary", of: header) else {
            throw fault
        }
        let bytes = Array(text.utf8)
        guard FileProtocolLimits.boundaryByteCount.contains(bytes.count),
            bytes.allSatisfy({ (0x20...0x7E).contains($0) }), bytes.last != 0x20
        else { throw fault }
        return bytes
    }

    /// The value of a parameter, bare or in quotes, double or single; nil when it is not there.
    private static func parameter(_ name: String, of header: String) -> String? {
        var rest = Array(header.utf8)[...]
        while let mark = rest.firstIndex(of: UInt8(ascii: ";")) {
            rest = rest[(mark + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
            guard let equals = rest.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let found = String(decoding: rest[..<equals], as: UTF8.self).lowercased()
            rest = rest[(equals + 1)...]
            let value: ArraySlice<UInt8>
            if let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                rest = rest.dropFirst()
                guard let end = rest.firstIndex(of: quote) else { return nil }
                value = rest[..<end]
                rest = rest[(end + 1)...]
            } else {
                value = rest.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }
                rest = rest[value.endIndex...]
            }
            if found == name { return String(decoding: value, as: UTF8.self) }
        }
        return nil
    }
}

/// Looks for a text in bytes that come in parts: Knuth, Morris and Pratt.
///
///     pattern   CR LF - - X          state: how many of its bytes the last bytes are
///     bytes     a CR CR LF - - X
///     state     0  1  1  2 3 4 5     found
struct DelimiterSearch: Sendable {
    let pattern: [UInt8]
    /// By how many bytes match: how many still do when the next one does not.
    private let fallback: [Int]
    /// How many bytes of the pattern the last bytes are.
    var matchCount = 0

    init(_ pattern: [UInt8]) {
        self.pattern = pattern
        var fallback = [0, 0]
        var length = 0
        for index in pattern.indices.dropFirst() {
            while length > 0, pattern[index] != pattern[length] { length = fallback[length] }
            if pattern[index] == pattern[length] { length += 1 }
            fallback.append(length)
        }
        self.fallback = fallback
    }

    /// Takes the next byte; whether the pattern ends with it.
    mutating func isFound(_ byte: UInt8) -> Bool {
        while matchCount > 0, matchCount == pattern.count || pattern[matchCount] != byte {
            matchCount = fallback[matchCount]
        }
        if pattern[matchCount] == byte { matchCount += 1 }
        return matchCount == pattern.count
    }
}
