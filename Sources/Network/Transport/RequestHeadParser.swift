/// Reads a request head (RFC 9112), strictly: refuses a head that two parsers could read differently.
package enum RequestHeadParser {
    /// What the request line says beside its target.
    package struct Line: Sendable {
        let method: String
        let isHTTP10: Bool
    }

    /// Everything a `RequestHead` needs to know.
    package struct Parts: Sendable {
        let bytes: [UInt8]
        let fields: [RequestHead.Field]
        let line: Line
        let target: RequestTarget
        let host: String
        let framing: BodyFraming
        let keepsAlive: Bool
        let expectsContinue: Bool
        let isWebSocketUpgrade: Bool
    }

    private static let methods = ["GET", "PUT", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS"]

    /// Finds the end of a head that begins at `start`, looking only at bytes from `from` on.
    ///
    /// - Returns: the offset after the empty line, or nil when there is none yet.
    /// - Throws: `RequestFault.bareLineFeed` for a line feed without its carriage return.
    package static func findEnd(
        of bytes: [UInt8],
        start: Int,
        from: Int
    ) throws(RequestFault) -> Int? {
        var index = max(start, from)
        while index < bytes.count {
            guard bytes[index] == 0x0a else {
                index += 1
                continue
            }
            guard index > start, bytes[index - 1] == 0x0d else { throw .bareLineFeed }
            if index >= start + 3, bytes[index - 2] == 0x0a { return index + 1 }
            index += 1
        }
        return nil
    }

    /// Parses a whole head, its empty line included.
    package static func parse(
        _ bytes: [UInt8],
        limits: TransportLimits
    ) throws(RequestFault) -> Parts {
        guard let lineEnd = bytes.firstIndex(of: 0x0d), bytes[lineEnd + 1] == 0x0a else {
            throw .badRequestLine
        }
        let (line, target) = try parseLine(bytes, lineEnd)
        var headers = FramingHeaders(bytes)
        let fields = try parseFields(bytes, from: lineEnd + 2, limits.headerCount, &headers)
        return Parts(
            bytes: bytes,
            fields: fields,
            line: line,
            target: target,
            host: try headers.host(line, target),
            framing: try headers.framing(line),
            keepsAlive: headers.keepsAlive(line),
            expectsContinue: try headers.expectsContinue(line),
            isWebSocketUpgrade: headers.isWebSocketUpgrade
        )
    }

    private static func parseLine(
        _ bytes: [UInt8],
        _ lineEnd: Int
    ) throws(RequestFault) -> (Line, RequestTarget) {
        var methodEnd = 0
        while isTokenByte(bytes[methodEnd]) { methodEnd += 1 }
        guard methodEnd > 0, bytes[methodEnd] == 0x20 else { throw .badRequestLine }
        var targetEnd = methodEnd + 1
        while targetEnd < lineEnd, bytes[targetEnd] != 0x20 { targetEnd += 1 }
        let versionStart = targetEnd + 1
        guard targetEnd < lineEnd, !bytes[versionStart..<lineEnd].contains(0x20) else {
            throw .badRequestLine
        }
        let version = String(decoding: bytes[versionStart..<lineEnd], as: UTF8.self)
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
            throw version.hasPrefix("HTTP/") ? .unsupportedVersion : .badRequestLine
        }
        let method = String(decoding: bytes[..<methodEnd], as: UTF8.self)
        guard methods.contains(method) else {
            throw method == "CONNECT" || method == "TRACE" ? .methodNotAllowed : .unknownMethod
        }
        let target = try RequestTarget(bytes, methodEnd + 1..<targetEnd)
        guard !target.isAsterisk || method == "OPTIONS" else { throw .badTarget }
        return (Line(method: method, isHTTP10: version == "HTTP/1.0"), target)
    }

    private static func parseFields(
        _ bytes: [UInt8],
        from start: Int,
        _ limit: Int,
        _ headers: inout FramingHeaders
    ) throws(RequestFault) -> [RequestHead.Field] {
        var fields: [RequestHead.Field] = []
        var index = start
        // The head ends with an empty line, so every line has its CR LF.
        while bytes[index] != 0x0d {
            guard fields.count < limit else { throw .tooManyHeaders(limit: limit) }
            let number = fields.count + 1
            let nameStart = index
            while isTokenByte(bytes[index]) { index += 1 }
            guard index > nameStart, bytes[index] == UInt8(ascii: ":") else {
                throw .badHeader(line: number)
            }
            let name = nameStart..<index
            index += 1
            let valueStart = index
            while bytes[index] != 0x0d {
                guard bytes[index] >= 0x20 && bytes[index] != 0x7f || bytes[index] == 0x09 else {
                    throw .badHeader(line: number)
                }
                index += 1
            }
            guard bytes[index + 1] == 0x0a else { throw .badHeader(line: number) }
            let value = trim(bytes, valueStart..<index)
            fields.append(.init(name: name, value: value))
            headers.note(name, value)
            index += 2
        }
        guard index + 2 == bytes.count else { throw .badHeader(line: fields.count + 1) }
        return fields
    }

    /// A range without the blanks around it.
    static func trim(_ bytes: [UInt8], _ range: Range<Int>) -> Range<Int> {
        var start = range.lowerBound
        var end = range.upperBound
        while start < end, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
        while end > start, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
        return start..<end
    }

    /// The token characters of RFC 9110, section 5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"), UInt8(ascii: "*"),
            UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "^")...UInt8(ascii: "`"),
            UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
