import Foundation
import TestSupport
import Testing

@testable import ClientTransport

extension TransportTests {
    /// Against the real server, with certificates of the `openssl` program.
    @Suite("TLS", .timeLimit(.minutes(2)))
    struct TLSTests {
        private let log = SocketLog()
        private let transport = LibwebsocketsTransport()

        /// A certificate that is its own authority.
        struct Identity {
            let folder: TemporaryFolder
            var certificate: String { "\(folder.path)/certificate.pem" }
            var key: String { "\(folder.path)/key.pem" }
            var arguments: [String] {
                ["--dev", "--memory", "--tls-cert", certificate, "--tls-key", key]
            }

            init(names: String = "DNS:localhost,IP:127.0.0.1,IP:::1") throws {
                folder = try TemporaryFolder()
                let process = Process()
                process.executableURL = URL(filePath: "/usr/bin/env")
                process.arguments = [
                    "openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=test",
                    "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-addext", "subjectAltName=\(names)", "-keyout", key, "-out", certificate,
                ]
                process.standardError = FileHandle.nullDevice
                try process.run()
                process.waitUntilExit()
                try #require(process.terminationStatus == 0)
            }
        }

        @Test(
            "a certificate of the given authorities is trusted",
            arguments: ["localhost", "127.0.0.1"]
        )
        func trusted(host: String) throws {
            let identity = try Identity()
            let server = try RunningServer(arguments: identity.arguments)
            let socket = transport.open(
                "\(host):\(server.port)",
                isSecure: true,
                authorityFile: identity.certificate,
                log: log
            )
            try log.opened()
            #expect(try log.text().contains(#""h":"\#(host):\#(server.port)""#))
            try exchange(String(repeating: "long ", count: 40_000), on: socket)
            socket.close()
            #expect(try log.reasonAfterAll() == "closed by the client")
        }

        /// Writes a text and reads it back.
        private func exchange(_ text: String, on socket: any ClientSocket) throws {
            let write = #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":"\#(text)"}}}"#
            let pieces = stride(from: 0, to: write.utf8.count, by: 16_000).map {
                Array(Array(write.utf8)[$0..<min($0 + 16_000, write.utf8.count)])
            }
            socket.send([Array("\(pieces.count)".utf8)] + pieces)
            #expect(try log.text() == #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}"#)
            socket.send(#"{"t":"d","d":{"r":2,"a":"q","b":{"p":"/a","h":""}}}"#)
            var answer = try log.text()
            if let count = Int(answer) {
                answer = try (0..<count).map { _ in try log.text() }.joined()
            }
            #expect(answer.contains(text))
        }

        @Test("an address in brackets is checked as an address")
        func addressOfVersion6() throws {
            let identity = try Identity()
            let arguments = identity.arguments + ["--host", "::1"]
            // A machine may have no IPv6.
            guard let server = try? RunningServer(arguments: arguments) else { return }
            _ = transport.open(
                "[::1]:\(server.port)",
                isSecure: true,
                authorityFile: identity.certificate,
                log: log
            )
            try log.opened()
            let other = try Identity(names: "DNS:localhost,IP:127.0.0.1")
            let otherServer = try RunningServer(arguments: other.arguments + ["--host", "::1"])
            let otherLog = SocketLog()
            _ = transport.open(
                "[::1]:\(otherServer.port)",
                isSecure: true,
                authorityFile: other.certificate,
                log: otherLog
            )
            #expect(try otherLog.reason() == "the certificate of the server is not for ::1")
        }

        @Test("without given authorities those of the system count")
        func system() throws {
            let identity = try Identity()
            let server = try RunningServer(arguments: identity.arguments)
            // OpenSSL's own variable stands for the system here.
            setenv("SSL_CERT_FILE", identity.certificate, 1)
            defer { unsetenv("SSL_CERT_FILE") }
            _ = transport.open("localhost:\(server.port)", isSecure: true, log: log)
            try log.opened()
        }

        @Test("handshakes go on while other transports come and go")
        func manyTransports() async throws {
            let identity = try Identity()
            let server = try RunningServer(arguments: identity.arguments)
            let (host, authorities) = ("127.0.0.1:\(server.port)", identity.certificate)
            try await withThrowingTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<15 {
                            let log = SocketLog()
                            let transport = LibwebsocketsTransport()
                            let socket = transport.open(
                                host,
                                isSecure: true,
                                authorityFile: authorities,
                                log: log
                            )
                            try log.opened()
                            socket.close()
                            _ = try log.reasonAfterAll()
                        }
                    }
                }
                try await group.waitForAll()
            }
        }

        @Test("a certificate that no one vouches for is reported as not trusted")
        func untrusted() throws {
            let identity = try Identity()
            let other = try Identity()
            let server = try RunningServer(arguments: identity.arguments)
            for authorities in [nil, other.certificate] {
                let log = SocketLog()
                _ = transport.open(
                    "localhost:\(server.port)",
                    isSecure: true,
                    authorityFile: authorities,
                    log: log
                )
                let reason = try log.reason()
                #expect(
                    reason == "the certificate of localhost is not trusted: self-signed certificate"
                )
            }
        }

        @Test(
            "a certificate for another host is reported",
            arguments: [
                "DNS:example.org,DNS:localhost.example.org", "DNS:*.localhost,IP:127.0.0.2",
            ]
        )
        func otherHost(names: String) throws {
            let identity = try Identity(names: names)
            let server = try RunningServer(arguments: identity.arguments)
            for host in ["localhost", "127.0.0.1"] {
                let log = SocketLog()
                _ = transport.open(
                    "\(host):\(server.port)",
                    isSecure: true,
                    authorityFile: identity.certificate,
                    log: log
                )
                #expect(try log.reason() == "the certificate of the server is not for \(host)")
            }
        }

        @Test("authorities that cannot be read are reported by their path, and read again later")
        func authorities() throws {
            let identity = try Identity()
            let server = try RunningServer(arguments: identity.arguments)
            let path = "\(identity.folder.path)/later.pem"
            for text in [nil, "no certificate"] {
                let log = SocketLog()
                if let text { _ = try identity.folder.file("later.pem", text) }
                _ = transport.open(
                    "localhost:\(server.port)",
                    isSecure: true,
                    authorityFile: path,
                    log: log
                )
                let reason = try log.reason()
                #expect(
                    reason.hasPrefix("the authorities of \(path) cannot be read: "),
                    "\(reason)"
                )
            }
            let certificate = try String(contentsOfFile: identity.certificate, encoding: .utf8)
            _ = try identity.folder.file("later.pem", certificate)
            _ = transport.open(
                "localhost:\(server.port)",
                isSecure: true,
                authorityFile: path,
                log: log
            )
            try log.opened()
        }

        @Test("a server without TLS, and one that wants it, are reported")
        func mismatch() throws {
            let plain = try RunningServer()
            _ = transport.open("127.0.0.1:\(plain.port)", isSecure: true, log: log)
            let reason = try log.reason()
            #expect(reason.hasPrefix("the TLS or WebSocket handshake with 127.0.0.1"), "\(reason)")
            let identity = try Identity()
            let secure = try RunningServer(arguments: identity.arguments)
            let other = SocketLog()
            _ = transport.open("127.0.0.1:\(secure.port)", log: other)
            let otherReason = try other.reason()
            #expect(otherReason.contains("127.0.0.1:\(secure.port)"), "\(otherReason)")
        }
    }
}
