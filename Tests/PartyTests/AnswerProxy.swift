import Foundation
import Glibc
import ServiceSupport
import Synchronization

/// Stands between a client and a server, and loses the answer to a write that the test names.
///
/// The server has answered by then, so the write is done; the client's connections end, and when it comes back it sends
/// the write once more. HTTP passes, and so do frames of a connection that nothing is lost on.
final class AnswerProxy: Sendable {
    struct SocketError: Error {
        let code: Int32
    }

    private struct State {
        /// Writes up to the one whose answer is lost, with that; nil when none is.
        var left: Int?
        var closesDoor = false
        var isClosed = false
        var writeCount = 0
    }

    /// One connection: to the client, and to the server. Whichever thread is done with it last closes both.
    private final class Link: Sendable {
        let client: Int32
        let server: Int32
        /// A part of the answer that is not to arrive.
        let awaited = Mutex<[UInt8]?>(nil)

        init(_ client: Int32, _ server: Int32) {
            self.client = client
            self.server = server
        }

        deinit {
            close(client)
            close(server)
        }
    }

    // What the threads hold: not the proxy itself, with which all ends.
    private final class Shared: Sendable {
        let state = Mutex(State())
        let losses = Recorder<Void>()
    }

    private let shared = Shared()
    // Its own: shut down by deinit, which ends the thread.
    private let listener: Int32
    private let port: UInt16

    var url: String { "http://127.0.0.1:\(port)" }

    /// Is told of each answer that was lost.
    var losses: Recorder<Void> { shared.losses }

    /// Writes that have passed.
    var writeCount: Int { shared.state.withLock { $0.writeCount } }

    /// Listens on a free port.
    ///
    /// - Parameter url: Of the server: `http://127.0.0.1:PORT`.
    /// - Throws: `SocketError` when there is none.
    init(to url: String) throws {
        guard let server = url.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw SocketError(code: EINVAL)
        }
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (listener, shared) = (listener, shared)
        let isListening = withUnsafeMutableBytes(of: &address) { bytes in
            let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return bind(listener, address, length) == 0 && listen(listener, 64) == 0
                && getsockname(listener, address, &length) == 0
        }
        guard isListening else { throw SocketError(code: errno) }
        port = UInt16(bigEndian: address.sin_port)
        Thread {
            while case let client = accept(listener, nil, nil), client >= 0 {
                Self.join(client, server, shared)
            }
            close(listener)
        }.start()
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// Loses the answer to the write of that number, counted from 1 and from now.
    ///
    /// With `closingDoor` nobody gets through from then on until `open`.
    func lose(_ number: Int = 1, closingDoor: Bool = false) {
        shared.state.withLock { state in
            state.left = number
            state.closesDoor = closingDoor
        }
    }

    /// Lets everybody through again.
    func open() { shared.state.withLock { $0.isClosed = false } }

    // MARK: Threads

    private static func join(_ client: Int32, _ port: UInt16, _ shared: Shared) {
        let link = Link(client, socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        let isConnected = withUnsafeBytes(of: address(port)) { bytes in
            let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return connect(link.server, address, socklen_t(bytes.count)) == 0
        }
        guard isConnected, shared.state.withLock({ !$0.isClosed }) else { return }
        Thread { up(link, shared) }.start()
        Thread { down(link, shared) }.start()
    }

    /// From the client to the server, frame by frame once it is a WebSocket.
    private static func up(_ link: Link, _ shared: Shared) {
        var head: [UInt8] = []
        var frames: FrameSplitter?
        while let bytes = receive(link.client) {
            if frames == nil {
                // Nothing is behind the head of an upgrade before it is answered.
                head += bytes
                let text = String(decoding: head, as: UTF8.self).lowercased()
                if text.hasSuffix("\r\n\r\n"), text.contains("upgrade: websocket") {
                    frames = FrameSplitter()
                }
                sendAll(bytes, to: link.server)
            } else {
                for frame in frames?.split(bytes) ?? [] {
                    note(frame.text, link, shared)
                    sendAll(frame.bytes, to: link.server)
                }
            }
        }
        shutdown(link.server, Int32(SHUT_WR))
    }

    /// Counts a write: `{"t":"d","d":{"r":2,"a":"m","b":...}}`.
    private static func note(_ text: String, _ link: Link, _ shared: Shared) {
        guard let request = text.firstMatch(of: /"r":(\d+),"a":"[mp]"/)?.output.1 else { return }
        shared.state.withLock { state in
            state.writeCount += 1
            guard let left = state.left else { return }
            state.left = left == 1 ? nil : left - 1
            if left == 1 { link.awaited.withLock { $0 = Array(#""r":\#(request),"b""#.utf8) } }
        }
    }

    /// From the server to the client, until the answer comes that is not to arrive; then both connections end.
    private static func down(_ link: Link, _ shared: Shared) {
        var held: [UInt8] = []
        while let bytes = receive(link.server) {
            guard let awaited = link.awaited.withLock({ $0 }) else {
                sendAll(bytes, to: link.client)
                continue
            }
            held += bytes
            guard held.contains(awaited) else { continue }
            shared.state.withLock { $0.isClosed = $0.closesDoor }
            shared.losses.record(())
            break
        }
        // Ends the other thread as well, if that waits for the client.
        shutdown(link.client, Int32(SHUT_RDWR))
        shutdown(link.server, Int32(SHUT_RDWR))
    }

    // MARK: Bytes

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        return address
    }

    private static func receive(_ socket: Int32) -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket, &chunk, chunk.count, 0)
        return count > 0 ? Array(chunk[..<count]) : nil
    }

    /// As far as the other side takes it: who has hung up is seen where is read.
    private static func sendAll(_ bytes: [UInt8], to socket: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

/// Takes what a client sends apart: 2 bytes, up to 8 of a longer length, 4 of the mask, the payload.
private struct FrameSplitter {
    private var rest: [UInt8] = []

    /// The frames that end with these bytes, in order, each with its text.
    mutating func split(_ bytes: [UInt8]) -> [(bytes: [UInt8], text: String)] {
        rest += bytes
        var frames: [(bytes: [UInt8], text: String)] = []
        while let (head, count) = length, head + count <= rest.count {
            let mask = rest[(head - 4)..<head]
            let payload = rest[head..<(head + count)].enumerated().map { index, byte in
                byte ^ mask[mask.startIndex + index % 4]
            }
            let text = String(decoding: payload, as: UTF8.self)
            frames.append((Array(rest[..<(head + count)]), text))
            rest.removeFirst(head + count)
        }
        return frames
    }

    /// Bytes before the payload of the next frame, and of it; nil while there are too few to say.
    private var length: (head: Int, payload: Int)? {
        guard rest.count >= 2 else { return nil }
        let short = Int(rest[1] & 0x7F)
        let more = short == 127 ? 8 : short == 126 ? 2 : 0
        guard rest.count >= 2 + more else { return nil }
        let count = more == 0 ? short : rest[2..<(2 + more)].reduce(0) { $0 << 8 | Int($1) }
        return (2 + more + 4, count)
    }
}
