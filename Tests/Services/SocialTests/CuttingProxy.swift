import Foundation
import Glibc
import ServiceSupport
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
    // the person who has the number by then.
    private let listener: Int32
    private let port: UInt16

    var url: String { "http://127.0.0.1:\(port)" }

    /// Whether it has cut since it was last asked to.
    var hasCut: Bool { shared.state.withLock { $0.hasCut } }

    /// - Parameter url: Of the server: `http://127.0.0.1:PORT`.
    /// - Throws: `Loopback.SocketError`.
    init(to url: String) throws {
        let server = try Loopback.port(of: url)
        let shared = shared
        let (listener, port) = try Loopback.listen()
        self.listener = listener
        self.port = port
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
    /// With `isForGood` no one gets through afterwards until `open`.
    func cut(at frame: Int, _ last: Last, isForGood: Bool = false) {
        shared.state.withLock { state in
            state.left = frame
            state.last = last
            state.isForGood = isForGood
            state.hasCut = false
        }
    }

    /// Cuts no more, lets everybody through again, and lets no one wait for a cut.
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
        guard let server = Loopback.connect(to: port) else {
            close(client)
            return
        }
        let number: Int? = shared.state.withLock { state in
            guard !state.isClosed else { return nil }
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
        var frames = ClientFrames()
        while let bytes = Loopback.receive(client) {
            guard let whole = frames.split(bytes) else {
                Loopback.send(bytes, to: server)
                continue
            }
            for frame in whole { pass(frame.bytes, server, shared) }
        }
        shutdown(server, Int32(SHUT_WR))
        leave(number, shared)
    }

    private static func pass(_ frame: [UInt8], _ server: Int32, _ shared: Shared) {
        shared.state.withLock { state in
            if state.links.values.contains(where: { $0.server == server && $0.isCut }) { return }
            guard let left = state.left else { return Loopback.send(frame, to: server) }
            state.left = left - 1
            guard left == 1 else { return Loopback.send(frame, to: server) }
            state.left = nil
            state.hasCut = true
            state.isClosed = state.isForGood
            // From here on no answer gets through.
            for number in state.links.keys { state.links[number]?.isCut = true }
            if state.last == .unanswered { Loopback.send(frame, to: server) }
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
        while let bytes = Loopback.receive(server) {
            let isCut = shared.state.withLock { $0.links[number]?.isCut ?? true }
            if !isCut { Loopback.send(bytes, to: client) }
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
}
