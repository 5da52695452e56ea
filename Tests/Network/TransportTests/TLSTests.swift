import Foundation
import LoopSupport
import Testing

@testable import Transport

/// TLS is spoken by the `openssl` program, so that the other end is not ours.
@Suite("TLS")
struct TLSTests {
    /// A folder with a certificate and key, removed with the object.
    final class Identity {
        let folder: URL
        var files: TLSFiles {
            TLSFiles(
                certificate: folder.appending(path: "certificate.pem").path,
                key: folder.appending(path: "key.pem").path
            )
        }

        init(_ name: String, algorithm: [String] = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"])
            throws
        {
            folder = FileManager.default.temporaryDirectory
                .appending(path: "hearth-tls-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try make(name, algorithm)
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func make(_ name: String, _ algorithm: [String]) throws {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments =
                [
                    "openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=\(name)",
                    "-newkey",
                ]
                + algorithm + ["-keyout", files.key, "-out", files.certificate]
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            try #require(process.terminationStatus == 0)
        }
    }

    /// `openssl s_client` as a pipe: what goes in is encrypted, what comes out was decrypted.
    final class Client {
        private let process = Process()
        private let input = Pipe()
        private let output = Pipe()
        private var buffer = Data()

        init(_ port: Int, _ arguments: [String] = ["-quiet"]) throws {
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments =
                ["openssl", "s_client", "-connect", "127.0.0.1:\(port)"] + arguments
            process.standardInput = input
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
        }

        deinit {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }

        func send(_ bytes: [UInt8]) throws {
            try input.fileHandleForWriting.write(contentsOf: Data(bytes))
        }

        func read(_ count: Int) throws -> Data {
            while buffer.count < count {
                guard
                    let more = try output.fileHandleForReading.read(
                        upToCount: count - buffer.count
                    ),
                    !more.isEmpty
                else { throw RawClient.Failure.connectionEnded("TLS, after \(buffer.count) bytes") }
                buffer += more
            }
            defer { buffer = Data(buffer.dropFirst(count)) }
            return Data(buffer.prefix(count))
        }

        func readUntil(_ mark: String) throws -> String {
            var text = ""
            while !text.hasSuffix(mark) { text += String(decoding: try read(1), as: UTF8.self) }
            return text
        }

        func finish() throws {
            try input.fileHandleForWriting.close()
        }

        func readToEnd() throws -> String {
            String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        }
    }

    @Test("HTTP and a WebSocket echo work over TLS")
    func echo() throws {
        let identity = try Identity("hearth.test")
        let server = try TestServer { $0.tls = identity.files }
        let client = try Client(server.port)
        try client.send(Array("GET /a+b HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
        #expect(try client.readUntil("\r\n\r\n").hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(try client.readUntil("path [\"a+b\"]\n").hasPrefix("GET /a+b\n"))
        _ = try client.readUntil("body \n")
        let webSocket = try Client(server.port)
        try webSocket.send(Array(RawClient.handshake("/ws").utf8))
        #expect(try webSocket.readUntil("\r\n\r\n").hasPrefix("HTTP/1.1 101 "))
        try webSocket.send(RawClient.frame(1, Array("secret".utf8)))
        #expect(try webSocket.read(8) == Data([0x81, 6] + Array("secret".utf8)))
        // More than OpenSSL hands over at once, so that what it keeps back is fetched too.
        let large = [UInt8](repeating: 0x61, count: 300_000)
        try webSocket.send(RawClient.frame(1, large))
        #expect(try webSocket.read(10 + large.count).dropFirst(10) == Data(large))
    }

    @Test("a body of 5 MB goes out over TLS whole")
    func largeAnswer() throws {
        let identity = try Identity("hearth.test", algorithm: ["rsa:2048"])
        let server = try TestServer { $0.tls = identity.files }
        let client = try Client(server.port)
        try client.send(
            Array("GET /big?bytes=5000000 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".utf8)
        )
        _ = try client.readUntil("\r\n\r\n")
        #expect(try client.read(5_000_000) == Data(repeating: 0x61, count: 5_000_000))
    }

    private func subject(_ port: Int, _ arguments: [String] = []) throws -> String {
        let client = try Client(port, arguments)
        try client.finish()
        return try client.readToEnd()
    }

    @Test("reloading changes the certificate for new connections, also to another kind of key")
    func reload() throws {
        let identity = try Identity("first.test", algorithm: ["rsa:2048"])
        let server = try TestServer { $0.tls = identity.files }
        #expect(try subject(server.port).contains("CN = first.test"))
        let open = try Client(server.port)
        try open.send(Array("GET /one HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
        _ = try open.readUntil("body \n")
        try identity.make("second.test", ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"])
        let listener = server.listener
        let failure = onLoop { () -> TransportError? in
            do throws(TransportError) { try listener.reloadTLS() } catch { return error }
            return nil
        }
        #expect(failure == nil)
        #expect(try subject(server.port).contains("CN = second.test"))
        try open.send(Array("GET /two HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
        #expect(try open.readUntil("body \n").contains("GET /two"))
    }

    @Test("a reload of bad files is refused, and the old certificate stays")
    func badReload() throws {
        let identity = try Identity("first.test")
        let other = try Identity("other.test")
        let server = try TestServer { $0.tls = identity.files }
        try FileManager.default.removeItem(atPath: identity.files.key)
        try FileManager.default.copyItem(atPath: other.files.key, toPath: identity.files.key)
        let listener = server.listener
        let failure = onLoop { () -> TransportError? in
            do throws(TransportError) { try listener.reloadTLS() } catch { return error }
            return nil
        }
        #expect(
            failure?.description.contains("is not the key of the certificate") == true,
            "\(String(describing: failure))"
        )
        #expect(try subject(server.port).contains("CN = first.test"))
    }

    @Test("missing files are a typed error that names the file")
    func missingFiles() throws {
        let error = #expect(throws: TransportError.self) {
            _ = try TestServer {
                $0.tls = TLSFiles(certificate: "/nowhere/c.pem", key: "/nowhere/k.pem")
            }
        }
        #expect(
            error
                == .badTLSFiles(reason: "/nowhere/c.pem: No such file or directory"),
            "\(String(describing: error))"
        )
    }

    @Test("ALPN agrees on http/1.1 when h2 is offered too")
    func alpn() throws {
        let identity = try Identity("hearth.test")
        let server = try TestServer { $0.tls = identity.files }
        #expect(
            try subject(server.port, ["-alpn", "h2,http/1.1"]).contains("ALPN protocol: http/1.1")
        )
    }

    @Test("TLS before 1.2 is refused, 1.2 and 1.3 work, also with a server name")
    func versions() throws {
        let identity = try Identity("hearth.test")
        let server = try TestServer { $0.tls = identity.files }
        for version in ["-tls1_2", "-tls1_3"] {
            #expect(
                try subject(server.port, [version, "-servername", "tls"]).contains(
                    "CN = hearth.test"
                )
            )
        }
        #expect(!(try subject(server.port, ["-tls1_1"]).contains("CN = hearth.test")))
    }

    @Test("plain HTTP on a TLS port, and noise, end the connection")
    func plainText() throws {
        let identity = try Identity("hearth.test")
        let server = try TestServer { $0.tls = identity.files }
        let client = try RawClient(server.port)
        try client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(client.isEndedByPeer())
        let noise = try RawClient(server.port)
        try noise.send([UInt8](repeating: 0x16, count: 600))
        #expect(noise.isEndedByPeer())
        #expect(server.read { $0.headCount } == 0)
    }

    /// A client's first message of TLS 1.2, with nothing in it that a server could do without.
    private static let hello: [UInt8] = {
        let extensions: [UInt8] =
            [0, 10, 0, 4, 0, 2, 0, 0x17]  // Group: P-256.
            + [0, 13, 0, 4, 0, 2, 4, 3]  // Signature: ECDSA, SHA-256.
        let body: [UInt8] =
            [3, 3] + Array(repeating: 7, count: 32) + [0, 0, 2, 0xC0, 0x2B, 1, 0]
            + [0, UInt8(extensions.count)] + extensions
        let message: [UInt8] = [1, 0, 0, UInt8(body.count)] + body
        return [0x16, 3, 1, 0, UInt8(message.count)] + message
    }()

    @Test("handshakes of many connections take turns: a tick serves 64 of them at most")
    func handshakesTakeTurns() throws {
        let identity = try Identity("hearth.test")
        let server = try TestServer { $0.tls = identity.files }
        let before = onLoop { EventLoop.shared.counters.servedCount }
        let clients = try (0..<200).map { _ in
            let client = try RawClient(server.port)
            try client.send(Self.hello)
            return client
        }
        // Each is answered with a handshake's message.
        for client in clients { #expect(try client.read(1) == [0x16]) }
        let counters = onLoop { EventLoop.shared.counters }
        #expect(counters.servedCount >= before + 200)
        // As many without a handshake to make are sockets of other tests.
        #expect(counters.mostServedCount <= 2 * 64)
    }

    @Test("a TLS handshake that never comes ends in the head's time")
    func handshakeTimeout() throws {
        let identity = try Identity("hearth.test")
        let server = try TestServer {
            $0.tls = identity.files
            $0.timeouts.head = .milliseconds(100)
            $0.timeouts.goodbye = .milliseconds(100)
        }
        let client = try RawClient(server.port)
        #expect(client.isEndedByPeer())
    }

    @Test("two TLS listeners keep their own certificates")
    func twoListeners() throws {
        let identities = try (Identity("a.test"), Identity("b.test"))
        let first = try TestServer { $0.tls = identities.0.files }
        let second = try TestServer { $0.tls = identities.1.files }
        #expect(try subject(first.port, ["-servername", "tls"]).contains("CN = a.test"))
        #expect(try subject(second.port, ["-servername", "tls"]).contains("CN = b.test"))
    }

    @Test("the loop ends cleanly around TLS connections, one of them still shaking hands")
    func stopWithTLS() async {
        await #expect(processExitsWith: .success) {
            let identity = try Identity("hearth.test")
            try EventLoop.shared.run {
                var configuration = TransportConfiguration()
                configuration.port = 0
                configuration.tls = identity.files
                let application = TestApplication()
                let listener = try Listener(configuration, application: application)
                let (silent, client) = try (RawClient(listener.port), Client(listener.port))
                try client.send(Array(RawClient.handshake("/ws").utf8))
                application.observer = { _ in
                    EventLoop.shared.stop()
                    withExtendedLifetime((silent, client)) {}
                }
            }
        }
    }
}
