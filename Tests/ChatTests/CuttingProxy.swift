import Foundation
import Glibc
import Synchronization

/// Stands between a client and a server, and cuts the client off at the moment that it is told.
final class CuttingProxy: Sendable {
    struct SocketError: Error {
        let code: Int32
    }

    private enum Phase {
        case passing
        /// The next refusal is the last that the client hears.
        case waiting
        /// Nothing goes through, in either direction.
        case cut
    }

    /// What its threads share.
    private final class Line: Sendable {
        let phase = Mutex(Phase.passing)
        let cut: @Sendable () -> Void

        init(cut: @escaping @Sendable () -> Void) { self.cut = cut }

        var isCut: Bool { phase.withLock { $0 == .cut } }

        /// Cuts if this is what it waits for; before it goes on to the client.
        func heard(_ bytes: ArraySlice<UInt8>) -> Bool {
            // Frames of the server are plain text.
            let isRefusal = String(decoding: bytes, as: UTF8.self).contains("permission_denied")
            return phase.withLock { phase in
                guard isRefusal, case .waiting = phase else { return false }
                phase = .cut
                return true
            }
        }
    }

    /// Two sockets, closed when both directions have ended.
    private final class Pair: Sendable {
        let client: Int32
        let server: Int32

        init(client: Int32, server: Int32) {
            self.client = client
            self.server = server
        }

        deinit {
            close(client)
            close(server)
        }

        func end() {
            shutdown(client, Int32(SHUT_RDWR))
            shutdown(server, Int32(SHUT_RDWR))
        }
    }

    let url: String
    // Its own: closed by deinit, which ends the thread.
    private let listener: Int32
    private let line: Line

    /// A proxy of the server at a port; the block is called when it has cut.
    init(of port: UInt16, cut: @escaping @Sendable () -> Void) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutableBytes(of: &address) { bytes in
            let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return bind(listener, address, length) == 0 && listen(listener, 64) == 0
                && getsockname(listener, address, &length) == 0
        }
        guard isListening else { throw SocketError(code: errno) }
        let line = Line(cut: cut)
        self.listener = listener
        self.line = line
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        Thread { Self.work(listener, port, line) }.start()
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// Cuts when the server has refused something, behind that, until `open()`.
    func cutBehindRefusal() { line.phase.withLock { $0 = .waiting } }

    /// Lets everything through again.
    func open() { line.phase.withLock { $0 = .passing } }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        return address
    }

    private static func work(_ listener: Int32, _ port: UInt16, _ line: Line) {
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { return }
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            let pair = Pair(client: client, server: server)
            var address = address(port)
            let isConnected = withUnsafeBytes(of: &address) { bytes in
                let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
                return connect(server, address, socklen_t(bytes.count)) == 0
            }
            guard isConnected, !line.isCut else { continue }
            Thread { pump(pair, from: pair.client, to: pair.server, line) { _ in false } }.start()
            Thread { pump(pair, from: pair.server, to: pair.client, line, line.heard) }.start()
        }
    }

    /// Passes on what comes until one side ends, or the last that may go through has gone.
    private static func pump(
        _ pair: Pair,
        from source: Int32,
        to target: Int32,
        _ line: Line,
        _ isLast: (ArraySlice<UInt8>) -> Bool,
    ) {
        defer { pair.end() }
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(source, &chunk, chunk.count, 0)
            guard count > 0 else { return }
            let isLast = isLast(chunk[..<count])
            guard isLast || !line.isCut else { return }
            var sent = 0
            while sent < count {
                let more = chunk.withUnsafeBytes { bytes in
                    send(
                        target,
                        bytes.baseAddress.map { $0 + sent },
                        count - sent,
                        Int32(MSG_NOSIGNAL)
                    )
                }
                guard more > 0 else { return }
                sent += more
            }
            if isLast {
                pair.end()
                return line.cut()
            }
        }
    }
}
