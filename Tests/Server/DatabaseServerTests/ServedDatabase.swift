import DatabaseCore
import Foundation
import Glibc
import JSONTree
import Logging
import LoopSupport
import SecurityRules
import Synchronization
import Tokens

@testable import DatabaseServer
@testable import Transport

/// A whole server on the process's loop, in memory, with open rules, that notes what arrives.
final class ServedDatabase: Sendable {
    let watch: LoopWatch
    let listener: Listener
    let port: Int

    init(_ configure: (inout TransportConfiguration) -> Void = { _ in }) throws {
        var transport = TransportConfiguration()
        transport.port = 0
        configure(&transport)
        let settings = transport
        let made = onLoop { () -> Result<(LoopWatch, Listener), any Error> in
            Result {
                let server = try ServedDatabase.server()
                let watch = LoopWatch(server)
                let listener = try Listener(settings, application: watch)
                server.listener = listener
                watch.listener = listener
                return (watch, listener)
            }
        }
        let (watch, listener) = try made.get()
        self.watch = watch
        self.listener = listener
        port = onLoop { listener.port }
    }

    deinit {
        let (listener, watch) = (listener, watch)
        EventLoop.shared.enqueue {
            listener.drain(within: .zero) { _ in watch.server.workers.stop() }
        }
    }

    @LoopActor
    private static func server() throws -> Server {
        var configuration = Configuration()
        configuration.mode = .development
        configuration.storage = .memory
        let box = Box()
        let reports = CommitWriter.Reports(
            flushed: { commits in EventLoop.shared.enqueue { box.server?.flushed(commits) } },
            space: { _ in },
            auditFailed: { _ in },
            failed: { error in preconditionFailure("there is no log: \(error)") }
        )
        let policy = EnginePolicy(
            databases: [DatabaseID("main")],
            reserved: [.accounts, .files],
            createsDatabases: true,
            defaultRules: .open
        )
        let keys = try AccountKeys.open(configuration)
        let workers = Workers()
        let server = Server(
            engine: DatabaseEngine(policy),
            configuration: configuration,
            commits: CommitWriter(nil, reports),
            checkpointer: nil,
            logOptions: nil,
            workers: workers,
            credentials: CredentialService(
                check: CredentialCheck(adminSecret: nil, mode: .development),
                own: keys.issuer(configuration.accounts.policy),
                outside: try OutsideTokens(configuration.tokens, configuration.mode)
            ),
            accounts: AccountStore(
                configuration,
                keys,
                try MessageService(
                    configuration,
                    Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                )
            ),
            files: (
                FileDisk(
                    configuration,
                    workers.files,
                    nil,
                    Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                ), try FileRulesStore(configuration)
            ),
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        box.server = server
        return server
    }

    @LoopActor
    private final class Box {
        weak var server: Server?

        nonisolated init() {}
    }

    /// Writes a value of the database `main`, as an admin, and waits until it is there: large ones are made by a worker.
    func put(_ json: String, at path: String = "") throws {
        let draft = try Draft(json: Array(json.utf8))
        let place = try Path(path)
        let server = watch.server
        let before = onLoop {
            let before = server.engine.summaries().first?.number
            let request = Request(
                database: DatabaseID("main"),
                credential: .admin(override: nil),
                operation: .put(WriteTarget(path: place), draft)
            )
            // The answer is not needed.
            server.step(.requested(request, id: RequestID(0)))
            return before
        }
        while onLoop({ server.engine.summaries().first?.number == before }) {}
    }

    func client(receiveBuffer: Int32? = nil) throws -> WireClient {
        try WireClient(port, receiveBuffer: receiveBuffer)
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable @LoopActor (LoopWatch) -> Value) -> Value
    {
        let watch = watch
        return onLoop { body(watch) }
    }
}

/// Stands between the transport and a server and notes, tick by tick, what passes.
@LoopActor
final class LoopWatch: TransportApplication {
    /// One message from the connection that was opened as the so-manieth.
    struct Message {
        let tick: Int
        let connection: Int
        let byteCount: Int
    }

    let server: Server
    var listener: Listener?
    private(set) var sockets: [WebSocketConnection] = []
    private(set) var messages: [Message] = []
    private(set) var causes: [WebSocketConnection.CloseCause] = []
    /// The most bytes that sockets took in one tick.
    private(set) var mostSentByteCount = 0
    private var sentByteCount = 0

    init(_ server: Server) {
        self.server = server
    }

    func admit(_ exchange: HTTPExchange) -> Admission { server.admit(exchange) }

    func opened(_ connection: WebSocketConnection, _ head: RequestHead) {
        sockets.append(connection)
        server.opened(connection, head)
    }

    func received(_ connection: WebSocketConnection, _ message: [UInt8]) {
        messages.append(
            Message(
                tick: EventLoop.shared.counters.tickCount,
                connection: sockets.firstIndex { $0 === connection } ?? -1,
                byteCount: message.count
            )
        )
        server.received(connection, message)
    }

    func closed(_ connection: WebSocketConnection) {
        if let cause = connection.closeCause { causes.append(cause) }
        server.closed(connection)
    }

    func request(_ exchange: HTTPExchange) { server.request(exchange) }

    func aborted(_ exchange: HTTPExchange) { server.aborted(exchange) }

    func tickEnded() {
        server.tickEnded()
        let sent = listener?.counters.sentByteCount ?? 0
        mostSentByteCount = max(mostSentByteCount, sent - sentByteCount)
        sentByteCount = sent
    }

    /// Messages of one connection before the first of another.
    func messageCount(of connection: Int, beforeFirstOf other: Int) -> Int? {
        guard let end = messages.firstIndex(where: { $0.connection == other }) else { return nil }
        return messages[..<end].count { $0.connection == connection }
    }

    /// The most messages that one connection gave in one tick.
    func mostMessages(of connection: Int) -> Int {
        var countByTick: [Int: Int] = [:]
        for message in messages where message.connection == connection {
            countByTick[message.tick, default: 0] += 1
        }
        return countByTick.values.max() ?? 0
    }

    func forgetMessages() { messages = [] }
}

/// Keeps the loop from looking at sockets until `body` is done.
func holdingLoop(_ body: () throws -> Void) rethrows {
    let isHeld = Gate()
    let gate = Gate()
    EventLoop.shared.enqueue {
        isHeld.open()
        gate.wait()
    }
    isHeld.wait()
    defer { gate.open() }
    try body()
}

/// What one thread waits for and another opens. Waiting more than 60 seconds is a bug.
final class Gate: Sendable {
    private let semaphore = Semaphore()

    func open() { semaphore.signal() }

    func wait() { precondition(semaphore.wait(), "waited too long for the loop") }
}
