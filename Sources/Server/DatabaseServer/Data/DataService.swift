import DatabaseCore
import JSONTree
import Transport
import WireProtocol

/// The tree over HTTP: values, writes, and streams of events.
@LoopActor
final class DataService: Service {
    let server: Server
    /// Event streams, asked for and open.
    let streams = StreamConnections()
    /// Bodies on their way in.
    let bodies = BodyTable()

    init(_ server: Server) {
        self.server = server
    }

    func addMetrics(to metrics: inout Metrics) {
        metrics.gauge("hearth_event_streams", "Event streams open now.", streams.openCount)
        metrics.gauge(
            "hearth_incoming_body_bytes",
            "Bytes that large writes on their way in have come to.",
            bodies.heldByteCount
        )
    }

    /// Bodies that ended because too much was held.
    var bodyOverloadCount: Int { bodies.overloadCount }

    /// A location in the tree: read, written, or watched.
    func ask(_ pending: PendingExchange) throws(BadRequest) {
        if wantsEvents(pending) { return submit(try openStream(pending), pending) }
        let request = pending.request
        let conditions = try RESTConditions(request.head, request.methodName, pending.parameters)
        pending.subject = .data(conditions)
        let target = pending.target
        switch pending.method {
        case .get, .head:
            submit(.get(target, pending.parameters.query, conditions.tagUse), pending)
        case .delete:
            let draft = Draft(.absent)
            submit(.put(target, draft, condition: conditions.match, conditions.tagUse), pending)
        case .put: try write(.put, pending)
        case .post: try write(.post(key: server.nextKey()), pending)
        case .patch: try write(.patch, pending)
        }
    }

    /// Reads the body of a write, away from the loop when it is large, and submits it.
    private func write(_ use: BodyUse, _ pending: PendingExchange) throws(BadRequest) {
        let exchange = pending.exchange
        let coding = ContentCoding(exchange.head) ?? .identity
        let isLarge = exchange.body.count >= Server.readAwayByteCount
        if !exchange.isBodyComplete || isLarge || (coding == .gzip && !exchange.body.isEmpty) {
            let purpose = BodyPurpose(
                use: use,
                target: pending.target,
                conditions: pending.conditions,
                coding: coding,
                byteLimit: configuration.limits.bodyByteCount
            )
            return readInParts(pending, purpose)
        }
        let (target, conditions) = (pending.target, pending.conditions)
        submit(try Request.Operation(use, target, conditions, body: exchange.takeBody()), pending)
    }

    /// Reads the body of a write while it arrives, and submits the request; first the rules decide whether its sender may
    /// write there at all.
    private func readInParts(_ pending: PendingExchange, _ purpose: BodyPurpose) {
        var target = purpose.target
        if case .post(let key) = purpose.use {
            target = WriteTarget(path: target.path.appending(key), isPriority: false)
        }
        let foreseen = Request.Operation.foresee(target, isUpdate: purpose.use == .patch)
        server.requests.decideFirst(foreseen, pending) { [self] in
            IncomingBody(pending, purpose, self).begin()
        }
    }
}
