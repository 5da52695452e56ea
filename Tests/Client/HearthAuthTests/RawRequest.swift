import Foundation
import Glibc

/// One request over a socket of its own, apart from the client that is tested.
enum RawRequest {
    struct Failure: Error {
        let text: String
    }

    static func send(
        _ method: String,
        _ path: String,
        body: String,
        port: Int,
        administers: Bool = false,
    ) async throws -> Data {
        let socket = try Socket.connected(to: port)
        defer { close(socket) }
        let credential = administers ? "Authorization: Bearer owner\r\n" : ""
        let text = """
            \(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r
            Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\(credential)\r
            \(body)
            """
        Socket.write(Array(text.utf8), to: socket)
        var bytes: [UInt8] = []
        while let more = Socket.read(from: socket) { bytes += more }
        let answer = Data(bytes)
        guard let end = answer.range(of: Data("\r\n\r\n".utf8)),
            answer.starts(with: Data("HTTP/1.1 200".utf8))
        else { throw Failure(text: String(decoding: answer.prefix(300), as: UTF8.self)) }
        return Data(answer[end.upperBound...])
    }
}

/// Sockets on 127.0.0.1.
enum Socket {
    static func connected(to port: Int) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let result = withAddress(port) { connect(descriptor, $0, $1) }
        guard result == 0 else { throw RawRequest.Failure(text: "no connection: \(errno)") }
        return descriptor
    }

    /// - Returns: A socket that listens, and its port.
    static func listening() throws -> (Int32, port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        var byteCount = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard withAddress(0, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 64) == 0 else {
            throw RawRequest.Failure(text: "no socket: \(errno)")
        }
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &byteCount)
            }
        }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    private static func withAddress(
        _ port: Int,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32,
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Some bytes; nil at the end.
    static func read(from descriptor: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : nil
    }
}
