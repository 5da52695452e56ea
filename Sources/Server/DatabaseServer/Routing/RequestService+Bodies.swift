import DatabaseCore
import Gzip
import IdentityToolkit
import Transport

/// Bodies that are read while they arrive, or that are coded.
extension RequestService {
    /// Decides by the head how the body of a request is taken.
    func admitBody(_ request: ResolvedRequest) -> Admission {
        let head = request.head
        if case .file = request.route.body {
            return head.hasShortBody ? .accept() : .acceptInParts
        }
        guard ContentCoding(head) != nil else {
            let text = "A body is coded as gzip or not at all; its Content-Encoding is another."
            return .refuse(.error(415, text).adding("Accept-Encoding", "gzip"))
        }
        let writes = head.method == "PUT" || head.method == "POST" || head.method == "PATCH"
        // Short ones come whole in any case.
        guard writes, !head.hasShortBody else { return .accept() }
        switch request.route.body {
        case .whole: return .accept()
        case .inParts, .file, .afterAdmission: return .acceptInParts
        case .short(let byteLimit):
            guard let byteCount = head.bodyByteCount else {
                return .refuse(.error(411, "The request must tell the length of its body."))
            }
            if byteCount <= byteLimit { return .accept() }
            return .refuse(.error(413, "The body has more than \(byteLimit) bytes."))
        case .identity(let byteLimit):
            let error: IdentityError
            switch head.bodyByteCount {
            case nil: error = .lengthRequired
            case .some(...byteLimit): return .accept()
            case .some: error = .tooLarge(byteLimit: byteLimit)
            }
            return .refuse(IdentityService.identityAnswer(error))
        }
    }

    /// Whether the body of a complete request must be inflated before the request is looked at; then does it,
    /// and comes again.
    func inflates(_ exchange: HTTPExchange, _ request: ResolvedRequest) -> Bool {
        guard exchange.isBodyComplete, !exchange.body.isEmpty else { return false }
        guard exchange.head.hasHeader("content-encoding"), ContentCoding(exchange.head) == .gzip
        else {
            return false
        }
        let byteLimit: Int
        switch request.route.body {
        case .file: return false
        case .inParts where request.location != .impossible: return false
        case .short(let limit), .identity(let limit): byteLimit = limit
        case .whole, .inParts, .afterAdmission: byteLimit = configuration.limits.bodyByteCount
        }
        let body = exchange.takeBody()
        let isTaken = readAway(body.count, of: exchange) { () -> Result<[UInt8], GzipError> in
            Result { () throws(GzipError) in try inflateWhole(body, byteLimit: byteLimit) }
        } then: { [self] outcome in
            switch outcome {
            case .success(let text):
                exchange.body = text
                dispatch(exchange, request)
            case .failure(let fault): refuseBody(exchange, request, fault)
            }
        }
        if !isTaken { refuseBody(exchange, request, nil) }
        return true
    }

    /// Refuses a coded body in the words of its route: for its fault, or (nil) for lack of room.
    private func refuseBody(
        _ exchange: HTTPExchange,
        _ request: ResolvedRequest,
        _ fault: GzipError?
    ) {
        guard case .identity(let byteLimit) = request.route.body else {
            let answer = fault.map { BodyFault.gzip($0).answer }
            return refuse(exchange, answer ?? Self.tooManyBodies)
        }
        let error: IdentityError =
            switch fault {
            case nil: .unavailable("Too many large bodies are being read.")
            case .tooLarge: .tooLarge(byteLimit: byteLimit)
            case .some: .invalidPayload("The body is not a gzip stream.")
            }
        server.identity.refuse(exchange, error)
    }

    static let tooManyBodies = HTTPResponse.error(503, "Too many large bodies are being read.")
        .adding("Retry-After", "5")

    /// Asks the engine before the body is read on; `then` is called if nothing speaks against it.
    func decideFirst(
        _ operation: Request.Operation,
        _ pending: PendingExchange,
        then: @escaping @LoopActor () -> Void
    ) {
        pending.exchange.pauseBody()
        pending.whenAllowed = then
        submit(operation, pending)
    }

    /// Whether the request is an administrator's with a body that is better not read for anybody else; then finds
    /// that out, and comes again with the whole body.
    func admitsFirst(_ exchange: HTTPExchange, _ request: ResolvedRequest) -> Bool {
        guard case .afterAdmission = request.route.body, !request.isAdmitted else { return false }
        let isLarge = exchange.body.count > AdminBody.loopByteCount
        let isCoded = exchange.head.hasHeader("content-encoding") && !exchange.body.isEmpty
        guard !exchange.isBodyComplete || isLarge || isCoded else { return false }
        do throws(BadRequest) {
            let database = try request.database.get()
            let pending = PendingExchange(exchange, request, try request.parameters.get(), database)
            decideFirst(.confirm, pending) { [self] in
                request.isAdmitted = true
                if !exchange.isBodyComplete { return exchange.awaitBody() }
                if !inflates(exchange, request) { dispatch(exchange, request) }
            }
        } catch {
            refuse(exchange, .bad(error))
        }
        return true
    }
}
