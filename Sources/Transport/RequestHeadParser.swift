/// Reads a request head (RFC 9112), strictly: what two parsers could read differently is refused.
enum RequestHeadParser {
    struct Line {
        let method: String
        let isHTTP10: Bool
    }

    /// Everything a `RequestHead` needs to know.
    struct Parts {
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

    private static let methods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS",
    ]

    /// Finds the end of a head that begins at `start`, looking only at bytes from `from` on.
    ///
    /// - Returns: the offset after the empty line, or nil when there is none yet.
    /// - Throws: `RequestFault.bareLineFeed` for a line feed without its carriage return.
    static func findEnd(
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
    static func parse(_ bytes: [UInt8], limits: TransportLimits) throws(RequestFault) -> Parts {
        guard let lineEnd = bytes.firstIndex(of: 0x0d), bytes[lineEnd + 1] == 0x0a else {
            throw .badRequestLine
        }
        let (line, target) = try parseLine(bytes[..<lineEnd])
        let fields = try parseFields(bytes, from: lineEnd + 2, limit: limits.headerCount)
        let headers = Headers(bytes: bytes, fields: fields)
        return Parts(
            bytes: bytes,
            fields: fields,
            line: line,
            target: target,
            host: try host(headers, line, target),
            framing: try framing(headers, line),
            keepsAlive: keepsAlive(headers, line),
            expectsContinue: try expectsContinue(headers, line),
            isWebSocketUpgrade: headers.hasToken("websocket", in: "upgrade")
                && headers.hasToken("upgrade", in: "connection")
        )
    }

    /// Lines of a head, with the lookups that framing needs.
    private struct Headers {
        let bytes: [UInt8]
        let fields: [RequestHead.Field]

        func values(_ name: String) -> [ArraySlice<UInt8>] {
            let wanted = Array(name.utf8)
            return fields.filter { equalsIgnoringCase(bytes[$0.name], wanted) }.map {
                bytes[$0.value]
            }
        }

        /// Whether a comma-separated list of tokens has this one, which is in lower case.
        func hasToken(_ token: String, in name: String) -> Bool {
            let wanted = Array(token.utf8)
            return values(name).contains { value in
                value.split(separator: UInt8(ascii: ",")).contains {
                    equalsIgnoringCase(trim($0), wanted)
                }
            }
        }
    }

    private static func parseLine(
        _ bytes: ArraySlice<UInt8>
    ) throws(RequestFault) -> (Line, RequestTarget) {
        let pieces = bytes.split(separator: 0x20, maxSplits: 3, omittingEmptySubsequences: false)
        guard pieces.count == 3, !pieces[0].isEmpty, pieces[0].allSatisfy(isTokenByte) else {
            throw .badRequestLine
        }
        let version = String(decoding: pieces[2], as: UTF8.self)
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
            throw version.hasPrefix("HTTP/") ? .unsupportedVersion : .badRequestLine
        }
        let method = String(decoding: pieces[0], as: UTF8.self)
        guard methods.contains(method) else {
            throw method == "CONNECT" || method == "TRACE" ? .methodNotAllowed : .unknownMethod
        }
        let target = try RequestTarget(pieces[1])
        guard target.path != "*" || method == "OPTIONS" else { throw .badTarget }
        return (Line(method: method, isHTTP10: version == "HTTP/1.0"), target)
    }

    private static func parseFields(
        _ bytes: [UInt8],
        from start: Int,
        limit: Int
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
            let value = trim(bytes[valueStart..<index])
            fields.append(.init(name: name, value: value.startIndex..<value.endIndex))
            index += 2
        }
        guard index + 2 == bytes.count else { throw .badHeader(line: fields.count + 1) }
        return fields
    }

    private static func host(
        _ headers: Headers,
        _ line: Line,
        _ target: RequestTarget
    ) throws(RequestFault) -> String {
        let hosts = headers.values("host")
        guard hosts.count <= 1 else { throw .duplicateHost }
        guard let host = hosts.first else {
            guard line.isHTTP10 else { throw .missingHost }
            return target.authority ?? ""
        }
        return target.authority ?? String(decoding: host, as: UTF8.self)
    }

    private static func framing(
        _ headers: Headers,
        _ line: Line
    ) throws(RequestFault) -> BodyFraming {
        let lengths = headers.values("content-length")
        let codings = headers.values("transfer-encoding")
        if !codings.isEmpty {
            guard lengths.isEmpty else { throw .contentLengthWithTransferEncoding }
            guard codings.count == 1, !line.isHTTP10,
                equalsIgnoringCase(codings[0], Array("chunked".utf8))
            else { throw .unsupportedTransferEncoding }
            return .chunked
        }
        guard lengths.count <= 1 else { throw .duplicateContentLength }
        guard let text = lengths.first else {
            guard !["POST", "PUT", "PATCH"].contains(line.method) else { throw .lengthRequired }
            return .none
        }
        // 18 digits always fit an Int.
        guard !text.isEmpty, text.count <= 18,
            text.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") })
        else { throw .badContentLength }
        let length = text.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        return length == 0 ? .none : .length(length)
    }

    private static func keepsAlive(_ headers: Headers, _ line: Line) -> Bool {
        if headers.hasToken("close", in: "connection") { return false }
        return !line.isHTTP10 || headers.hasToken("keep-alive", in: "connection")
    }

    private static func expectsContinue(
        _ headers: Headers,
        _ line: Line
    ) throws(RequestFault) -> Bool {
        guard !line.isHTTP10, let expectation = headers.values("expect").first else { return false }
        guard equalsIgnoringCase(expectation, Array("100-continue".utf8)) else {
            throw .unsupportedExpectation
        }
        return true
    }

    private static func trim(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = bytes
        while rest.first == 0x20 || rest.first == 0x09 { rest.removeFirst() }
        while rest.last == 0x20 || rest.last == 0x09 { rest.removeLast() }
        return rest
    }

    /// The token characters of RFC 9110, section 5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
