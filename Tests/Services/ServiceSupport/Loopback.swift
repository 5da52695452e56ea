import Glibc

/// Sockets of 127.0.0.1, for tests that stand between a client and a server.
package enum Loopback {
    /// What the system said.
    package struct SocketError: Error {
        let code: Int32
    }

    /// The port of `http://127.0.0.1:PORT`.
    ///
    /// - Throws: `SocketError` when there is none in it.
    package static func port(of url: String) throws -> UInt16 {
        guard let port = url.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw SocketError(code: EINVAL)
        }
        return port
    }

    /// Listens on a free port; the socket is the caller's.
    ///
    /// - Throws: `SocketError` when there is none.
    package static func listen() throws -> (socket: Int32, port: UInt16) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutableBytes(of: &address) { bytes in
            let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return bind(listener, address, length) == 0 && Glibc.listen(listener, 64) == 0
                && getsockname(listener, address, &length) == 0
        }
        guard isListening else {
            let code = errno
            close(listener)
            throw SocketError(code: code)
        }
        return (listener, UInt16(bigEndian: address.sin_port))
    }

    /// A connection to a port, which is the caller's; nil when no one listens there.
    package static func connect(to port: UInt16) -> Int32? {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let isConnected = withUnsafeBytes(of: address(port)) { bytes in
            let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return Glibc.connect(server, address, socklen_t(bytes.count)) == 0
        }
        if isConnected { return server }
        close(server)
        return nil
    }

    /// What comes next; nil at the end.
    package static func receive(_ socket: Int32) -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket, &chunk, chunk.count, 0)
        return count > 0 ? Array(chunk[..<count]) : nil
    }

    /// Sends as far as the other side takes it: who has hung up is seen where is read.
    package static func send(_ bytes: [UInt8], to socket: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        return address
    }
}

/// Takes what a client sends apart, from the head of its upgrade on.
package struct ClientFrames {
    /// A frame, and the text that is under its mask.
    package struct Frame {
        package let bytes: [UInt8]
        package let text: String
    }

    private var head: [UInt8] = []
    private var isWebSocket = false
    private var rest: [UInt8] = []

    package init() {}

    /// The frames that end with these bytes, in order; nil while it is HTTP, of which nothing is to be held back.
    package mutating func split(_ bytes: [UInt8]) -> [Frame]? {
        guard isWebSocket else {
            // Nothing is behind the head of an upgrade before it is answered.
            head += bytes
            let text = String(decoding: head, as: UTF8.self).lowercased()
            isWebSocket = text.hasSuffix("\r\n\r\n") && text.contains("upgrade: websocket")
            return nil
        }
        rest += bytes
        var frames: [Frame] = []
        while let (head, count) = length, head + count <= rest.count {
            let mask = rest[(head - 4)..<head]
            let payload = rest[head..<(head + count)].enumerated().map { index, byte in
                byte ^ mask[mask.startIndex + index % 4]
            }
            let text = String(decoding: payload, as: UTF8.self)
            frames.append(Frame(bytes: Array(rest[..<(head + count)]), text: text))
            rest.removeFirst(head + count)
        }
        return frames
    }

    /// Bytes before the payload of the next frame, and of it: 2, up to 8 of a longer length, 4 of the mask. Nil while
    /// there are too few to say.
    private var length: (head: Int, payload: Int)? {
        guard rest.count >= 2 else { return nil }
        let short = Int(rest[1] & 0x7F)
        let more = short == 127 ? 8 : short == 126 ? 2 : 0
        guard rest.count >= 2 + more else { return nil }
        let count = more == 0 ? short : rest[2..<(2 + more)].reduce(0) { $0 << 8 | Int($1) }
        return (2 + more + 4, count)
    }
}
