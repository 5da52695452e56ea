import Foundation
import Glibc
import ServiceSupport
import Synchronization

/// Stands between a client and a server, and loses the answer to a write that the test names.
///
/// The server has answered by then, so the write is done; the client's connections end, and when it comes back it sends
/// the write once more. HTTP passes, and so do frames of a connection that nothing is lost on.
final class AnswerProxy: Sendable {
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

    /// Receives each answer that was lost.
    var losses: Recorder<Void> { shared.losses }

    /// Writes that have passed.
    var writeCount: Int { shared.state.withLock { $0.writeCount } }

    /// Listens on a free port.
    ///
    /// - Parameter url: Of the server: `http://127.0.0.1:PORT`.
    /// - Throws: `Loopback.SocketError` when there is none.
    init(to url: String) throws {
        let server = try Loopback.port(of: url)
        let shared = shared
        let (listener, port) = try Loopback.listen()
        self.listener = listener
        self.port = port
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
    /// With `closingDoor` no one gets through from then on until `open`.
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
        guard let server = Loopback.connect(to: port) else {
            close(client)
            return
        }
        let link = Link(client, server)
        guard shared.state.withLock({ !$0.isClosed }) else { return }
        Thread { up(link, shared) }.start()
        Thread { down(link, shared) }.start()
    }

    /// From the client to the server, frame by frame once it is a WebSocket.
    private static func up(_ link: Link, _ shared: Shared) {
        var frames = ClientFrames()
        while let bytes = Loopback.receive(link.client) {
            guard let whole = frames.split(bytes) else {
                Loopback.send(bytes, to: link.server)
                continue
            }
            for frame in whole {
                note(frame.text, link, shared)
                Loopback.send(frame.bytes, to: link.server)
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
        while let bytes = Loopback.receive(link.server) {
            guard let awaited = link.awaited.withLock({ $0 }) else {
                Loopback.send(bytes, to: link.client)
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
}
