import Foundation
import Glibc
import Synchronization

/// Stands between clients and a server, and cuts their connections at a frame that the test names.
///
/// Counted is what clients send over WebSockets; HTTP passes.
final class CuttingProxy: Sendable {
    /// What becomes of the frame at which it cuts.
    enum Last: String, CaseIterable {
        /// It never arrives.
        case lost
        /// It arrives, and what the server says to it does not.
        case unanswered
    }

    struct SocketError: Error {
        let code: Int32
    }

    /// One connection: to the client, and to the server.
    private struct Link {
        let client: Int32
        let server: Int32
        /// Threads that are at work with it: the last one closes both.
        var threadCount = 2
        var isCut = false
    }

    private struct State {
        /// Frames up to the cut, with the one at which it comes; nil when none is to come.
        var left: Int?
        var last = Last.lost
        var isForGood = false
        var hasCut = false
        var isClosed = false
        var links: [Int: Link] = [:]
        var linkCount = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// What the threads hold: not the proxy itself, with which all ends.
    private final class Shared: Sendable {
        let state = Mutex(State())
    }

    private let shared = Shared()
    // Its own: deinit ends the thread, which closes it. Were it closed here, the thread might accept what comes to
    // whoever has the number by then.
    private let listener: Int32
    private let port: UInt16

    var url: String { "http://127.0.0.1:\(port)" }

    /// Whether it has cut since it was last told to.
    var hasCut: Bool { shared.state.withLock { $0.hasCut } }

    /// - Parameter url: Of the server: `http://127.0.0.1:PORT`.
    /// - Throws: `SocketError`.
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
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else {
                    close(listener)
                    return
                }
                Self.join(client, server, shared)
            }
        }.start()
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        shared.state.withLock { state in
            state.isClosed = true
            for link in state.links.values {
                shutdown(link.client, Int32(SHUT_RDWR))
                shutdown(link.server, Int32(SHUT_RDWR))
            }
        }
    }

    /// Cuts all connections at the frame of that number, counted from 1 and from now.
    ///
    /// With `isForGood` nobody gets through afterwards until `open`.
    func cut(at frame: Int, _ last: Last, isForGood: Bool = false) {
        shared.state.withLock { state in
            state.left = frame
            state.last = last
            state.isForGood = isForGood
            state.hasCut = false
        }
    }

    /// Cuts no more, lets everybody through again, and lets nobody wait for a cut.
    func open() {
        shared.state.withLock { state in
            state.left = nil
            state.isClosed = false
            Self.resume(&state)
        }
    }

    /// Returns when it has cut, and the server has ended all that was cut; or when it is to cut no more.
    func ended() async {
        await withCheckedContinuation { continuation in
            shared.state.withLock { state in
                state.waiting.append(continuation)
                Self.resume(&state)
            }
        }
    }

    // MARK: Threads

    private static func join(_ client: Int32, _ port: UInt16, _ shared: Shared) {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let address = address(port)
        let isConnected = withUnsafeBytes(of: address) { bytes in
            let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return connect(server, address, socklen_t(bytes.count)) == 0
        }
        let number: Int? = shared.state.withLock { state in
            guard isConnected, !state.isClosed else { return nil }
            state.linkCount += 1
            state.links[state.linkCount] = Link(client: client, server: server)
            return state.linkCount
        }
        guard let number else {
            close(client)
            close(server)
            return
        }
        Thread { up(number, client, server, shared) }.start()
        Thread { down(number, client, server, shared) }.start()
    }

    /// From the client to the server, frame by frame once it is a WebSocket.
    private static func up(
        _ number: Int,
        _ client: Int32,
        _ server: Int32,
        _ shared: Shared
    ) {
        var head: [UInt8] = []
        var frames: FrameSplitter?
        while let bytes = receive(client) {
            guard frames != nil else {
                // Nothing is behind the head of an upgrade before it is answered.
                head += bytes
                let text = String(decoding: head, as: UTF8.self).lowercased()
                if text.hasSuffix("\r\n\r\n"), text.contains("upgrade: websocket") {
                    frames = FrameSplitter()
                }
                sendAll(bytes, to: server)
                continue
            }
            for frame in frames?.split(bytes) ?? [] { pass(frame, server, shared) }
        }
        shutdown(server, Int32(SHUT_WR))
        leave(number, shared)
    }

    private static func pass(_ frame: [UInt8], _ server: Int32, _ shared: Shared) {
        shared.state.withLock { state in
            if state.links.values.contains(where: { $0.server == server && $0.isCut }) { return }
            guard let left = state.left else { return sendAll(frame, to: server) }
            state.left = left - 1
            guard left == 1 else { return sendAll(frame, to: server) }
            state.left = nil
            state.hasCut = true
            state.isClosed = state.isForGood
            // From here on no answer gets through.
            for number in state.links.keys { state.links[number]?.isCut = true }
            if state.last == .unanswered { sendAll(frame, to: server) }
            for link in state.links.values {
                shutdown(link.server, Int32(SHUT_WR))
                shutdown(link.client, Int32(SHUT_RDWR))
            }
        }
    }

    private static func down(
        _ number: Int,
        _ client: Int32,
        _ server: Int32,
        _ shared: Shared
    ) {
        while let bytes = receive(server) {
            let isCut = shared.state.withLock { $0.links[number]?.isCut ?? true }
            if !isCut { sendAll(bytes, to: client) }
        }
        shutdown(client, Int32(SHUT_RDWR))
        leave(number, shared)
    }

    private static func leave(_ number: Int, _ shared: Shared) {
        shared.state.withLock { state in
            guard let link = state.links[number] else { return }
            state.links[number]?.threadCount -= 1
            guard link.threadCount == 1 else { return }
            state.links[number] = nil
            close(link.client)
            close(link.server)
            resume(&state)
        }
    }

    private static func resume(_ state: inout State) {
        guard state.left == nil, !state.links.values.contains(where: \.isCut) else { return }
        for continuation in state.waiting { continuation.resume() }
        state.waiting = []
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

/// Finds where the frames of a client end: 2 bytes, up to 8 of a longer length, 4 of the mask, the payload.
private struct FrameSplitter {
    private var rest: [UInt8] = []

    /// The frames that end with these bytes, in order.
    mutating func split(_ bytes: [UInt8]) -> [[UInt8]] {
        rest += bytes
        var frames: [[UInt8]] = []
        while let byteCount, byteCount <= rest.count {
            frames.append(Array(rest[..<byteCount]))
            rest.removeFirst(byteCount)
        }
        return frames
    }

    /// Of the frame that begins with what is left; nil while that is too little to say.
    private var byteCount: Int? {
        guard rest.count >= 2 else { return nil }
        let short = Int(rest[1] & 0x7F)
        let more = short == 127 ? 8 : short == 126 ? 2 : 0
        guard rest.count >= 2 + more else { return nil }
        let count = more == 0 ? short : rest[2..<2 + more].reduce(0) { $0 << 8 | Int($1) }
        return 2 + more + 4 + count
    }
}
