import Foundation
import TestSupport
import Testing

@testable import ClientTransport

extension TransportTests {
    /// What stands in the way of a connection, and what goes with the last one.
    @Suite("opening", .timeLimit(.minutes(2)))
    struct OpeningTests {
        private let log = SocketLog()

        @Test(
            "a host and port are taken apart as in a URL",
            arguments: [
                ("localhost:9000", "localhost", 9000), ("db.example.org", "db.example.org", 80),
                ("[::1]:9000", "::1", 9000), ("[fe80::1%eth0]", "fe80::1%eth0", 80),
                ("", nil, 0), (":80", nil, 0), ("a:", nil, 0), ("a:0", nil, 0), ("a:65536", nil, 0),
                ("a:b", nil, 0), ("::1", nil, 0), ("[::1", nil, 0), ("[::1]9", nil, 0),
                ("a b:80", nil, 0), ("a:+80", nil, 0), ("a\r\n:80", nil, 0),
            ] as [(String, String?, Int)]
        )
        func places(text: String, name: String?, port: Int) {
            let place = HostAndPort(text, defaultPort: 80)
            #expect(place?.name == name)
            if name != nil { #expect(place?.port == port) }
        }

        @Test("a port that no one listens at is reported as refused, for every address of the host")
        func refused() throws {
            // Bound and not listening: no one else takes it.
            let port = try ScriptedServer().port
            let transport = LibwebsocketsTransport()
            _ = transport.open("127.0.0.1:\(port)", log: log)
            let reported = try log.reason()
            #expect(
                reported.hasPrefix("no connection to 127.0.0.1:\(port): it is refused"),
                "\(reported)"
            )
            let named = SocketLog()
            _ = transport.open("localhost:\(port)", log: named)
            let reason = try named.reason()
            #expect(reason.contains("no connection to 127.0.0.1:\(port)"), "\(reason)")
        }

        @Test("another address of a host is tried when the first is no good")
        func addresses() throws {
            // `localhost` is often ::1 before it is 127.0.0.1, where alone the server is.
            let server = try RunningServer()
            let transport = LibwebsocketsTransport()
            let socket = transport.open("localhost:\(server.port)", log: log)
            try log.opened()
            #expect(try log.text().hasPrefix(#"{"t":"c""#))
            socket.close()
            #expect(try log.reason() == "closed by the client")
        }

        @Test("a host that does not exist is reported by its name")
        func unknownHost() throws {
            let transport = LibwebsocketsTransport()
            _ = transport.open("no-such-host.invalid:80", log: log)
            #expect(try log.reason(60).hasPrefix("the host no-such-host.invalid is not found: "))
        }

        @Test(
            "a request that cannot be sent as it is given is refused",
            arguments: [
                ("127.0.0.1:1", "/a b"), ("127.0.0.1:1", "/a\r\nHost: b"), ("127.0.0.1:1", "a"),
                ("127.0.0.1:1", "/" + String(repeating: "a", count: 2000)), ("a b", "/"), ("", "/"),
                (String(repeating: "a", count: 111) + ":1", "/"),
            ]
        )
        func faults(host: String, target: String) throws {
            let transport = LibwebsocketsTransport()
            _ = transport.open(host, target, log: log)
            _ = try log.reason()
        }

        @Test("a header line cannot smuggle another in")
        func headerFaults() throws {
            var request = SocketRequest(host: "127.0.0.1:1", isSecure: false, target: "/")
            request.headers = [("X-A", "b\r\nX-C: d")]
            _ = LibwebsocketsTransport().open(request, tell: log.tell)
            #expect(try log.reason().contains("header lines"))
        }

        @Test(
            "a server that takes the connection and says nothing is given up",
            arguments: [false, true]
        )
        func silence(isSecure: Bool) throws {
            let server = try ScriptedServer()
            let transport = LibwebsocketsTransport(SocketTimes(opening: .milliseconds(300)))
            let host = "127.0.0.1:\(server.port)"
            _ = transport.open(host, isSecure: isSecure, log: log)
            let reason = try log.reason()
            #expect(reason.hasPrefix("the handshake with \(host) was not done"), "\(reason)")
        }

        @Test("a server that does not take the close frame is left", arguments: [false, true])
        func unansweredClose(isFull: Bool) throws {
            let server = try ScriptedServer(receiveBuffer: 4096)
            let transport = LibwebsocketsTransport(SocketTimes(closing: .milliseconds(300)))
            let socket = transport.open("127.0.0.1:\(server.port)", log: log)
            let peer = try server.acceptWebSocket()
            try log.opened()
            if isFull { socket.send([[UInt8](repeating: 65, count: 20_000_000)]) }
            socket.close()
            #expect(try log.reason() == "closed by the client")
            #expect(peer.isEndedByClient())
        }

        // In a process of its own: the environment is that of all tests, and others use proxies.
        @Test("the proxy of the environment is not used")
        func proxy() async {
            await #expect(processExitsWith: .success) {
                setenv("http_proxy", "127.0.0.1:1", 1)
                let server = try ScriptedServer()
                let transport = LibwebsocketsTransport()
                let log = SocketLog()
                let socket = transport.open("127.0.0.1:\(server.port)", log: log)
                let peer = try server.acceptWebSocket()
                try log.opened()
                #expect(peer.request[0].hasPrefix("GET /.ws"))
                socket.close()
            }
        }

        @Test("what the process does with SIGPIPE stays as it was")
        func brokenPipe() throws {
            var before = sigaction()
            sigaction(SIGPIPE, nil, &before)
            let server = try ScriptedServer()
            let transport = LibwebsocketsTransport()
            let socket = transport.open("127.0.0.1:\(server.port)", log: log)
            _ = try server.acceptWebSocket()
            try log.opened()
            _ = try log.reason()
            socket.send("into the void")
            var after = sigaction()
            sigaction(SIGPIPE, nil, &after)
            #expect(
                unsafeBitCast(before.__sigaction_handler.sa_handler, to: Int.self)
                    == unsafeBitCast(after.__sigaction_handler.sa_handler, to: Int.self)
            )
        }

        @Test("200 sockets of one transport live side by side on the real server")
        func many() throws {
            let server = try RunningServer()
            let transport = LibwebsocketsTransport()
            let logs = (0..<200).map { _ in SocketLog() }
            let sockets = logs.map { transport.open("127.0.0.1:\(server.port)", log: $0) }
            for log in logs {
                try log.opened()
                #expect(try log.text().hasPrefix(#"{"t":"c","d":{"t":"h""#))
            }
            for (index, socket) in sockets.enumerated() {
                socket.send(
                    #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/many/\#(index)","d":\#(index)}}}"#
                )
            }
            for log in logs {
                #expect(try log.text() == #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}"#)
            }
            for socket in sockets { socket.close() }
            for log in logs { #expect(try log.reason() == "closed by the client") }
        }

        // In a process of its own: threads and descriptors are those of all tests.
        @Test("transports that come and go leave no thread and no descriptor behind")
        func leaks() async {
            await #expect(processExitsWith: .success) {
                let server = try ScriptedServer()
                for _ in 0..<10 { try Self.connectOnce(to: server) }
                try #require(Self.ends { try Self.threadCount() == 0 })
                let descriptors = try Self.names("/proc/self/fd").count
                for _ in 0..<100 { try Self.connectOnce(to: server) }
                #expect(try Self.ends { try Self.threadCount() == 0 })
                #expect(try Self.names("/proc/self/fd").count <= descriptors)
            }
        }

        /// A transport that opens one connection, closes it and goes.
        private static func connectOnce(to server: ScriptedServer) throws {
            let log = SocketLog()
            let transport = LibwebsocketsTransport()
            let socket = transport.open("127.0.0.1:\(server.port)", log: log)
            let peer = try server.acceptWebSocket()
            try log.opened()
            socket.close()
            let frame = try peer.readFrame()
            try peer.send(ScriptedServer.Peer.frame(8, frame.payload))
            _ = try log.reasonAfterAll()
        }

        /// Looks until it is so, since a thread ends a moment after its last event.
        private static func ends(_ isSo: () throws -> Bool) rethrows -> Bool {
            let deadline = ContinuousClock.now + .seconds(300)
            while try !isSo() {
                guard ContinuousClock.now < deadline else { return false }
                sched_yield()
            }
            return true
        }

        /// The threads of transports in this process.
        private static func threadCount() throws -> Int {
            try names("/proc/self/task").count {
                guard let file = fopen("/proc/self/task/\($0)/comm", "r") else { return false }
                defer { fclose(file) }
                var line = [CChar](repeating: 0, count: 64)
                return fgets(&line, 64, file) != nil && text(of: line).hasPrefix("hearth-sockets")
            }
        }

        private static func names(_ path: String) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: path)
        }
    }
}
