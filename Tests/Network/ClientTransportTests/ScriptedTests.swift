import TestSupport
import Testing

@testable import ClientTransport

extension TransportTests {
    /// Against a server that sends bytes as the test asks.
    @Suite("a socket", .timeLimit(.minutes(2)))
    struct ScriptedTests {
        private typealias Peer = ScriptedServer.Peer
        private let transport = LibwebsocketsTransport()
        private let log = SocketLog()

        @Test("asks for an upgrade with the host, target and header lines as given")
        func handshake() throws {
            let server = try ScriptedServer()
            var request = SocketRequest(
                host: "127.0.0.1:\(server.port)",
                isSecure: false,
                target: "/.ws?v=5&ns=a%20b"
            )
            request.headers = [("User-Agent", "Firebase/5/test"), ("X-Other", "a: b")]
            let socket = transport.open(request, tell: log.tell)
            let peer = try server.accept()
            #expect(peer.request.first == "GET /.ws?v=5&ns=a%20b HTTP/1.1")
            #expect(peer.header("host") == "127.0.0.1:\(server.port)")
            #expect(peer.header("user-agent") == "Firebase/5/test")
            #expect(peer.header("x-other") == "a: b")
            #expect(peer.header("sec-websocket-version") == "13")
            #expect(peer.header("sec-websocket-extensions") == nil)
            #expect(peer.header("sec-websocket-protocol") == nil)
            try peer.acceptHandshake()
            try log.opened()
            socket.send("hello")
            #expect(try peer.readFrame() == .init(operation: 1, payload: Array("hello".utf8)))
        }

        @Test("delivers whole messages whatever the cuts between frames and packets")
        func cuts() throws {
            let server = try ScriptedServer()
            let socket = transport.open("127.0.0.1:\(server.port)", log: log)
            let peer = try server.accept()
            let bytes =
                Array(peer.handshakeAnswer().utf8) + Peer.text("first") + Peer.text("")
                + Peer.text("sec", isFinal: false) + Peer.frame(9, Array("ping".utf8))
                + Peer.frame(0, Array("on".utf8), isFinal: false) + Peer.frame(0, Array("d".utf8))
                + Peer.frame(10, []) + Peer.text(String(repeating: "é", count: 300))
            for byte in bytes { try peer.send([byte]) }
            try log.opened()
            #expect(try log.text() == "first")
            #expect(try log.text() == "")
            #expect(try log.text() == "second")
            #expect(try log.text() == String(repeating: "é", count: 300))
            #expect(try peer.readFrame() == .init(operation: 10, payload: Array("ping".utf8)))
            socket.close()
            #expect(try peer.readFrame() == .init(operation: 8, payload: [0x03, 0xe8]))
        }

        @Test("takes frames that come with the handshake's answer")
        func together() throws {
            let server = try ScriptedServer()
            let socket = transport.open("127.0.0.1:\(server.port)", log: log)
            let peer = try server.accept()
            let texts = (0..<50).map { "\($0)" }
            try peer.send(Array(peer.handshakeAnswer().utf8) + texts.flatMap { Peer.text($0) })
            try log.opened()
            for text in texts { #expect(try log.text() == text) }
            socket.close()
        }

        @Test(
            "takes and sends frames of every length",
            arguments: [0, 1, 125, 126, 65535, 65536, 3_000_000]
        )
        func lengths(byteCount: Int) throws {
            let server = try ScriptedServer()
            let socket = transport.open("127.0.0.1:\(server.port)", log: log)
            let peer = try server.acceptWebSocket()
            try log.opened()
            let payload = (0..<byteCount).map { UInt8(truncatingIfNeeded: 32 + $0 % 90) }
            try peer.send(Peer.frame(1, payload))
            #expect(try log.bytes() == payload)
            socket.send([payload, payload])
            #expect(try peer.readFrame().payload == payload)
            #expect(try peer.readFrame().payload == payload)
        }

        @Test("sends a close frame after the frames before it, and ends when it is answered")
        func closing() throws {
            let server = try ScriptedServer()
            let socket = transport.open("127.0.0.1:\(server.port)", log: log)
            let peer = try server.acceptWebSocket()
            try log.opened()
            let long = [UInt8](repeating: 65, count: 4_000_000)
            socket.send([long, [66]])
            socket.close()
            socket.send("dropped")
            #expect(try peer.readFrame().payload == long)
            #expect(try peer.readFrame().payload == [66])
            let frame = try peer.readFrame()
            #expect(frame == .init(operation: 8, payload: [0x03, 0xe8]))
            try peer.send(Peer.frame(8, frame.payload))
            #expect(peer.isEndedByClient())
            #expect(try log.reason() == "closed by the client")
        }

        @Test("that is closed before it is open sends nothing")
        func closedEarly() throws {
            let server = try ScriptedServer()
            let socket = transport.open("127.0.0.1:\(server.port)", log: log)
            let peer = try server.accept()
            socket.send("dropped")
            socket.close()
            #expect(try log.reason() == "closed by the client")
            #expect(peer.isEndedByClient())
        }

        @Test("tells the code and words of the server's close frame")
        func closedByServer() throws {
            let server = try ScriptedServer()
            let socket = transport.open("127.0.0.1:\(server.port)", log: log)
            let peer = try server.acceptWebSocket()
            try log.opened()
            try peer.send(Peer.frame(8, [0x03, 0xe9] + Array("going away".utf8)))
            #expect(
                try log.reason() == "the server closed the WebSocket with code 1001: going away"
            )
            #expect(try peer.readFrame().operation == 8)
            socket.send("dropped")
            socket.close()
            #expect(log.rest.isEmpty)
        }

        @Test("that is cut within a frame delivers nothing of it")
        func cut() throws {
            let server = try ScriptedServer()
            let socket = transport.open("127.0.0.1:\(server.port)", log: log)
            var peer: Peer? = try server.acceptWebSocket()
            try log.opened()
            try peer?.send(Peer.text("whole") + Peer.text("half of it").dropLast(5))
            #expect(try log.text() == "whole")
            peer = nil
            #expect(try log.reason() == "the connection to 127.0.0.1:\(server.port) is lost")
            socket.close()
        }

        @Test(
            "that the server answers otherwise closes with the status",
            arguments: [
                ("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "answered 403 "),
                ("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno", "answered 404 "),
                ("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", "answered 401 "),
                ("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n", "answered 302 "),
                ("HTTP/1.0 200 OK\r\n\r\n<html>", "answered 200 "),
                ("HTTP/1.1 503 Busy\r\n\r\n", "answered 503 "),
                ("SSH-2.0-OpenSSH_9.2\r\n", "before the WebSocket was open"),
                ("\u{1}\u{2}\u{3}\u{0}\u{5}", "before the WebSocket was open"),
                ("", "before the WebSocket was open"),
                (
                    "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        + "Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n",
                    "not right (Accept hash wrong)"
                ),
                (
                    "HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n"
                        + "Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n",
                    "not right (Upgrade to something other than websocket)"
                ),
            ]
        )
        func refused(answer: String, reason: String) throws {
            let server = try ScriptedServer()
            let socket = transport.open("127.0.0.1:\(server.port)", log: log)
            var peer: Peer? = try server.accept()
            try peer?.send(Array(answer.utf8))
            peer = nil
            let reported = try log.reason()
            #expect(reported.contains(reason), "\(reported)")
            socket.close()
        }

        @Test(
            "closes when the server breaks the protocol",
            arguments: [
                Peer.frame(2, [1, 2, 3]), Peer.frame(3, []), Peer.frame(0, [1]),
                [0xc1, 0x01, 0x41],
                Peer.frame(9, [1], isFinal: false), [0x89, 0x7e, 0x00, 0x80],
                Peer.text("a", isFinal: false) + Peer.text("b"),
                [0x81, 0x7f, 0x80, 0, 0, 0, 0, 0, 0, 0],
                [0x81, 0x7f, 0x40, 0, 0, 0, 0, 0, 0, 0, 65],
            ] as [[UInt8]]
        )
        func garbage(bytes: [UInt8]) throws {
            let server = try ScriptedServer()
            let socket = transport.open("127.0.0.1:\(server.port)", log: log)
            var peer: Peer? = try server.acceptWebSocket()
            try log.opened()
            try peer?.send(bytes)
            peer = nil
            _ = try log.reasonAfterAll()
            socket.close()
        }

        @Test(
            "closes with code 1003 at a binary frame, and takes no more",
            arguments: [3, 100_000]
        )
        func binary(byteCount: Int) throws {
            let server = try ScriptedServer()
            let socket = transport.open("127.0.0.1:\(server.port)", log: log)
            let peer = try server.acceptWebSocket()
            try log.opened()
            let payload = [UInt8](repeating: 7, count: byteCount)
            try peer.send(Peer.frame(2, payload) + Peer.text("dropped") + Peer.frame(2, payload))
            #expect(try peer.readFrame() == .init(operation: 8, payload: [0x03, 0xeb]))
            // It need not wait for an answer.
            do { try peer.send(Peer.frame(8, [0x03, 0xeb])) } catch ScriptedServer.Failure.system {}
            #expect(try log.reason() == "the server sent a binary frame")
            #expect(peer.isEndedByClient())
            socket.close()
        }

        @Test("survives whatever a server sends", arguments: TestSeed.seeds(10))
        func noise(seed: UInt64) throws {
            var random = SeededGenerator(seed: seed)
            let server = try ScriptedServer()
            for round in 0..<20 {
                let log = SocketLog()
                let socket = transport.open("127.0.0.1:\(server.port)", log: log)
                var peer: Peer? = try server.accept()
                var bytes = Array((try #require(peer)).handshakeAnswer().utf8)
                if random.index(4) == 0 {
                    bytes[random.index(bytes.count)] ^= 1 << UInt8(random.index(8))
                }
                for _ in 0..<random.index(20) {
                    let payload = (0..<random.index(200)).map { _ in UInt8(random.index(256)) }
                    let operation = [0, 1, 1, 1, 2, 8, 9, 9, 10, 11][random.index(10)]
                    var frame = Peer.frame(UInt8(operation), payload, isFinal: random.index(4) > 0)
                    if random.index(3) == 0 {
                        frame[random.index(min(4, frame.count))] = UInt8(random.index(256))
                    }
                    bytes += frame
                }
                // It may close before all is sent.
                do { try peer?.send(bytes) } catch ScriptedServer.Failure.system {}
                peer = nil
                _ = try log.reasonAfterAll()
                #expect(log.rest.isEmpty, "seed \(seed), round \(round)")
                socket.close()
            }
        }

        @Test("takes frames before it is open and sends them once it is")
        func early() throws {
            let server = try ScriptedServer()
            let socket = transport.open("127.0.0.1:\(server.port)", log: log)
            socket.send("one", "two")
            let peer = try server.accept()
            socket.send("three")
            try peer.acceptHandshake()
            for text in ["one", "two", "three"] { #expect(try peer.readFrame().text == text) }
            socket.close()
            #expect(try peer.readFrame().operation == 8)
        }

        @Test("that a server does not read from sends all once it does, and is bounded")
        func slowReader() throws {
            let server = try ScriptedServer(receiveBuffer: 4096)
            let socket = transport.open("127.0.0.1:\(server.port)", log: log)
            let peer = try server.acceptWebSocket()
            try log.opened()
            let frame = [UInt8](repeating: 65, count: 48 * 1024)
            for _ in 0..<400 { socket.send([frame]) }
            socket.send("end")
            for _ in 0..<400 { #expect(try peer.readFrame().payload == frame) }
            #expect(try peer.readFrame().text == "end")
            let room = SocketLimits.queuedByteCount / frame.count + 100
            for _ in 0..<room { socket.send([frame]) }
            #expect(try log.reason() == "more than 67108864 bytes wait to be sent")
        }

        @Test("keeps the order of each of several threads that send")
        func threads() async throws {
            let server = try ScriptedServer()
            let socket = transport.open("127.0.0.1:\(server.port)", log: log)
            let peer = try server.acceptWebSocket()
            try log.opened()
            await withTaskGroup { group in
                for caller in 0..<4 {
                    group.addTask {
                        for number in 0..<500 {
                            socket.send("\(caller):\(number)", "\(caller)!\(number)")
                        }
                    }
                }
            }
            var next = [0, 0, 0, 0]
            for _ in 0..<2000 {
                let first = try peer.readFrame().text.split(separator: ":")
                let second = try peer.readFrame().text.split(separator: "!")
                #expect(first == second)
                let caller = try #require(Int(first[0]))
                #expect(Int(first[1]) == next[caller])
                next[caller] += 1
            }
        }

        @Test("may be closed and opened again from within its own events")
        func reopening() throws {
            let server = try ScriptedServer()
            let (transport, log) = (transport, log)
            let again = SocketLog()
            let host = "127.0.0.1:\(server.port)"
            let socket = transport.open(SocketRequest(host: host, isSecure: false, target: "/")) {
                log.tell($0)
                if case .closed = $0 { _ = transport.open(host, log: again) }
            }
            var peer: Peer? = try server.acceptWebSocket()
            try log.opened()
            peer = nil
            let second = try server.acceptWebSocket()
            try again.opened()
            try second.send(Peer.text("again"))
            #expect(try again.text() == "again")
            #expect(peer == nil)
            socket.close()
        }
    }
}
