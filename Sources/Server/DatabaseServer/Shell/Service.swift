import DatabaseCore
import Logging
import Transport

/// A part of the server that owns its state. It reaches the others through their functions only.
@LoopActor
protocol Service: AnyObject {
    /// The shell: it owns threads and steps the engine. It holds its services and they hold it, as long as the process
    /// serves.
    var server: Server { get }

    /// Adds what it has counted, and what it holds now.
    func addMetrics(to metrics: inout Metrics)
}

/// What services use of the shell.
extension Service {
    func addMetrics(to metrics: inout Metrics) {}

    var configuration: Configuration { server.configuration }
    var engine: DatabaseEngine { server.engine }
    var log: Logger { server.log }
    var workers: Workers { server.workers }
    var commits: CommitWriter { server.commits }
    var readers: ReadingService { server.readers }

    func step(_ input: Input) { server.step(input) }

    func submit(_ operation: Request.Operation, _ pending: PendingExchange) {
        server.requests.submit(operation, pending)
    }

    func finish(_ pending: PendingExchange, _ response: HTTPResponse) {
        server.requests.finish(pending, response)
    }

    /// Reads so many bytes of a request on a thread of its own; `then` is called on the loop. Returns whether there
    /// was room for them.
    func readAway<Outcome: Sendable>(
        _ byteCount: Int,
        of exchange: HTTPExchange,
        _ read: @escaping @Sendable () -> Outcome,
        then: @escaping @Sendable @LoopActor (Outcome) -> Void
    ) -> Bool {
        readers.read(byteCount, of: server.client(exchange.head), read, then: then)
    }

    func clientAddress(of head: RequestHead) -> String { server.clientAddress(of: head) }

    func publicAddress(of head: RequestHead) -> String { server.publicAddress(of: head) }

    func deed(_ what: String, _ exchange: HTTPExchange) -> AdministratorLog.Deed {
        server.admin.deed(what, exchange, token: nil)
    }

    func log(
        _ deed: AdministratorLog.Deed,
        _ details: Logger.Metadata = [:],
        on exchange: HTTPExchange
    ) {
        server.admin.log(deed, details, on: exchange)
    }

    func answer(_ exchange: HTTPExchange, _ response: HTTPResponse) {
        server.requests.answer(exchange, response)
    }
}
