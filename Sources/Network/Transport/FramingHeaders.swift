/// The headers that decide where a message ends and whether its connection stays open. They are found in the one pass
/// that reads all headers.
struct FramingHeaders {
    private let bytes: [UInt8]
    /// The values, as ranges in `bytes`.
    private var hosts = OneValue()
    private var lengths = OneValue()
    private var codings = OneValue()
    private var expectations = OneValue()
    private var isClosing = false
    private var isKeptAlive = false
    private var isUpgrade = false
    private var isToWebSocket = false

    /// The first value of a header, and how many there are.
    private struct OneValue {
        var first: Range<Int>?
        var count = 0

        mutating func note(_ value: Range<Int>) {
            if first == nil { first = value }
            count += 1
        }
    }

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Looks at one header line.
    mutating func note(_ name: Range<Int>, _ value: Range<Int>) {
        switch name.count {
        case 4: if isNamed(name, "host") { hosts.note(value) }
        case 6: if isNamed(name, "expect") { expectations.note(value) }
        case 7: if isNamed(name, "upgrade") { noteUpgrade(value) }
        case 10: if isNamed(name, "connection") { noteConnection(value) }
        case 14: if isNamed(name, "content-length") { lengths.note(value) }
        case 17: if isNamed(name, "transfer-encoding") { codings.note(value) }
        default: break
        }
    }

    /// Whether this asks for a WebSocket.
    var isWebSocketUpgrade: Bool { isUpgrade && isToWebSocket }

    /// The authority of the Host header, or nothing when HTTP/1.0 sent none. An absolute target must repeat it.
    ///
    /// Refuses a target that names another host: two readers could otherwise see two hosts.
    func host(
        _ line: RequestHeadParser.Line,
        _ target: RequestTarget
    ) throws(RequestFault) -> String {
        guard hosts.count <= 1 else { throw .duplicateHost }
        guard let host = hosts.first else {
            guard line.isHTTP10 else { throw .missingHost }
            return target.authority ?? ""
        }
        if let authority = target.authority, !isNamed(host, authority.lowercased()) {
            throw .hostDiffers
        }
        return String(decoding: bytes[host], as: UTF8.self)
    }

    /// How the body is delimited. Refuses headers that two readers could understand differently.
    func framing(_ line: RequestHeadParser.Line) throws(RequestFault) -> BodyFraming {
        if let coding = codings.first {
            guard lengths.count == 0 else { throw .contentLengthWithTransferEncoding }
            guard codings.count == 1, !line.isHTTP10, isNamed(coding, "chunked") else {
                throw .unsupportedTransferEncoding
            }
            return .chunked
        }
        guard lengths.count <= 1 else { throw .duplicateContentLength }
        // With neither header there is no body (RFC 9112, section 6.3), for any method.
        guard let digits = lengths.first else { return .none }
        // 18 digits always fit an Int.
        guard !digits.isEmpty, digits.count <= 18 else { throw .badContentLength }
        var length = 0
        for digit in bytes[digits] {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else {
                throw .badContentLength
            }
            length = length * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return length == 0 ? .none : .length(length)
    }

    /// Whether the peer asks to keep the connection open after the answer.
    func keepsAlive(_ line: RequestHeadParser.Line) -> Bool {
        if isClosing { return false }
        return !line.isHTTP10 || isKeptAlive
    }

    /// Whether the peer waits for a word before it sends the body.
    func expectsContinue(_ line: RequestHeadParser.Line) throws(RequestFault) -> Bool {
        guard !line.isHTTP10, let expectation = expectations.first else { return false }
        guard isNamed(expectation, "100-continue") else { throw .unsupportedExpectation }
        return true
    }

    private mutating func noteConnection(_ value: Range<Int>) {
        forEachToken(value) { headers, token in
            switch token.count {
            case 5: if headers.isNamed(token, "close") { headers.isClosing = true }
            case 7: if headers.isNamed(token, "upgrade") { headers.isUpgrade = true }
            case 10: if headers.isNamed(token, "keep-alive") { headers.isKeptAlive = true }
            default: break
            }
        }
    }

    private mutating func noteUpgrade(_ value: Range<Int>) {
        forEachToken(value) { headers, token in
            if headers.isNamed(token, "websocket") { headers.isToWebSocket = true }
        }
    }

    /// The members of a comma-separated list.
    private mutating func forEachToken(
        _ value: Range<Int>,
        _ body: (inout FramingHeaders, Range<Int>) -> Void
    ) {
        var start = value.lowerBound
        while start < value.upperBound {
            var end = start
            while end < value.upperBound, bytes[end] != UInt8(ascii: ",") { end += 1 }
            body(&self, RequestHeadParser.trim(bytes, start..<end))
            start = end + 1
        }
    }

    private func isNamed(_ range: Range<Int>, _ lowercased: String) -> Bool {
        equalsIgnoringCase(bytes, range, lowercased)
    }
}
