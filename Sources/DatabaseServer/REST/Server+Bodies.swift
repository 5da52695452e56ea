import DatabaseCore
import Gzip
import JSONTree
import Transport

/// Bodies that are read while they arrive, or that are coded.
extension Server {
    /// Bytes of one body that may wait to be read; above it the socket is not read on.
    private static let waitingByteLimit = 1 << 20

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
        let isTaken = readAway(body.count) { [byteLimit] () -> Result<[UInt8], BodyFault> in
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

    static let tooManyBodies = RESTAnswer.error(503, "Too many large bodies are being read.")

    /// Reads the body of a write on the `reading` worker while it arrives, and submits the request.
    func readInParts(
        _ pending: PendingExchange,
        _ purpose: BodyPurpose,
        _ database: DatabaseID
    ) {
        let exchange = pending.exchange
        let reader = BodyReader(purpose)
        var waitingByteCount = 0
        exchange.receiveBody { [self] event in
            switch event {
            case .part(let bytes):
                waitingByteCount += bytes.count
                if waitingByteCount > Server.waitingByteLimit { exchange.pauseBody() }
                let isTaken = readAway(bytes.count) { () -> BodyFault? in
                    do throws(BodyFault) { try reader.append(bytes) } catch { return error }
                    return nil
                } then: { [self] fault in
                    waitingByteCount -= bytes.count
                    if let fault {
                        finish(pending, fault.answer)
                    } else if waitingByteCount <= Server.waitingByteLimit / 2 {
                        exchange.resumeBody()
                    }
                }
                if !isTaken { finish(pending, Server.tooManyBodies) }
            case .end:
                let isTaken = readAway(0) { () -> Result<Request.Operation, BodyFault> in
                    Result { () throws(BodyFault) in try reader.finish() }
                } then: { [self] outcome in
                    switch outcome {
                    case .success(let operation): submit(operation, pending, database)
                    case .failure(let fault): finish(pending, fault.answer)
                    }
                }
                if !isTaken { finish(pending, Server.tooManyBodies) }
            case .cut:
                // What was made of it may be large: it is let go where it was made.
                workers.reading.post(.read { reader.cut() })
            }
        }
    }
}
