/// The target of a request line, taken apart.
struct RequestTarget: Sendable {
    /// All of it, as a range in the head's bytes.
    let raw: Range<Int>
    let segments: [String]
    let parameters: [(name: String, value: String)]
    /// The authority of an absolute target (`http://host:port/path`); the Host header must repeat it.
    let authority: String?
    /// Whether this is `*`: the server itself, not a resource.
    let isAsterisk: Bool

    /// Reads `/path?query`, `http://authority/path?query`, or `*`.
    ///
    /// Paths are split at `/` first and percent-decoded after, so `%2F` is no separator, and must
    /// decode to UTF-8. In the query a `%` without two hex digits is a plain `%`, since the
    /// Firebase JS SDK does not encode the values it sends.
    ///
    /// - Throws: `RequestFault` for a target that is not one of these, or does not decode.
    init(_ bytes: [UInt8], _ range: Range<Int>) throws(RequestFault) {
        var isASCII = true
        for index in range {
            let byte = bytes[index]
            if byte <= 0x20 || byte == 0x7f || byte == UInt8(ascii: "#") { throw .badTarget }
            if byte >= 0x80 { isASCII = false }
        }
        if !isASCII {
            guard String(validating: bytes[range], as: UTF8.self) != nil else { throw .badTarget }
        }
        raw = range
        isAsterisk = range.count == 1 && bytes[range.lowerBound] == UInt8(ascii: "*")
        let (authority, rest) = try Self.splitAuthority(bytes, range)
        self.authority = authority
        let mark = Self.find(UInt8(ascii: "?"), bytes, rest)
        segments = isAsterisk ? [] : try Self.decodePath(bytes, rest.lowerBound..<mark)
        parameters =
            mark < rest.upperBound ? try Self.decodeQuery(bytes, mark + 1..<rest.upperBound) : []
    }

    private static func splitAuthority(
        _ bytes: [UInt8],
        _ range: Range<Int>
    ) throws(RequestFault) -> (String?, Range<Int>) {
        let first = bytes[range.lowerBound]
        if first == UInt8(ascii: "/") || first == UInt8(ascii: "*") && range.count == 1 {
            return (nil, range)
        }
        for scheme in ["http://", "https://"] {
            let end = range.lowerBound + scheme.utf8.count
            guard end <= range.upperBound,
                equalsIgnoringCase(bytes, range.lowerBound..<end, scheme)
            else { continue }
            let rest = end..<range.upperBound
            let slash = find(UInt8(ascii: "/"), bytes, rest)
            let authorityEnd = min(slash, find(UInt8(ascii: "?"), bytes, rest))
            guard authorityEnd > end else { throw .badTarget }
            let authority = String(decoding: bytes[end..<authorityEnd], as: UTF8.self)
            return (authority, authorityEnd..<range.upperBound)
        }
        throw .badTarget
    }

    private static func decodePath(
        _ bytes: [UInt8],
        _ range: Range<Int>
    ) throws(RequestFault) -> [String] {
        var segments: [String] = []
        var start = range.lowerBound
        while start < range.upperBound {
            let end = find(UInt8(ascii: "/"), bytes, start..<range.upperBound)
            if end > start {
                guard let text = decode(bytes, start..<end, isQuery: false) else {
                    throw .badPath
                }
                segments.append(text)
            }
            start = end + 1
        }
        return segments
    }

    private static func decodeQuery(
        _ bytes: [UInt8],
        _ range: Range<Int>
    ) throws(RequestFault) -> [(name: String, value: String)] {
        var parameters: [(name: String, value: String)] = []
        var start = range.lowerBound
        while start < range.upperBound {
            let end = find(UInt8(ascii: "&"), bytes, start..<range.upperBound)
            if end > start {
                let equals = find(UInt8(ascii: "="), bytes, start..<end)
                guard let name = decode(bytes, start..<equals, isQuery: true),
                    let value = decode(bytes, min(equals + 1, end)..<end, isQuery: true)
                else { throw .badTarget }
                parameters.append((name, value))
            }
            start = end + 1
        }
        return parameters
    }

    /// The first index of a byte; the end of the range if there is none.
    private static func find(_ byte: UInt8, _ bytes: [UInt8], _ range: Range<Int>) -> Int {
        var index = range.lowerBound
        while index < range.upperBound, bytes[index] != byte { index += 1 }
        return index
    }

    /// Replaces `%XX` by its byte, and in a query `+` by a space.
    ///
    /// Nil for a bad `%` in a path, and for bytes that are not UTF-8.
    private static func decode(_ bytes: [UInt8], _ range: Range<Int>, isQuery: Bool) -> String? {
        let isPlain = bytes[range].allSatisfy {
            $0 != UInt8(ascii: "%") && ($0 != UInt8(ascii: "+") || !isQuery)
        }
        // The whole target was found to be UTF-8, and parts are cut at ASCII.
        if isPlain { return String(decoding: bytes[range], as: UTF8.self) }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "%") {
                if index + 1 < range.upperBound, let high = hexValue(bytes[index]),
                    let low = hexValue(bytes[index + 1])
                {
                    decoded.append(high << 4 | low)
                    index += 2
                    continue
                }
                guard isQuery else { return nil }
            }
            decoded.append(isQuery && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        }
        return String(validating: decoded, as: UTF8.self)
    }
}

func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}
