import Glibc
import WireProtocol

/// A blocking client of the wire protocol. Every wait ends after 20 seconds.
final class WireClient {
    struct Failure: Error {
        let what: String
    }

    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    private var assembler = FrameAssembler(byteLimit: 256 << 20)

    /// Connects to the database `main` on 127.0.0.1 and reads the hello. `receiveBuffer` bounds what
    /// the kernel takes unread.
    init(_ port: Int, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if let receiveBuffer { setOption(SOL_SOCKET, SO_RCVBUF, receiveBuffer) }
        setOption(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(
            descriptor,
            SOL_SOCKET,
            SO_RCVTIMEO,
            &patience,
            socklen_t(MemoryLayout<timeval>.size)
        )
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Failure(what: "connect: \(errno)") }
        let handshake =
            "GET /.ws?v=5&ns=main HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
            + "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            + "Sec-WebSocket-Version: 13\r\n\r\n"
        try send(bytes: Array(handshake.utf8))
        let end = Array("\r\n\r\n".utf8)
        var head: [UInt8] = []
        while head.suffix(4) != end[...] { head.append(try take(1)[0]) }
        _ = try message()
    }

    deinit { Glibc.close(descriptor) }

    private func setOption(_ level: Int32, _ name: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    // MARK: Sending

    /// The frame of a request; `body` is what stands between the braces of its `b`.
    static func request(_ number: Int, _ action: String, _ body: String) -> [UInt8] {
        frame(#"{"t":"d","d":{"r":\#(number),"a":"\#(action)","b":{\#(body)}}}"#)
    }

    /// A masked text frame; the mask is 0.
    static func frame(_ text: String) -> [UInt8] {
        let payload = Array(text.utf8)
        var bytes: [UInt8] = [0x81]
        switch payload.count {
        case ..<126: bytes.append(0x80 | UInt8(payload.count))
        case ..<65536:
            bytes += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
        default:
            bytes.append(0x80 | 127)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8((payload.count >> shift) & 255))
            }
        }
        return bytes + [0, 0, 0, 0] + payload
    }

    func send(bytes: [UInt8]) throws {
        var offset = 0
        while offset < bytes.count {
            let sent = bytes.withUnsafeBytes { buffer in
                Glibc.send(
                    descriptor,
                    buffer.baseAddress.map { $0 + offset },
                    bytes.count - offset,
                    Int32(MSG_NOSIGNAL)
                )
            }
            guard sent > 0 else { throw Failure(what: "send: \(errno)") }
            offset += sent
        }
    }

    // MARK: Receiving

    private func take(_ count: Int) throws -> [UInt8] {
        while buffer.count - start < count {
            buffer.removeFirst(start)
            start = 0
            var chunk = [UInt8](repeating: 0, count: 1 << 18)
            let got = recv(descriptor, &chunk, chunk.count, 0)
            guard got > 0 else { throw Failure(what: "recv: \(got), \(errno)") }
            buffer += chunk[..<got]
        }
        defer { start += count }
        return Array(buffer[start..<start + count])
    }

    /// The next WebSocket frame that is no ping: its operation and payload. A ping is answered.
    private func frame() throws -> (operation: UInt8, payload: [UInt8]) {
        while true {
            let head = try take(2)
            var count = Int(head[1])
            if count == 126 { count = try take(2).reduce(0) { $0 << 8 | Int($1) } }
            if count == 127 { count = try take(8).reduce(0) { $0 << 8 | Int($1) } }
            let (operation, payload) = (head[0] & 15, try take(count))
            guard operation == 9 else { return (operation, payload) }
            // A pong with the same payload, of 125 bytes at most, under a mask of 0.
            try send(bytes: [0x8A, 0x80 | UInt8(payload.count), 0, 0, 0, 0] + payload)
        }
    }

    /// The next whole message.
    func message() throws -> String {
        while true {
            let (operation, payload) = try frame()
            guard operation == 1 else { throw Failure(what: "a frame of kind \(operation)") }
            if case .message(let text) = try assembler.receive(payload) {
                return String(decoding: text, as: UTF8.self)
            }
        }
    }

    /// The code of the next frame, which is a Close.
    func closeCode() throws -> Int {
        let (operation, payload) = try frame()
        guard operation == 8, payload.count >= 2 else {
            throw Failure(what: "a frame of kind \(operation)")
        }
        return Int(payload[0]) << 8 | Int(payload[1])
    }

    /// Sends one request and reads the next message.
    func ask(_ number: Int, _ action: String, _ body: String) throws -> String {
        try send(bytes: WireClient.request(number, action, body))
        return try message()
    }
}
