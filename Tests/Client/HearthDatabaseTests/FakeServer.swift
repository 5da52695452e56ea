import ClientTransport
import Foundation
import HearthCore
import Synchronization
import WireProtocol

@testable import HearthDatabase

extension SyncQueue {
    /// How many observers a query has.
    func observerCount(at query: DatabaseQuery) -> Int {
        guard case .success(let location) = query.location else { return 0 }
        return observers.withLock { $0.meant(by: location).count }
    }

    /// Waits until all calls made before have been taken; never on the callback queue.
    func drain() { queue.sync {} }
}

/// A transport that opens no socket: it keeps what is sent, and answers as a server that agrees to all.
final class FakeTransport: ClientTransport {
    private struct State {
        var frames: [String] = []
        var openings: [String] = []
        var tell: (@Sendable (SocketEvent) -> Void)?
        var isSilent = false
        var waits: [(condition: @Sendable (State) -> Bool, resume: @Sendable () -> Void)] = []

        /// Takes out the waits that are over.
        mutating func over() -> [@Sendable () -> Void] {
            let state = self
            let over = waits.filter { $0.condition(state) }
            waits.removeAll { $0.condition(state) }
            return over.map(\.resume)
        }
    }

    private let state = Mutex(State())

    init(isSilent: Bool = false) { state.withLock { $0.isSilent = isSilent } }

    /// All frames that were sent.
    var frames: [String] { state.withLock { $0.frames } }
    /// Where sockets were opened.
    var openings: [String] { state.withLock { $0.openings } }

    func open(
        _ request: SocketRequest,
        tell: @escaping @Sendable (SocketEvent) -> Void,
    ) -> any ClientSocket {
        let (isSilent, over) = state.withLock { state in
            let scheme = request.isSecure ? "wss" : "ws"
            state.openings.append("\(scheme)://\(request.host)\(request.target)")
            state.tell = tell
            return (state.isSilent, state.over())
        }
        for resume in over { resume() }
        if !isSilent {
            tell(.opened)
            push(#"{"t":"c","d":{"t":"h","d":{"ts":1,"v":"5","h":"h","s":"s"}}}"#)
        }
        return FakeSocket(transport: self)
    }

    /// Sends a frame to the client.
    func push(_ text: String) {
        state.withLock { $0.tell }?(.received(Array(text.utf8)))
    }

    fileprivate func take(_ frames: [[UInt8]]) {
        let texts = frames.map { String(decoding: $0, as: UTF8.self) }
        let (isSilent, over) = state.withLock { state in
            state.frames += texts
            return (state.isSilent, state.over())
        }
        for resume in over { resume() }
        if isSilent { return }
        for text in texts { answer(text) }
    }

    /// Waits until a frame with this text is sent.
    func sends(_ text: String) async {
        await waits { state in state.frames.contains { $0.contains(text) } }
    }

    /// Waits until a socket is opened.
    func opens() async { await waits { !$0.openings.isEmpty } }

    private func waits(_ condition: @escaping @Sendable (State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if condition(state) { return true }
                state.waits.append((condition, { continuation.resume() }))
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    private func answer(_ text: String) {
        guard let message = try? JSONSerialization.jsonObject(with: Data(text.utf8)),
            let body = (message as? [String: Any])?["d"] as? [String: Any],
            let number = body["r"] as? Int
        else { return }
        push(#"{"t":"d","d":{"r":\#(number),"b":{"s":"ok","d":{}}}}"#)
    }
}

private final class FakeSocket: ClientSocket {
    private let transport: FakeTransport

    init(transport: FakeTransport) { self.transport = transport }

    func send(_ frames: [[UInt8]]) { transport.take(frames) }
    func close() {}
}

/// A database of an app of its own, with a transport that opens no socket.
struct FakeWorld {
    let transport: FakeTransport
    let database: Database
    var root: DatabaseReference { database.reference() }

    private static let count = Atomic(0)

    /// Apps of tests have names of their own, so that none meets another's.
    static func app(_ url: String = "http://localhost:9000?ns=demo") throws -> HearthApp {
        let number = count.add(1, ordering: .relaxed).newValue
        var options = HearthOptions(databaseURL: url)
        options.persistsUser = false
        return try HearthApp.make(name: "test-\(number)", options: options)
    }

    init(url: String? = nil, isSilent: Bool = false) throws {
        transport = FakeTransport(isSilent: isSilent)
        let app = try Self.app()
        database = Database(app: app, at: Database.location(app, url), transport: transport)
        // No test runs the main queue.
        database.callbackQueue = DispatchQueue(label: "callbacks")
    }
}
