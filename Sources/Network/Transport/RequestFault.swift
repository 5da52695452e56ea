/// A fault in a request that the transport answers itself; the application never sees the request.
///
/// The answer has the status and a JSON object with an `error` text, as all errors of the REST API have. Then the
/// connection closes: after most faults the start of the next request is unknown.
package enum RequestFault: Error, Equatable {
    case badRequestLine
    /// The first bytes are those of a TLS handshake.
    case tlsOnPlainPort
    case badTarget
    /// A path that does not decode to UTF-8.
    case badPath
    case unsupportedVersion
    case unknownMethod
    /// A method that HTTP knows and no route here has (CONNECT, TRACE).
    case methodNotAllowed
    /// A header line that is none; the line's number, the first after the request line being 1.
    case badHeader(line: Int)
    case bareLineFeed
    case missingHost
    case duplicateHost
    /// An absolute target names another host than the Host header.
    case hostDiffers
    case badContentLength
    case duplicateContentLength
    case contentLengthWithTransferEncoding
    case unsupportedTransferEncoding
    case unsupportedExpectation
    case headTooLarge(limit: Int)
    case targetTooLong(limit: Int)
    case tooManyHeaders(limit: Int)
    case bodyTooLarge(limit: Int)
    case badChunk
    case overloaded
    case headTimeout
    case bodyTimeout
    case badUpgrade(String)
    case unsupportedWebSocketVersion

    /// The status of the answer, and its text: the client's fault, and the correct form.
    private var answer: (status: Int, text: String) {
        switch self {
        case .badRequestLine:
            (400, "bad request line: expected METHOD, one space, target, one space, HTTP/1.1")
        case .tlsOnPlainPort: (400, "this port speaks plain HTTP: use http:// and ws://")
        case .badTarget:
            (400, "bad request target: expected an absolute path of percent-encoded UTF-8")
        case .badPath: (400, "Invalid path: Invalid token in path")
        case .unsupportedVersion: (505, "only HTTP/1.1 and HTTP/1.0 are spoken here")
        case .unknownMethod: (405, "unknown method")
        case .methodNotAllowed: (405, "method not allowed")
        case .badHeader(let line): (400, "bad header in line \(line): expected name, colon, value")
        case .bareLineFeed: (400, "bad line end: lines end with CR LF")
        case .missingHost: (400, "the Host header is missing")
        case .duplicateHost: (400, "more than one Host header")
        case .hostDiffers: (400, "the request target and the Host header name different hosts")
        case .badContentLength: (400, "bad Content-Length: expected decimal digits")
        case .duplicateContentLength: (400, "more than one Content-Length header")
        case .contentLengthWithTransferEncoding:
            (400, "Content-Length and Transfer-Encoding exclude each other")
        case .unsupportedTransferEncoding:
            (501, "the only transfer encoding is chunked, in HTTP/1.1")
        case .unsupportedExpectation: (417, "the only expectation is 100-continue")
        case .headTooLarge(let limit):
            (431, "request line and headers are larger than \(limit) bytes")
        case .targetTooLong(let limit): (414, "the request line is longer than \(limit) bytes")
        case .tooManyHeaders(let limit): (431, "more than \(limit) headers")
        case .bodyTooLarge:
            (
                400,
                "Data to write exceeds the maximum size that can be modified with a single request."
            )
        case .badChunk:
            (
                400,
                "bad chunked encoding: expected a hexadecimal size, CR LF, data, CR LF, and no extension"
            )
        case .overloaded: (503, "too many unfinished requests; try again later")
        case .headTimeout: (408, "the request head did not arrive in time")
        case .bodyTimeout: (408, "the request body arrived too slowly")
        case .badUpgrade(let what): (400, "bad WebSocket handshake: \(what)")
        case .unsupportedWebSocketVersion: (426, "only WebSocket version 13 is spoken here")
        }
    }

    var response: HTTPResponse {
        var headers = [(name: "Content-Type", value: "application/json; charset=utf-8")]
        switch self {
        case .methodNotAllowed, .unknownMethod:
            headers.append(("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"))
        case .unsupportedWebSocketVersion:
            headers += [("Sec-WebSocket-Version", "13"), ("Upgrade", "websocket")]
        case .overloaded: headers.append(("Retry-After", "1"))
        default: break
        }
        let (status, text) = answer
        // The texts are ours and hold nothing that JSON escapes but these.
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let body = "{\n  \"error\" : \"\(escaped)\"\n}\n"
        return HTTPResponse(status: status, headers: headers, body: Array(body.utf8))
    }
}
