import Glibc

/// A blocking POSIX socket that sends exactly what a test gives it. Every wait ends after 60 seconds, which is a bug.
final class RawClient {
    enum Failure: Error {
        case cannotConnect(Int32)
        case timedOut(String)
        case connectionEnded(String)
        case badResponse(String)
        case sendFailed(Int32)
    }

    struct Response {
        let status: Int
        let headers: [(name: String, value: String)]
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }

        func header(_ name: String) -> String? {
            headers.first { $0.name.lowercased() == name }?.value
        }
    }

    static let patience: Int32 = 60_000
    let descriptor: Int32
    private var buffer: [UInt8] = []

    /// Connects to 127.0.0.1, from 127.0.0.`from` when that is given. `receiveBuffer` bounds what the kernel takes
    /// unread; with it segments are small, so that the server's kernel takes little too.
    init(_ port: Int, receiveBuffer: Int32? = nil, from: UInt32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if let from {
            var own = sockaddr_in()
            own.sin_family = sa_family_t(AF_INET)
            own.sin_addr.s_addr = (UInt32(0x7f00_0000) + from).bigEndian
            let bound = withUnsafePointer(to: &own) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard bound == 0 else { throw Failure.cannotConnect(errno) }
        }
        if var size = receiveBuffer {
            setsockopt(
                descriptor,
                SOL_SOCKET,
                SO_RCVBUF,
                &size,
                socklen_t(MemoryLayout<Int32>.size)
            )
            var segment: Int32 = 536
            setsockopt(
                descriptor,
                Int32(IPPROTO_TCP),
                TCP_MAXSEG,
                &segment,
                socklen_t(MemoryLayout<Int32>.size)
            )
        }
        var one: Int32 = 1
        setsockopt(
            descriptor,
            Int32(IPPROTO_TCP),
            TCP_NODELAY,
            &one,
            socklen_t(MemoryLayout<Int32>.size)
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
        // What was made so far ends as usual: a second `close` here would be of a descriptor that another test has by then.
        guard connected == 0 else { throw Failure.cannotConnect(errno) }
    }

    deinit { Glibc.close(descriptor) }

    // MARK: Sending

    func send(_ text: String) throws {
        try send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) throws {
        var offset = 0
        while offset < bytes.count {
            let sent = bytes.withUnsafeBytes { buffer in
                Glibc.send(
                    descriptor,
                    buffer.baseAddress.map { $0 + offset },
                    bytes.count - offset,
                    Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
                )
            }
            if sent < 0, errno == EAGAIN {
                guard wait(for: POLLOUT) else { throw Failure.timedOut("send") }
                continue
            }
            guard sent >= 0 else { throw Failure.sendFailed(errno) }
            offset += sent
        }
    }

    /// Sends what fits now. Returns the number of bytes taken.
    func trySend(_ bytes: [UInt8]) -> Int {
        bytes.withUnsafeBytes { buffer in
            Glibc.send(
                descriptor,
                buffer.baseAddress,
                buffer.count,
                Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
            )
        }
    }

    func finishSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    // MARK: Receiving

    func wait(for events: Int32, milliseconds: Int32 = RawClient.patience) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }

    /// Reads some bytes into the buffer. False at the end of the stream (or a reset).
    @discardableResult
    func fill(_ what: String) throws -> Bool {
        guard wait(for: POLLIN) else {
            throw Failure.timedOut(
                "\(what); have \(String(decoding: buffer.prefix(200), as: UTF8.self))"
            )
        }
        var chunk = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        guard count > 0 else { return false }
        buffer += chunk[..<count]
        return true
    }

    func read(_ count: Int) throws -> [UInt8] {
        while buffer.count < count {
            guard try fill("\(count) bytes") else {
                throw Failure.connectionEnded("wanted \(count) bytes, have \(buffer.count)")
            }
        }
        defer { buffer.removeFirst(count) }
        return Array(buffer[..<count])
    }

    /// Everything up to the end of the stream.
    func readToEnd() throws -> [UInt8] {
        while try fill("the end of the stream") {}
        defer { buffer = [] }
        return buffer
    }

    /// Whether the peer ends the stream, whatever it sends before.
    func isEndedByPeer() -> Bool {
        (try? readToEnd()) != nil
    }

    func readUntil(_ mark: String) throws -> String {
        let wanted = Array(mark.utf8)
        var start = 0
        while true {
            if buffer.count >= wanted.count {
                for index in start...(buffer.count - wanted.count)
                where buffer[index] == wanted[0]
                    && buffer[index..<index + wanted.count].elementsEqual(wanted)
                {
                    return String(decoding: try read(index + wanted.count), as: UTF8.self)
                }
                start = buffer.count - wanted.count + 1
            }
            guard try fill(mark) else {
                throw Failure.connectionEnded(String(decoding: buffer, as: UTF8.self))
            }
        }
    }

    // MARK: HTTP

    /// Reads one response. `isHead`: it has no body whatever its headers say.
    func readResponse(isHead: Bool = false) throws -> Response {
        let head = try readUntil("\r\n\r\n")
        let lines = head.split(separator: "\r\n")
        let first = lines[0].split(separator: " ", maxSplits: 2)
        guard first.count >= 2, first[0] == "HTTP/1.1", let status = Int(first[1]) else {
            throw Failure.badResponse(head)
        }
        let headers = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (
                name: String(parts[0]),
                value: parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
            )
        }
        let bare = Response(status: status, headers: headers, body: [])
        if isHead || status == 204 || status == 304 || status < 200 { return bare }
        if bare.header("transfer-encoding") == "chunked" {
            return Response(status: status, headers: headers, body: try readChunked())
        }
        guard let length = bare.header("content-length").flatMap({ Int($0) }) else {
            return Response(status: status, headers: headers, body: try readToEnd())
        }
        return Response(status: status, headers: headers, body: try read(length))
    }

    private func readChunked() throws -> [UInt8] {
        var body: [UInt8] = []
        while true {
            let line = try readUntil("\r\n").dropLast()
            guard let size = Int(line, radix: 16) else { throw Failure.badResponse(String(line)) }
            body += try read(size)
            _ = try read(2)
            if size == 0 { return body }
        }
    }

    func request(_ text: String) throws -> Response {
        try send(text)
        return try readResponse()
    }

    /// A GET with the least of headers.
    func get(_ target: String) throws -> Response {
        try request("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    }

    // MARK: WebSocket

    struct Frame: Equatable {
        var operation: UInt8
        var isFinal = true
        var payload: [UInt8]

        var text: String { String(decoding: payload, as: UTF8.self) }
        /// The code of a Close frame; nil when it has none.
        var code: Int? { payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : nil }
    }

    static func handshake(_ path: String, _ extra: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\(extra)\r\n"
    }

    /// Opens a WebSocket.
    static func webSocket(
        _ port: Int,
        _ path: String = "/ws",
        receiveBuffer: Int32? = nil,
        from: UInt32? = nil
    ) throws -> RawClient {
        let client = try RawClient(port, receiveBuffer: receiveBuffer, from: from)
        try client.send(handshake(path))
        let response = try client.readResponse()
        guard response.status == 101 else {
            throw Failure.badResponse("\(response.status) \(response.text)")
        }
        return client
    }

    /// A client's frame, masked unless `mask` says otherwise.
    static func frame(
        _ operation: UInt8,
        _ payload: [UInt8],
        isFinal: Bool = true,
        reserved: UInt8 = 0,
        isMasked: Bool = true
    ) -> [UInt8] {
        var bytes = [(isFinal ? 0x80 : 0) | reserved << 4 | operation]
        let masked: UInt8 = isMasked ? 0x80 : 0
        if payload.count < 126 {
            bytes.append(masked | UInt8(payload.count))
        } else if payload.count < 65536 {
            bytes += [masked | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
        } else {
            bytes.append(masked | 127)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8((payload.count >> shift) & 255))
            }
        }
        guard isMasked else { return bytes + payload }
        let key: [UInt8] = [0x12, 0x34, 0x56, 0x78]
        bytes += key
        for (index, byte) in payload.enumerated() { bytes.append(byte ^ key[index & 3]) }
        return bytes
    }

    func sendText(_ text: String) throws {
        try send(Self.frame(1, Array(text.utf8)))
    }

    func readFrame() throws -> Frame {
        let start = try read(2)
        var length = Int(start[1] & 0x7f)
        if length == 126 {
            length = try read(2).reduce(0) { $0 << 8 | Int($1) }
        } else if length == 127 {
            length = try read(8).reduce(0) { $0 << 8 | Int($1) }
        }
        guard start[1] & 0x80 == 0 else { throw Failure.badResponse("a server does not mask") }
        return Frame(
            operation: start[0] & 0x0f,
            isFinal: start[0] & 0x80 != 0,
            payload: try read(length)
        )
    }

    /// Reads frames up to a Close and returns its code.
    func readCloseCode() throws -> Int? {
        while true {
            let frame = try readFrame()
            if frame.operation == 8 { return frame.code }
        }
    }
}
