import Glibc

/// A WebSocket server that does what a test says, byte for byte, for one connection at a time.
final class ScriptedServer {
    enum Failure: Error {
        case system(String, Int32)
        case timedOut(String)
        case ended(String)
    }

    static let patience: Int32 = 300_000
    let port: Int
    private let listener: Int32

    init(receiveBuffer: Int32? = nil) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard listener >= 0 else { throw Failure.system("socket", errno) }
        if var size = receiveBuffer {
            let length = socklen_t(MemoryLayout<Int32>.size)
            setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &size, length)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (bound, listening) = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                let bound = bind(listener, $0, size)
                getsockname(listener, $0, &size)
                return (bound, listen(listener, 512))
            }
        }
        guard bound == 0, listening == 0 else { throw Failure.system("bind", errno) }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(listener) }

    /// Takes the next connection and reads its request.
    func accept() throws -> Peer {
        var entry = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, Self.patience) > 0 else { throw Failure.timedOut("a connection") }
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else { throw Failure.system("accept", errno) }
        return try Peer(descriptor)
    }

    /// Takes the next connection and answers its handshake.
    func acceptWebSocket() throws -> Peer {
        let peer = try accept()
        try peer.acceptHandshake()
        return peer
    }

    /// The server's end of one connection.
    final class Peer {
        /// A frame of the client, unmasked.
        struct Frame: Equatable {
            var operation: UInt8
            var payload: [UInt8]
            var text: String { String(decoding: payload, as: UTF8.self) }
        }

        /// The lines of the request.
        private(set) var request: [String] = []
        private let descriptor: Int32
        private var buffer: [UInt8] = []

        init(_ descriptor: Int32) throws {
            self.descriptor = descriptor
            var yes: Int32 = 1
            let length = socklen_t(MemoryLayout<Int32>.size)
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, length)
            var head: [UInt8] = []
            while !head.suffix(4).elementsEqual([13, 10, 13, 10]) { head += try read(1) }
            request = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
                .map { String($0) }
        }

        deinit { close(descriptor) }

        func header(_ name: String) -> String? {
            let start = name.lowercased() + ":"
            let line = request.first { $0.lowercased().hasPrefix(start) }
            return line.map { String($0.dropFirst(start.count).drop { $0 == " " }) }
        }

        func handshakeAnswer() -> String {
            let key = header("sec-websocket-key") ?? ""
            let digest = SHA1.digest(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
            return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                + "Connection: Upgrade\r\nSec-WebSocket-Accept: \(SHA1.base64(digest))\r\n\r\n"
        }

        func acceptHandshake() throws { try send(Array(handshakeAnswer().utf8)) }

        func send(_ bytes: [UInt8]) throws {
            var offset = 0
            while offset < bytes.count {
                let sent = bytes.withUnsafeBytes {
                    Glibc.send(
                        descriptor,
                        $0.baseAddress.map { $0 + offset },
                        bytes.count - offset,
                        Int32(MSG_NOSIGNAL)
                    )
                }
                guard sent > 0 else { throw Failure.system("send", errno) }
                offset += sent
            }
        }

        /// A server's frame.
        static func frame(
            _ operation: UInt8,
            _ payload: [UInt8],
            isFinal: Bool = true,
        ) -> [UInt8] {
            var bytes = [(isFinal ? 0x80 : 0) | operation]
            if payload.count < 126 {
                bytes.append(UInt8(payload.count))
            } else if payload.count < 65536 {
                bytes += [126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
            } else {
                bytes.append(127)
                for shift in stride(from: 56, through: 0, by: -8) {
                    bytes.append(UInt8((payload.count >> shift) & 255))
                }
            }
            return bytes + payload
        }

        static func text(_ text: String, isFinal: Bool = true) -> [UInt8] {
            frame(1, Array(text.utf8), isFinal: isFinal)
        }

        func read(_ count: Int) throws -> [UInt8] {
            while buffer.count < count {
                var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&entry, 1, ScriptedServer.patience) > 0 else {
                    throw Failure.timedOut("\(count) bytes after \(buffer.count)")
                }
                var chunk = [UInt8](repeating: 0, count: 65536)
                let got = recv(descriptor, &chunk, chunk.count, 0)
                guard got > 0 else { throw Failure.ended("after \(buffer.count) bytes") }
                buffer += chunk[..<got]
            }
            defer { buffer.removeFirst(count) }
            return Array(buffer[..<count])
        }

        func readFrame() throws -> Frame {
            let start = try read(2)
            var length = Int(start[1] & 0x7f)
            if length == 126 {
                length = try read(2).reduce(0) { $0 << 8 | Int($1) }
            } else if length == 127 {
                length = try read(8).reduce(0) { $0 << 8 | Int($1) }
            }
            guard start[0] & 0x80 != 0, start[1] & 0x80 != 0 else {
                throw Failure.ended("a frame that is not masked or not whole")
            }
            let key = try read(4)
            var payload = try read(length)
            for index in payload.indices { payload[index] ^= key[index & 3] }
            return Frame(operation: start[0] & 0x0f, payload: payload)
        }

        /// Whether the client ends the stream, whatever it sends before.
        func isEndedByClient() -> Bool {
            while true {
                do { _ = try read(1) } catch Failure.ended { return true } catch { return false }
            }
        }
    }
}

/// As RFC 3174 and RFC 4648 say, for handshakes of a test.
enum SHA1 {
    static func digest(_ message: [UInt8]) -> [UInt8] {
        var padded = message + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        for shift in stride(from: 56, through: 0, by: -8) {
            padded.append(UInt8(truncatingIfNeeded: (message.count * 8) >> shift))
        }
        var h: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
        for start in stride(from: 0, to: padded.count, by: 64) {
            var w = (0..<16).map { word in
                (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(padded[start + word * 4 + $1]) }
            }
            for t in 16..<80 {
                let x = w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16]
                w.append(x << 1 | x >> 31)
            }
            var (a, b, c, d, e) = (h[0], h[1], h[2], h[3], h[4])
            for t in 0..<80 {
                let (f, k): (UInt32, UInt32) =
                    switch t / 20 {
                    case 0: (b & c | ~b & d, 0x5a82_7999)
                    case 1: (b ^ c ^ d, 0x6ed9_eba1)
                    case 2: (b & c | b & d | c & d, 0x8f1b_bcdc)
                    default: (b ^ c ^ d, 0xca62_c1d6)
                    }
                (a, b, c, d, e) = (
                    (a << 5 | a >> 27) &+ f &+ e &+ k &+ w[t], a, b << 30 | b >> 2, c, d
                )
            }
            h = zip(h, [a, b, c, d, e]).map { $0 &+ $1 }
        }
        return h.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) } }
    }

    static func base64(_ bytes: [UInt8]) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = Array(bytes[start..<min(start + 3, bytes.count)])
            let bits = (0..<3).reduce(0) { $0 << 8 | ($1 < part.count ? Int(part[$1]) : 0) }
            for place in 0..<4 {
                text.append(place <= part.count ? digits[(bits >> (18 - 6 * place)) & 63] : "=")
            }
        }
        return text
    }
}
