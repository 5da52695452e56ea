import JSONTree
import Logging
import Transport

/// Requests that a follower's clients send: the owner answers them, through this node, since clients drop their credentials
/// when they are sent to another host.
///
///     client ──► follower: head, body whole ──► a thread of OwnerRelay ──► owner ──► answer whole ──► client
///
/// Data is read here (`ClusterService+Clients`). What is not whole, or large, is sent elsewhere by 307: bytes of files,
/// backups, pages.
extension ClusterService {
    /// Where a request is answered.
    enum Passage {
        case here
        /// Here, once this node has what the owner has.
        case whenCurrent
        case relayed
        case refused(HTTPResponse)
    }

    /// Decides by the head of a request.
    func passage(of request: ResolvedRequest) -> Passage {
        if leads || request.route.answersWhileFollowing { return .here }
        // It says itself what may be asked of it.
        if request.head.method == "OPTIONS" { return .here }
        guard fault == nil, let ownerAddress else { return .refused(noOwner) }
        // The node that sends it takes this one for the owner.
        if isRelayed(request.head) { return .refused(noOwner) }
        if request.head.isWebSocketUpgrade { return .here }
        if servesClients {
            if Self.isRead(request) { return .whenCurrent }
            if Self.isRelayable(request) { return .relayed }
        }
        var response = HTTPResponse.error(307, "Another node owns the group: \(ownerAddress)")
        response.headers.append(("Location", ownerAddress + Self.target(of: request.head)))
        return .refused(response)
    }

    /// The answer while no node owns the group, or this one serves nothing.
    var noOwner: HTTPResponse {
        let words = "No node owns the group now; one will within seconds."
        return .error(503, fault.map { "\($0)" } ?? words).adding("Retry-After", "1")
    }

    /// Whether it reads data, once or for as long as its stream of events stays open.
    private static func isRead(_ request: ResolvedRequest) -> Bool {
        guard case .data = request.route.service else { return false }
        return (request.method == .get || request.method == .head)
            && request.method?.rawValue == request.head.method
    }

    private static func isRelayable(_ request: ResolvedRequest) -> Bool {
        guard OwnerRelay.Method(request.head.method) != nil, !request.route.isSecret else {
            return false
        }
        switch request.route.service {
        case .data, .accounts, .administration, .inspection:
            return request.head.header("accept")?.contains("text/event-stream") != true
        case .health, .sockets, .files, .emulator, .pages: return false
        }
    }

    private static func target(of head: RequestHead) -> String {
        head.rawTarget.hasPrefix("/") ? head.rawTarget : "/"
    }

    /// Whether a node of the group sends this request for a client of its own.
    func isRelayed(_ head: RequestHead) -> Bool {
        guard let words = head.header(GroupSecret.relayHeader),
            let secret = server.identity.accounts.keys.groupSecret,
            secret.isRelay(words, at: Clock.now().milliseconds / 1000)
        else { return false }
        nodeAddresses.insert(head.peerAddress)
        return true
    }

    /// What shows the owner that a node of the group asks; nil without a secret.
    var relayWords: String? {
        server.identity.accounts.keys.groupSecret?.relayWords(at: Clock.now().milliseconds / 1000)
    }

    /// Sends a request, whose body is whole, to the owner, and its answer to the client.
    func relay(_ exchange: HTTPExchange) {
        let head = exchange.head
        // The length of an answer to HEAD is that of its body, which stays here.
        let name = head.method == "HEAD" ? "GET" : head.method
        guard let relay, let ownerAddress, let method = OwnerRelay.Method(name),
            let words = relayWords
        else { return exchange.respond(noOwner) }
        let headers =
            head.fields.filter { !Self.isOfOneHop($0.name) }.map { ($0.name, $0.value) }
            + server.client(of: head).forwardingHeaders + [(GroupSecret.relayHeader, words)]
        let errand = OwnerRelay.Errand(
            method: method,
            url: ownerAddress + Self.target(of: head),
            headers: headers.map { "\($0): \($1)" },
            body: exchange.takeBody()
        ) { result in
            EventLoop.shared.enqueue { [self] in
                // What is read here behind the answer shows what was written.
                question?.whenCurrent { [self] _ in answer(exchange, result) }
            }
        }
        relayedCount += 1
        if !relay.post(errand) { exchange.respond(noOwner) }
    }

    private func answer(
        _ exchange: HTTPExchange,
        _ result: Result<OwnerRelay.Answer, OwnerRelay.Fault>
    ) {
        guard exchange.isAnswerable else { return }
        switch result {
        case .success(let answer):
            let headers = answer.headers.filter { !Self.isOfOneHop($0.key) }
                .sorted { $0.key < $1.key }
            exchange.respond(
                HTTPResponse(
                    status: answer.status,
                    headers: headers.map { ($0.key, $0.value) },
                    body: answer.body
                )
            )
        case .failure(let error):
            // What was sent may have been done: the client knows as little as after a lost connection.
            log.warning("the owner did not answer a relayed request: \(error)")
            exchange.respond(
                .error(502, "The owner did not answer; what was asked may be done.")
                    .adding("Retry-After", "1")
            )
        }
    }

    /// Headers that say something of one connection, or that each hop writes anew.
    private static func isOfOneHop(_ name: String) -> Bool {
        switch name.lowercased() {
        case "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding",
            "upgrade", "content-length", "expect", "date", "server", GroupSecret.relayHeader,
            "forwarded", "x-forwarded-for", "x-forwarded-proto", "x-forwarded-port", "x-real-ip",
            "via":
            true
        default: false
        }
    }
}
