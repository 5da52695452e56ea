import ClusterLog
import DatabaseCore
import Logging
import Transport

/// Clients of a node that follows: they listen and read here, and never see less than what another node has shown them.
extension ClusterService {
    /// Calls `then` once this node has what the owner had when this is called; with false when that takes too long.
    func whenCurrent(then: @escaping @LoopActor (_ isCurrent: Bool) -> Void) {
        guard let question else { return then(false) }
        question.whenCurrent(then: then)
    }

    /// Answers a read once this node has what the owner has.
    func answerWhenCurrent(_ exchange: HTTPExchange, _ request: ResolvedRequest) {
        request.awaitsGroup = false
        whenCurrent { [self] isCurrent in
            guard exchange.isAnswerable else { return }
            if isCurrent { server.requests.receive(exchange) } else { exchange.respond(noOwner) }
        }
    }

    /// Begins a session once this node has what the owner has; sends elsewhere what is done by the owner alone.
    func open(
        _ socket: WebSocketConnection,
        _ request: ResolvedRequest,
        begin: @escaping @LoopActor () -> Void
    ) {
        // Sessions of the console, and those that move here from long polling, are the owner's.
        let isHere = request.consoleSession == nil && request.head.queryValue("s") == nil
        guard servesClients, isHere, fault == nil else { return redirect(socket) }
        socket.holdMessages()
        whenCurrent { [self] isCurrent in
            guard socket.isOpen else { return }
            if isCurrent { begin() } else { redirect(socket) }
            socket.resumeMessages()
        }
    }

    /// The session of another node's client, when a node opens one for it here: its name, and where this node stands, which
    /// it hears ahead of each message.
    func nodeSession(of head: RequestHead) -> (id: SessionID, position: GroupPosition)? {
        guard leads, let name = head.header(OwnerSessions.nameHeader), isRelayed(head) else {
            return nil
        }
        return (SessionID(name), position)
    }

    /// The answer to another node that asks how many commits the owner has.
    func commits(for head: RequestHead) -> HTTPResponse {
        guard leads, isRelayed(head) else { return .error(503, "Nodes ask this of their owner.") }
        return .plain(200, "\(position.commitCount)\n")
    }

    // MARK: - A node that falls behind

    /// Without an owner, after which clients are sent away; an election is shorter. One that is silent is known for 10 s
    /// more (`ClusterOptions.aheadMemory`).
    private static let ownerlessSeconds = 15
    /// Behind the owner, after which they are.
    private static let behindSeconds = 5

    /// Ends the sessions of a node that no longer sees what happens; called each second.
    func endIfBehind() {
        let isBehind = (status?.owner?.progress.commit ?? 0) > position.commitCount
        behindSeconds = isBehind ? behindSeconds + 1 : 0
        ownerlessSeconds = ownerAddress == nil ? ownerlessSeconds + 1 : 0
        let isLost = fault != nil || ownerlessSeconds >= Self.ownerlessSeconds
        let clientCount = server.sockets.connections.count + server.data.streams.openCount
        guard isLost || behindSeconds >= Self.behindSeconds, clientCount > 0 else { return }
        log.warning("this node is behind its group: its clients are sent away")
        step(.shutDown)
    }
}
