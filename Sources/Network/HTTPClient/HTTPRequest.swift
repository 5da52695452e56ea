/// One request to a server.
package struct HTTPRequest {
    package enum Method: String, Sendable {
        case get = "GET"
        /// The answer has no body.
        case head = "HEAD"
        case put = "PUT"
        case post = "POST"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    package var method: Method

    /// Absolute, `http` or `https`, percent-encoded.
    package var url: String

    /// Lines as they are sent, `Name: value`.
    package var headers: [String]

    package var body: HTTPBody

    /// Bytes that an answer without a receiver may have; longer ones are cut there.
    package var keptByteLimit = 64 * 1024 * 1024

    /// Makes a request; `.none` means no body.
    package init(_ method: Method, _ url: String, headers: [String] = [], body: HTTPBody = .none) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// The body of a request.
package enum HTTPBody {
    case none
    case bytes([UInt8])
    /// Bytes that are made as they are sent.
    ///
    /// `read` fills a part of the buffer from its start and returns how many bytes, 0 at the end. Without
    /// `byteCount` the body goes out in chunks. Such a request cannot be sent twice.
    case stream(byteCount: Int?, read: (UnsafeMutableRawBufferPointer) throws -> Int)
}

/// A server's answer.
package struct HTTPResponse: Sendable {
    package let status: Int

    /// Names in lower case; the last one where a name comes twice.
    package let headers: [String: String]

    /// The body, empty where a receiver took it; at most `HTTPRequest.keptByteLimit` bytes.
    package let body: [UInt8]

    /// Whether the status is 200 to 299.
    package var isSuccess: Bool { (200..<300).contains(status) }

    /// The body as text; bytes that are not UTF-8 become U+FFFD.
    package var text: String { String(decoding: body, as: UTF8.self) }
}

/// How a client speaks to servers.
package struct HTTPOptions: Sendable {
    /// Time to be connected, TLS included.
    package var connectSeconds = 15

    /// Time without a byte in either direction after which a request is given up; 0: never.
    package var silenceSeconds = 120

    /// Time for a whole request and its answer; 0: no limit.
    package var totalSeconds = 0

    /// PEM file of the authorities that servers' certificates are checked against; nil: the system's.
    package var authorityFile: String?

    /// Whether a GET or HEAD may follow a redirect. Headers of a request go along, so one that carries a secret must not.
    package var followsRedirects = true

    /// Whether answers may come compressed.
    package var acceptsCompressed = false

    /// `User-Agent`.
    package var agent = "hearth"

    package init() {}
}
