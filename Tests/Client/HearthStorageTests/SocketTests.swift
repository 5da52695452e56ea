import Foundation
import Glibc
import HearthCore
import Synchronization
import Testing

@testable import HearthStorage

@Suite("files over sockets")
struct SocketTests {
    private func app(_ name: String, _ server: ScriptedConnections) throws -> HearthApp {
        var options = HearthOptions(databaseURL: "http://127.0.0.1:\(server.port)")
        options.persistsUser = false
        let app = try HearthApp.make(name: name, options: options)
        app.tokenSource = Tokens("SECRET", nil)
        return app
    }

    @Test("the credential does not follow a redirect to another host")
    func redirects() async throws {
        let target = try ScriptedConnections(["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"])
        let location = "http://localhost:\(target.port)/v0/x"
        let source = try ScriptedConnections([
            "HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"
        ])
        let app = try app("redirected", source)
        defer { app.delete { _ in } }
        let data = try await Storage.storage(app: app).reference(withPath: "a").data(maxSize: 5)
        #expect(data == Data("hello".utf8))
        #expect(source.heads.count == 1 && target.heads.count == 1)
        #expect(source.heads[0].contains("Authorization: Firebase SECRET"))
        #expect(!target.heads[0].contains("SECRET"))
    }

    @Test("a download that is cut goes on at its byte")
    func cut() async throws {
        let tag = "ETag: \"a\"\r\n"
        let server = try ScriptedConnections([
            "HTTP/1.1 200 OK\r\n\(tag)Content-Length: 10\r\n\r\n0123",
            "HTTP/1.1 206 Partial\r\n\(tag)Content-Range: bytes 4-9/10\r\nContent-Length: 6\r\n\r\n456789",
        ])
        let app = try app("cut", server)
        defer { app.delete { _ in } }
        let data = try await Storage.storage(app: app).reference(withPath: "a").data(maxSize: 10)
        #expect(data == Data("0123456789".utf8))
        #expect(server.heads.count == 2)
        #expect(server.heads[1].contains("Range: bytes=4-\r\n"))
        #expect(server.heads[1].contains("If-Range: \"a\"\r\n"))
    }

    @Test("an object that is too large is not read", arguments: [true, false])
    func tooLarge(hasLength: Bool) async throws {
        let length = hasLength ? "Content-Length: 10\r\n" : ""
        let server = try ScriptedConnections(["HTTP/1.1 200 OK\r\n\(length)\r\n0123456789"])
        let app = try app("large \(hasLength)", server)
        defer { app.delete { _ in } }
        let reference = Storage.storage(app: app).reference(withPath: "a")
        #expect(await code { try await reference.data(maxSize: 9) } == .downloadSizeExceeded)
    }
}

/// A server that answers one request of each connection, the first with the first text, and so on, and ends it.
private final class ScriptedConnections: Sendable {
    let port: Int
    private let seen = Mutex<[String]>([])

    /// The heads of the requests.
    var heads: [String] { seen.withLock { $0 } }

    init(_ answers: [String]) throws {
        let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var byteCount = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listening, $0, byteCount) == 0 && listen(listening, 4) == 0
                    && getsockname(listening, $0, &byteCount) == 0
            }
        }
        try #require(isBound)
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [self] in
            defer { close(listening) }
            for answer in answers { serve(accept(listening, nil, nil), answer) }
        }
    }

    private func serve(_ connection: Int32, _ answer: String) {
        defer { close(connection) }
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
        while !String(decoding: bytes, as: UTF8.self).contains("\r\n\r\n") {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            bytes += buffer[..<count]
        }
        let head = String(decoding: bytes, as: UTF8.self)
        seen.withLock { $0.append(head) }
        let text = Array(answer.utf8)
        send(connection, text, text.count, Int32(MSG_NOSIGNAL))
    }
}
