import Foundation
import Glibc
import ServiceSupport
import Synchronization

/// Stands between a client and a server, and cuts the client off at the moment that the test names.
final class RefusalProxy: Sendable {
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
        func heard(_ bytes: [UInt8]) -> Bool {
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

    /// A proxy of the server at `http://127.0.0.1:PORT`; the block is called when it has cut.
    init(to url: String, cut: @escaping @Sendable () -> Void) throws {
        let server = try Loopback.port(of: url)
        let (listener, port) = try Loopback.listen()
        let line = Line(cut: cut)
        self.listener = listener
        self.line = line
        self.url = "http://127.0.0.1:\(port)"
        Thread { Self.work(listener, server, line) }.start()
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// Cuts when the server has refused something, behind that, until `open()`.
    func cutBehindRefusal() { line.phase.withLock { $0 = .waiting } }

    /// Lets everything through again.
    func open() { line.phase.withLock { $0 = .passing } }

    private static func work(_ listener: Int32, _ port: UInt16, _ line: Line) {
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { return }
            guard let server = Loopback.connect(to: port) else {
                close(client)
                continue
            }
            let pair = Pair(client: client, server: server)
            if line.isCut { continue }
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
        _ isLast: ([UInt8]) -> Bool,
    ) {
        defer { pair.end() }
        while let bytes = Loopback.receive(source) {
            let isLast = isLast(bytes)
            guard isLast || !line.isCut else { return }
            Loopback.send(bytes, to: target)
            if isLast {
                pair.end()
                return line.cut()
            }
        }
    }
}
