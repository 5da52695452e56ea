import DatabaseCore
import Gzip
import JSONTree
import Transport
import WireProtocol

/// Bodies that are read while they arrive, or that are coded.
extension Server {
    /// Decides by the head how the body of a request is taken.
    func judgeBody(_ head: RequestHead) -> Verdict {
        guard ContentCoding(head) != nil else {
            var response = RESTAnswer.error(
                415,
                "A body is coded as gzip or not at all; its Content-Encoding is another."
            )
            response.headers.append((name: "Accept-Encoding", value: "gzip"))
            return .refuse(response)
        }
        // Those come whole in any case: nothing need be known of their route yet.
        if head.hasShortBody { return .accept() }
        switch head.method {
        case "PUT", "POST", "PATCH":
            switch Route(head.pathSegments) {
            case .data, .badPath: return .acceptInParts
            case .rules, .settings, .simulate, .inspect, .upload: return .acceptInParts
            case .identity(let route): return judgeBody(head, route)
            case .accounts: return judgeAccountsBody(head)
            default: return .accept()
            }
        default: return .accept()
        }
    }

    /// Whether the body of a complete request must be inflated before the request is looked at; then does it,
    /// and comes again.
    func inflates(_ exchange: HTTPExchange) -> Bool {
        guard exchange.isBodyComplete, !exchange.body.isEmpty else { return false }
        guard exchange.head.hasHeader("content-encoding"), ContentCoding(exchange.head) == .gzip
        else {
            return false
        }
        let route = Route(exchange.head.pathSegments)
        if case .data = route { return false }
        if case .identity(let route) = route { return inflates(exchange, route) }
        let body = exchange.takeBody()
        var byteLimit = configuration.limits.bodyByteCount
        if case .accounts = route { byteLimit = AccountsRoute.bodyByteLimit }
        let isTaken = readAway(body.count, of: exchange) {
            [byteLimit] () -> Result<[UInt8], BodyFault> in
            Result { () throws(BodyFault) in
                do throws(GzipError) { return try inflateWhole(body, byteLimit: byteLimit) } catch {
                    throw .gzip(error)
                }
            }
        } then: { [self] outcome in
            switch outcome {
            case .success(let text):
                exchange.body = text
                receiveInflated(exchange)
            case .failure(let fault): refuse(exchange, fault.answer)
            }
        }
        if !isTaken { refuse(exchange, Server.tooManyBodies) }
        return true
    }

    static let tooManyBodies: HTTPResponse = {
        var response = RESTAnswer.error(503, "Too many large bodies are being read.")
        response.headers.append((name: "Retry-After", value: "5"))
        return response
    }()

    /// Reads the body of a write while it arrives, and submits the request; first it is looked whether whoever
    /// sends it may write at all.
    func readInParts(
        _ pending: PendingExchange,
        _ purpose: BodyPurpose,
        _ database: DatabaseID
    ) {
        var target = purpose.target
        if let key = purpose.key {
            target = WriteTarget(path: target.path.appending(key), isPriority: false)
        }
        let isUpdate = purpose.method == "PATCH"
        judgeFirst(.foresee(target, isUpdate: isUpdate), pending, database) { [self] in
            IncomingBody(pending, purpose, database, self).begin()
        }
    }

    /// Asks the engine before the body is read on; `then` is called if nothing speaks against it.
    func judgeFirst(
        _ operation: Request.Operation,
        _ pending: PendingExchange,
        _ database: DatabaseID,
        isForAdmins: Bool = false,
        then: @escaping @LoopActor () -> Void
    ) {
        pending.exchange.pauseBody()
        pending.whenAllowed = then
        submit(operation, pending, database, isForAdmins: isForAdmins)
    }

    /// Whether the request is an administrator's with a body that is better not read for anybody else; then finds
    /// that out, and comes again with the whole body.
    func admitsFirst(_ exchange: HTTPExchange, _ route: Route) -> Bool {
        switch route {
        case .rules, .settings, .simulate, .inspect, .upload: break
        default: return false
        }
        let isLarge = exchange.body.count > AdminBody.loopByteCount
        let isCoded = exchange.head.hasHeader("content-encoding") && !exchange.body.isEmpty
        guard !exchange.isBodyComplete || isLarge || isCoded, exchange.userData == nil else {
            return false
        }
        let head = exchange.head
        do throws(BadRequest) {
            let database = try database(of: head)
            let parameters = try RESTParameters(head, head.method)
            let pending = PendingExchange(exchange, parameters, .root)
            judgeFirst(.confirm, pending, database, isForAdmins: true) { [self] in
                exchange.userData = AdmittedBody.known
                if !exchange.isBodyComplete { return exchange.awaitBody() }
                if !inflates(exchange) { receiveInflated(exchange) }
            }
        } catch {
            refuse(exchange, RESTAnswer.bad(error))
        }
        return true
    }
}

/// Marks a request whose sender is known to be an administrator.
private final class AdmittedBody: Sendable {
    static let known = AdmittedBody()
}
