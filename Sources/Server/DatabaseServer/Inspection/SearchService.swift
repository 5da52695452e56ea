import DatabaseCore
import JSONTree
import Queries
import Transport

/// Searches what is below a path, and says how large it is, for administrators: `/.inspect/search`, `/.inspect/size.json`.
///
/// The engine gives the snapshot, as of any read; workers look through it, slice by slice.
@LoopActor
final class SearchService: Service {
    let server: Server
    private var underWayCount = 0

    init(_ server: Server) {
        self.server = server
    }

    /// Asks the engine for what is to be searched.
    func ask(_ pending: PendingExchange) throws(BadRequest) {
        let request = try SearchRequest(pending.exchange.head.query)
        pending.subject = .search(request)
        read(request.path, pending)
    }

    /// Asks the engine for what is to be measured.
    func askSize(_ pending: PendingExchange) throws(BadRequest) {
        let path = pending.exchange.head.query.last { $0.name == "path" }?.value ?? ""
        pending.subject = .size
        read(try RequestFilter.path(path), pending)
    }

    private func read(_ path: Path, _ pending: PendingExchange) {
        submit(.get(WriteTarget(path: path), .everything), pending)
    }

    /// Answers from what was read, when that was for a search or a measurement.
    func answers(_ pending: PendingExchange, from node: Node) -> Bool {
        switch pending.subject {
        case .search(let request):
            server.admin.noteSearch(pending, below: request.path)
            stream(SearchRun(request, in: node), to: pending)
        case .size: measure(node, pending)
        default: return false
        }
        return true
    }

    /// Sends the lines of a search as they come. It ends with its reader.
    private func stream(_ run: SearchRun, to pending: PendingExchange) {
        guard underWayCount < InspectionLimits.searchCount else {
            return finish(pending, .error(503, "Too many searches are under way."))
        }
        pending.cancelTimer()
        underWayCount += 1
        let slot = WorkSlot {
            EventLoop.shared.enqueue { [self] in underWayCount -= 1 }
        }
        let body = WorkerBody(
            pending.exchange,
            workers.archives,
            waitingByteLimit: Self.waitingByteCount,
            Self.maker(of: run)
        )
        let headers =
            HTTPResponse.headers(type: "application/x-ndjson", cache: "no-store")
            // Reverse proxies that collect answers before they pass them on let this one through.
            + [("X-Accel-Buffering", "no")]
            + server.requests.crossOriginHeaders(pending.exchange)
        pending.exchange.respondStream(status: 200, headers: headers, byteCount: nil) {
            withExtendedLifetime(slot) { body.next() }
        }
    }

    /// Bytes of lines that wait for the socket before the search goes on.
    private static let waitingByteCount = 64 * 1024

    private nonisolated static func maker(of run: SearchRun) -> sending WorkerBody.Maker {
        var run = run
        return { run.next() }
    }

    /// Answers `{"children":412907,"bytes":61000000}`: the bytes are those of its JSON, with priorities.
    private func measure(_ node: Node, _ pending: PendingExchange) {
        let childCount = Int64(node.childCount)
        let isTaken = workers.values.post(
            .count(TextCount(AnswerText(node, .export)), byteLimit: .max) { byteCount in
                EventLoop.shared.enqueue { [self] in
                    let size: JSONValue = [
                        "children": .integer(childCount), "bytes": .integer(Int64(byteCount ?? 0)),
                    ]
                    finish(pending, .json(of: size))
                }
            }
        )
        if !isTaken { finish(pending, .error(503, "Too many large values are being read.")) }
    }
}
