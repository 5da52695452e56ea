/// What is wrong with a request, so wrong that the application does not see it.
///
/// Each is answered with its status and a text as the `error` member of a JSON object, which is how all errors
/// look to clients of the REST API; then the connection is closed: after most of them nobody can say where the
/// next request begins.
enum RequestFault: Error, Equatable {
    case badRequestLine
    /// The first bytes are those of a TLS handshake.
    case tlsOnPlainPort
    case badTarget
    /// A path that does not decode to UTF-8.
    case badPath
    case unsupportedVersion
    /// A method nobody knows.
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

    var status: Int {
        switch self {
        case .badRequestLine, .tlsOnPlainPort, .badTarget, .badPath, .badHeader, .bareLineFeed,
            .missingHost, .duplicateHost, .hostDiffers, .badContentLength,
            .duplicateContentLength, .contentLengthWithTransferEncoding, .badChunk, .bodyTooLarge,
            .badUpgrade:
            400
        case .methodNotAllowed, .unknownMethod: 405
        case .headTimeout, .bodyTimeout: 408
        case .targetTooLong: 414
        case .unsupportedExpectation: 417
        case .unsupportedWebSocketVersion: 426
        case .headTooLarge, .tooManyHeaders: 431
        case .unsupportedTransferEncoding: 501
        case .overloaded: 503
        case .unsupportedVersion: 505
        }
    }

    /// What the client did, and what would be right.
    var text: String {
        switch self {
        case .badRequestLine:
            "bad request line: expected METHOD, one space, target, one space, HTTP/1.1"
        case .tlsOnPlainPort: "this port speaks plain HTTP: use http:// and ws://"
        case .badTarget: "bad request target: expected an absolute path of percent-encoded UTF-8"
        case .badPath: "Invalid path: Invalid token in path"
        case .unsupportedVersion: "only HTTP/1.1 and HTTP/1.0 are spoken here"
        case .unknownMethod: "unknown method"
        case .methodNotAllowed: "method not allowed"
        case .badHeader(let line): "bad header in line \(line): expected name, colon, value"
        case .bareLineFeed: "bad line end: lines end with CR LF"
        case .missingHost: "the Host header is missing"
        case .duplicateHost: "more than one Host header"
        case .hostDiffers: "the request target and the Host header name different hosts"
        case .badContentLength: "bad Content-Length: expected decimal digits"
        case .duplicateContentLength: "more than one Content-Length header"
        case .contentLengthWithTransferEncoding:
            "Content-Length and Transfer-Encoding exclude each other"
        case .unsupportedTransferEncoding: "the only transfer encoding is chunked, in HTTP/1.1"
        case .unsupportedExpectation: "the only expectation is 100-continue"
        case .headTooLarge(let limit): "request line and headers are larger than \(limit) bytes"
        case .targetTooLong(let limit): "the request line is longer than \(limit) bytes"
        case .tooManyHeaders(let limit): "more than \(limit) headers"
        case .bodyTooLarge:
            "Data to write exceeds the maximum size that can be modified with a single request."
        case .badChunk:
            "bad chunked encoding: expected a hexadecimal size, CR LF, data, CR LF, and no extension"
        case .overloaded: "too many unfinished requests; try again later"
        case .headTimeout: "the request head did not arrive in time"
        case .bodyTimeout: "the request body arrived too slowly"
        case .badUpgrade(let what): "bad WebSocket handshake: \(what)"
        case .unsupportedWebSocketVersion: "only WebSocket version 13 is spoken here"
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
        // The texts are ours and hold nothing that JSON escapes but these.
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let body = "{\n  \"error\" : \"\(escaped)\"\n}\n"
        return HTTPResponse(status: status, headers: headers, body: Array(body.utf8))
    }
}
