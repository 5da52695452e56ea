import Foundation
import Glibc
import Synchronization

/// An HTTP server on 127.0.0.1 that keeps the requests it gets and answers with what a test has prepared, in that order.
///
/// One request a connection, one connection at a time. Without a prepared answer it ends the connection.
package final class ScriptedServer: Sendable {
    /// A request as it came.
    package struct Request: Sendable {
        package let method: String
        /// Path and query.
        package let target: String
        /// Names in lower case.
        package let headers: [String: String]
        package let body: [UInt8]
    }

    /// What is sent, byte for byte, before the connection ends; nothing at all is a cut.
    package struct Answer: Sendable {
        let bytes: [UInt8]
        /// Whether it is sent before the body of the request has come, which is then not kept.
        package var isEarly = false

        /// No answer.
        package static let cut = Answer(bytes: [])

        /// A whole answer, or the beginning of one whose body should have `byteCount` bytes.
        package init(
            _ status: Int,
            _ headers: [String] = [],
            _ body: [UInt8] = [],
            byteCount: Int? = nil
        ) {
            let lines =
                ["HTTP/1.1 \(status) Scripted"] + headers
                + ["Content-Length: \(byteCount ?? body.count)", "Connection: close", "", ""]
            bytes = Array(lines.joined(separator: "\r\n").utf8) + body
        }

        /// The same with a text.
        package init(_ status: Int, _ headers: [String] = [], text: String) {
            self.init(status, headers, Array(text.utf8))
        }

        init(bytes: [UInt8]) { self.bytes = bytes }
    }

    private struct State {
        var answers: [Answer]
        var requests: [Request] = []
    }

    package let port: Int
    package var url: String { "http://127.0.0.1:\(port)" }
    private let listener: Int32
    private let state: Mutex<State>

    package init(_ answers: [Answer]) throws {
        state = Mutex(State(answers: answers))
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isOpen = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard isOpen else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        port = Int(UInt16(bigEndian: address.sin_port))
        // The thread does not keep the server alive, whose end shuts the socket down. Only the thread closes it: else it
        // might wait at the next socket of that number.
        let serve: @Sendable () -> Bool = { [weak self] in
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { return false }
            _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
            guard let self else {
                close(connection)
                return false
            }
            self.serve(connection)
            return true
        }
        Thread.detachNewThread {
            while serve() {}
            close(listener)
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// What came so far.
    package var requests: [Request] { state.withLock { $0.requests } }

    /// Answers that were not asked for.
    package var leftCount: Int { state.withLock { $0.answers.count } }

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        let isEarly = state.withLock { $0.answers.first?.isEarly ?? false }
        guard let request = Self.request(from: connection, withBody: !isEarly) else { return }
        let answer = state.withLock { state in
            state.requests.append(request)
            return state.answers.isEmpty ? Answer.cut : state.answers.removeFirst()
        }
        var sent = 0
        while sent < answer.bytes.count {
            let count = answer.bytes.withUnsafeBytes { bytes in
                send(
                    connection,
                    bytes.baseAddress.map { $0 + sent },
                    bytes.count - sent,
                    Int32(MSG_NOSIGNAL)
                )
            }
            guard count > 0 else { return }
            sent += count
        }
        shutdown(connection, Int32(SHUT_WR))
        // What the client still sends is read, so that the answer is not lost with it.
        var rest = [UInt8](repeating: 0, count: 65_536)
        while recv(connection, &rest, rest.count, 0) > 0 {}
    }

    private static func request(from connection: Int32, withBody: Bool) -> Request? {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        func more() -> Bool {
            let count = recv(connection, &piece, piece.count, 0)
            guard count > 0 else { return false }
            bytes += piece[..<count]
            return true
        }
        let separator = Array("\r\n\r\n".utf8)
        var end: Int?
        while end == nil {
            guard more() else { return nil }
            // TLS, which is not spoken here: the answer is the plain text that a web server gives.
            if bytes[0] == 0x16 { return Request(method: "", target: "", headers: [:], body: []) }
            end = bytes.firstRange(of: separator)?.lowerBound
        }
        guard let end else { return nil }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] =
                parts.dropFirst().first
                .map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
        }
        let length = withBody ? headers["content-length"].flatMap { Int($0) } ?? 0 : 0
        while bytes.count < end + 4 + length {
            guard more() else { return nil }
        }
        return Request(
            method: String(words[0]),
            target: String(words[1]),
            headers: headers,
            body: withBody ? Array(bytes[(end + 4)...]) : []
        )
    }
}
