import Foundation
import Glibc

/// A webhook of a test's own: takes one request for each connection, and accepts it.
final class TestWebhook: Sendable {
    struct Request: Sendable {
        /// Names in lower case.
        let headers: [String: String]
        let body: String
    }

    /// What comes, in order.
    let requests: AsyncStream<Request>
    let port: UInt16
    // Its own: deinit ends the thread, which closes it. Were it closed here, the thread might accept what comes to
    // the person who has the number by then.
    private let listener: Int32

    var url: String { "http://127.0.0.1:\(port)/hook" }

    init() throws {
        let (requests, sink) = AsyncStream.makeStream(of: Request.self)
        self.requests = requests
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isListening = withUnsafeMutableBytes(of: &address) { bytes in
            let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return bind(listener, address, length) == 0 && listen(listener, 64) == 0
                && getsockname(listener, address, &length) == 0
        }
        guard isListening else { throw SocketError(code: errno) }
        port = UInt16(bigEndian: address.sin_port)
        Thread { Self.work(listener, sink) }.start()
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// Takes requests until the listener is closed.
    private static func work(
        _ listener: Int32,
        _ sink: AsyncStream<Request>.Continuation,
    ) {
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else {
                close(listener)
                return sink.finish()
            }
            defer { close(connection) }
            guard let request = read(connection) else { continue }
            let answer =
                "HTTP/1.1 204 Reported\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            let bytes = Array(answer.utf8)
            _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            sink.yield(request)
        }
    }

    /// A request whose end is where its `Content-Length` says.
    private static func read(_ connection: Int32) -> Request? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(connection, &chunk, chunk.count, 0)
            guard count > 0 else { return nil }
            bytes += chunk[..<count]
            let text = String(decoding: bytes, as: UTF8.self)
            guard let end = text.firstRange(of: "\r\n\r\n") else { continue }
            var headers: [String: String] = [:]
            for line in text[..<end.lowerBound].split(separator: "\r\n").dropFirst() {
                guard let colon = line.firstIndex(of: ":") else { continue }
                headers[line[..<colon].lowercased()] =
                    String(line[line.index(after: colon)...].drop { $0 == " " })
            }
            let body = text[end.upperBound...]
            guard let length = headers["content-length"].flatMap({ Int($0) }),
                body.utf8.count >= length
            else { continue }
            return Request(headers: headers, body: String(body))
        }
    }

    /// Posts JSON to a server as its operator, and gives the status line.
    static func post(_ json: String, to path: String, port: UInt16) throws -> String {
        let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(connection) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        let isConnected = withUnsafeBytes(of: &address) { bytes in
            let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return connect(connection, address, socklen_t(bytes.count)) == 0
        }
        guard isConnected else { throw SocketError(code: errno) }
        let head = [
            "POST \(path) HTTP/1.1", "Host: 127.0.0.1", "Authorization: Bearer owner",
            "Content-Type: application/json", "Content-Length: \(json.utf8.count)",
            "Connection: close", "", "",
        ]
        let bytes = Array((head.joined(separator: "\r\n") + json).utf8)
        _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        var answer = [UInt8](repeating: 0, count: 4096)
        let count = recv(connection, &answer, answer.count, 0)
        return String(decoding: answer.prefix(max(0, count)).prefix { $0 != 13 }, as: UTF8.self)
    }

    struct SocketError: Error {
        let code: Int32
    }
}
