import Foundation
import Glibc
import LoopSupport
import Synchronization
import Testing

@testable import Transport

/// A server whose routes show what the transport does.
@LoopActor
final class TestApplication: TransportApplication {
    var webSockets: [WebSocketConnection] = []
    var closedCauses: [WebSocketConnection.CloseCause] = []
    var heldExchanges: [HTTPExchange] = []
    var abortedCount = 0
    var headCount = 0
    var tickCount = 0
    var pulledCount = 0
    var partByteCount = 0
    var cutCount = 0
    var pausedExchanges: [HTTPExchange] = []
    /// How long a WebSocket may stay open without a message; nil for ever.
    var silence: Duration?
    /// Signalled with every event, so that a test can wait for one.
    var observer: (@LoopActor (String) -> Void)?

    nonisolated init() {}

    func admit(_ exchange: HTTPExchange) -> Admission {
        let head = exchange.head
        headCount += 1
        switch head.pathSegments.first {
        case "forbidden": return .refuse(.text(403, "no entry"))
        case "ws": return .accept()
        case "parts": return .acceptInParts
        case "events": return .accept(subprotocol: "hearth.events.v1")
        default:
            return head.isWebSocketUpgrade ? .refuse(.text(404, "no WebSocket here")) : .accept()
        }
    }

    func opened(_ connection: WebSocketConnection, _ head: RequestHead) {
        webSockets.append(connection)
        if let silence { connection.expectMessage(within: silence) }
        if let greeting = head.queryValue("greet") { connection.send(SharedFrame(text: greeting)) }
        observer?("opened")
    }

    func received(_ connection: WebSocketConnection, _ message: [UInt8]) {
        let text = String(decoding: message, as: UTF8.self)
        switch text {
        case "close me": connection.close(code: 4001, reason: "as asked")
        case "drop me": connection.drop()
        default:
            connection.send(SharedFrame(text: message.isEmpty ? Array("(empty)".utf8) : message))
        }
        observer?("received \(text.prefix(40))")
    }

    func closed(_ connection: WebSocketConnection) {
        webSockets.removeAll { $0 === connection }
        if let cause = connection.closeCause { closedCauses.append(cause) }
        observer?("closed")
    }

    func request(_ exchange: HTTPExchange) {
        let head = exchange.head
        switch head.pathSegments.first {
        case "hold":
            heldExchanges.append(exchange)
            observer?("held")
        case "big":
            let count = Int(head.queryValue("bytes") ?? "") ?? 0
            exchange.respond(
                HTTPResponse(status: 200, body: [UInt8](repeating: 0x61, count: count))
            )
        case "stream": stream(exchange)
        case "parts": takeParts(exchange)
        case "sum":
            let sum = exchange.body.reduce(UInt32(7)) { $0 &* 31 &+ UInt32($1) }
            exchange.respond(.text(200, "\(exchange.body.count) \(sum)"))
        case "empty": exchange.respond(HTTPResponse(status: 204))
        case "header":
            exchange.respond(
                HTTPResponse(status: 200, headers: [("X-Echo", head.queryValue("value") ?? "")])
            )
        default: exchange.respond(describe(exchange))
        }
    }

    /// Sums the body up as it comes.
    private func takeParts(_ exchange: HTTPExchange) {
        if exchange.head.queryValue("early") != nil {
            exchange.respond(.text(400, "no more"))
            return
        }
        var sum: UInt32 = 7
        var byteCount = 0
        exchange.receiveBody { [self] event in
            switch event {
            case .part(let bytes):
                sum = bytes.reduce(sum) { $0 &* 31 &+ UInt32($1) }
                byteCount += bytes.count
                partByteCount += bytes.count
                if exchange.head.queryValue("pause") != nil, pausedExchanges.isEmpty {
                    exchange.pauseBody()
                    pausedExchanges.append(exchange)
                }
                observer?("part")
            case .end: exchange.respond(.text(200, "\(byteCount) \(sum)"))
            case .cut:
                cutCount += 1
                observer?("cut")
            }
        }
    }

    func aborted(_ exchange: HTTPExchange) {
        abortedCount += 1
        observer?("aborted")
    }

    func tickEnded() { tickCount += 1 }

    /// One line for each part of the request.
    private func describe(_ exchange: HTTPExchange) -> HTTPResponse {
        let head = exchange.head
        var lines = ["\(head.method) \(head.rawTarget)", "path \(head.pathSegments)"]
        lines += head.query.map { "query \($0.name)=\($0.value)" }
        lines += [
            "host \(head.host)", "body \(String(decoding: exchange.takeBody(), as: UTF8.self))",
        ]
        if let probe = head.header("x-probe") { lines.append("probe \(probe)") }
        return .text(200, lines.joined(separator: "\n"))
    }

    private func stream(_ exchange: HTTPExchange) {
        let count = Int(exchange.head.queryValue("chunks") ?? "") ?? 3
        let size = Int(exchange.head.queryValue("size") ?? "") ?? 4
        let promised = exchange.head.queryValue("promise").flatMap { Int($0) }
        var given = 0
        exchange.respondStream(
            status: 200,
            headers: [("Content-Type", "text/plain")],
            byteCount: promised
        ) { [self] in
            guard given < count else { return .end }
            given += 1
            pulledCount += 1
            return .next([UInt8](repeating: 0x30 + UInt8(given % 10), count: size))
        }
    }
}

/// A listener of its own on the process's loop, closed when the test lets it go.
final class TestServer: Sendable {
    let application = TestApplication()
    let listener: Listener
    let port: Int

    init(_ configure: (inout TransportConfiguration) -> Void = { _ in }) throws {
        var configuration = TransportConfiguration()
        configuration.port = 0
        configure(&configuration)
        let (application, settings) = (application, configuration)
        let made = onLoop { () -> Result<Listener, TransportError> in
            do throws(TransportError) {
                return .success(try Listener(settings, application: application))
            } catch {
                return .failure(error)
            }
        }
        listener = try made.get()
        let listener = listener
        port = onLoop { listener.port }
    }

    deinit {
        let listener = listener
        EventLoop.shared.enqueue {
            if !listener.isDraining { listener.drain(within: .zero) { _ in } }
        }
    }

    var counters: TransportCounters {
        let listener = listener
        return onLoop { listener.counters }
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable @LoopActor (TestApplication) -> Value)
        -> Value
    {
        let application = application
        return onLoop { body(application) }
    }

    /// Waits until `condition` holds, looking again after every event of the application.
    func wait(
        sourceLocation: SourceLocation = #_sourceLocation,
        until condition: @escaping @Sendable @LoopActor (TestApplication) -> Bool
    ) {
        let application = application
        let isMet = Semaphore()
        EventLoop.shared.enqueue {
            guard !condition(application) else {
                isMet.signal()
                return
            }
            application.observer = { _ in
                guard condition(application) else { return }
                application.observer = nil
                isMet.signal()
            }
        }
        if isMet.wait() { return }
        Issue.record("waited 60 seconds in vain", sourceLocation: sourceLocation)
    }
}
