/// The target of a request line, taken apart.
struct RequestTarget {
    let raw: String
    let path: String
    let segments: [String]
    let query: String?
    let parameters: [(name: String, value: String)]
    /// The authority of an absolute target (`http://host:port/path`), which outranks Host.
    let authority: String?

    /// Reads `/path?query`, `http://authority/path?query`, or `*`.
    ///
    /// Paths are split at `/` first and percent-decoded after, so `%2F` is no separator, and must
    /// decode to UTF-8. In the query a `%` without two hex digits is a plain `%`, since the
    /// Firebase JS SDK does not encode the values it sends.
    ///
    /// - Throws: `RequestFault` for a target that is not one of these, or does not decode.
    init(_ bytes: ArraySlice<UInt8>) throws(RequestFault) {
        for byte in bytes where byte <= 0x20 || byte == 0x7f || byte == UInt8(ascii: "#") {
            throw .badTarget
        }
        guard let raw = String(validating: bytes, as: UTF8.self) else { throw .badTarget }
        self.raw = raw
        let (authority, rest) = try Self.splitAuthority(bytes)
        self.authority = authority
        let mark = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        let pathBytes = rest[..<mark]
        path = String(decoding: pathBytes, as: UTF8.self)
        segments = path == "*" ? [] : try Self.decodePath(pathBytes)
        guard mark < rest.endIndex else {
            query = nil
            parameters = []
            return
        }
        let queryBytes = rest[(mark + 1)...]
        query = String(decoding: queryBytes, as: UTF8.self)
        parameters = try Self.decodeQuery(queryBytes)
    }

    private static func splitAuthority(
        _ bytes: ArraySlice<UInt8>
    ) throws(RequestFault) -> (String?, ArraySlice<UInt8>) {
        if bytes.first == UInt8(ascii: "/") || bytes.elementsEqual([UInt8(ascii: "*")]) {
            return (nil, bytes)
        }
        for scheme in ["http://", "https://"] {
            let prefix = Array(scheme.utf8)
            guard equalsIgnoringCase(bytes.prefix(prefix.count), prefix) else { continue }
            let rest = bytes.dropFirst(prefix.count)
            let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
            let authority = rest[..<(end ?? rest.endIndex)]
            guard !authority.isEmpty else { throw .badTarget }
            return (String(decoding: authority, as: UTF8.self), rest[(end ?? rest.endIndex)...])
        }
        throw .badTarget
    }

    private static func decodePath(_ bytes: ArraySlice<UInt8>) throws(RequestFault) -> [String] {
        var segments: [String] = []
        for piece in bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: true) {
            guard let decoded = decodePercent(piece, isQuery: false) else { throw .badTarget }
            guard let text = String(validating: decoded, as: UTF8.self) else { throw .badTarget }
            segments.append(text)
        }
        return segments
    }

    private static func decodeQuery(
        _ bytes: ArraySlice<UInt8>
    ) throws(RequestFault) -> [(name: String, value: String)] {
        var parameters: [(name: String, value: String)] = []
        for piece in bytes.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: true) {
            let equals = piece.firstIndex(of: UInt8(ascii: "=")) ?? piece.endIndex
            let value = equals < piece.endIndex ? piece[(equals + 1)...] : []
            guard
                let name = decodePercent(piece[..<equals], isQuery: true),
                let decoded = decodePercent(value, isQuery: true),
                let nameText = String(validating: name, as: UTF8.self),
                let valueText = String(validating: decoded, as: UTF8.self)
            else { throw .badTarget }
            parameters.append((nameText, valueText))
        }
        return parameters
    }

    /// Replaces `%XX` by its byte, and in a query `+` by a space. Nil for a bad `%` in a path.
    private static func decodePercent(_ bytes: ArraySlice<UInt8>, isQuery: Bool) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "%") {
                if index + 1 < bytes.endIndex, let high = hexValue(bytes[index]),
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
        return decoded
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
