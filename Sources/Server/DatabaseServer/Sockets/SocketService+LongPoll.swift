import DatabaseCore
import Logging
import Transport
import WireProtocol

/// Sessions of the wire protocol over long polling, `/.lp`, for browsers that open no WebSocket.
///
///     ?start=t&ser=..&cb=..&v=5&ns=..        a session begins; the first answer has hello
///     ?id=..&pw=..&ser=..[&seg0=..&ts0=..&d0=..]   brings pieces of messages, and waits for messages
///     ?dframe=t&id=..&pw=..                  a page that says goodbye when it goes
///     ?disconn=t&id=..&pw=..                 goodbye
///
/// Every answer but that page is a script with status 200, refusals included: of any other a client only
/// sees that its script does not load. Scripts of other origins may be loaded without a word about CORS.
extension SocketService {
    /// Messages taken from one session before those of others.
    private static let pollMessagesAtOnce = 16

    /// Answers a request to `/.lp`, or keeps it.
    func receivePoll(_ exchange: HTTPExchange) {
        let request = ResolvedRequest.of(exchange)
        let head = request.head
        let isGoodbye = head.queryValue("disconn") != nil
        // A beacon is a POST, whose body says nothing.
        guard head.method == "GET" || head.method == "POST" && isGoodbye else {
            return answer(exchange, .error(405, "This address takes GET.").adding("Allow", "GET"))
        }
        if head.queryValue("start") != nil {
            openPoll(exchange, request)
            return
        }
        guard let poll = polls.session(of: head) else {
            return exchange.respond(PollSession.response(PollScript.close()))
        }
        if isGoodbye {
            exchange.respond(PollSession.response(PollScript.close()))
            pollFailed(poll, nil)
        } else if head.queryValue("dframe") != nil {
            let page = PollScript.disconnectPage(id: poll.id.text, password: poll.password)
            let headers = HTTPResponse.headers(type: "text/html; charset=utf-8")
            exchange.respond(HTTPResponse(status: 200, headers: headers, body: page))
        } else {
            takePieces(of: exchange, poll)
        }
    }

    // MARK: - Begin

    private func openPoll(_ exchange: HTTPExchange, _ request: ResolvedRequest) {
        let head = request.head
        let functions = PollScript.functions(callback: head.queryValue("cb") ?? "")
        if let version = head.queryValue("v"), version != "5" {
            let text = "This server speaks version 5 of the protocol only."
            return refusePoll(exchange, functions, text)
        }
        guard !server.isStopping, !polls.isFull else {
            return exchange.respond(PollSession.response(functions + PollScript.close()))
        }
        do throws(BadRequest) {
            beginPoll(exchange, functions, try request.database.get())
        } catch {
            refusePoll(exchange, functions, error.text)
        }
    }

    private func beginPoll(_ exchange: HTTPExchange, _ functions: [UInt8], _ database: DatabaseID) {
        var made: PollSession?
        let peer = clientAddress(of: exchange.head)
        let connection = add { id in
            let client = server.client(exchange.head)
            let poll = PollSession(id, of: database, from: client, self) { session, password in
                functions + PollScript.start(id: session.text, password: password)
            }
            made = poll
            return ClientConnection(id: id, peer: peer, channel: .poll(poll))
        }
        guard let poll = made else { preconditionFailure("the table makes what it adds") }
        polls.add(poll)
        poll.hold(exchange)
        let handshake = Handshake(
            database: database,
            host: exchange.head.host,
            session: poll.id,
            lastSession: exchange.head.queryValue("ls").map(SessionID.init),
        )
        step(.connected(connection.id, handshake))
    }

    /// Answers with the message after which a client does not come back.
    private func refusePoll(_ exchange: HTTPExchange, _ functions: [UInt8], _ text: String) {
        var script = functions + PollScript.batchStart(0)
        PollScript.append(ServerMessage.shutdown(text).encoded()[...], to: &script)
        script += PollScript.batchEnd
        exchange.respond(PollSession.response(script))
    }

    // MARK: - Messages

    /// Takes what a request brings and keeps it for what is to be said.
    private func takePieces(of exchange: HTTPExchange, _ poll: PollSession) {
        poll.hold(exchange)
        guard !poll.isEnding, let connection = connections[poll.connection] else { return }
        do throws(PollError) {
            let pieces = try PollPiece.pieces(in: exchange.head.query)
            try poll.take(pieces)
        } catch {
            return refuse(connection, 1003, "\(error)")
        }
        let isTooMuch = poll.inboundByteCount > 2 * configuration.limits.messageByteCount
        guard !isTooMuch, !poll.isTooMuch else {
            return refuse(connection, 1013, "Too much of unfinished messages waits")
        }
        takeMessages(poll)
    }

    /// Takes messages that are complete, until there is none or one must be waited for.
    func takeMessages(_ poll: PollSession) {
        guard let connection = connections[poll.connection] else { return }
        for _ in 0..<SocketService.pollMessagesAtOnce {
            guard let message = poll.nextMessage() else { return }
            switch message {
            case .message(let text):
                countMessage()
                takeText(text, connection)
            case .tooBig(let byteCount, let number):
                let limit = configuration.limits.messageByteCount
                refuseFrame(
                    .messageTooBig(byteCount: byteCount, limit: limit, request: number),
                    connection
                )
            }
        }
        if !poll.isHeld { poll.resumeMessages() }
    }

    // MARK: - The end

    /// A session that ends: nothing more is taken from it.
    func pollClosed(_ poll: PollSession) {
        guard let connection = connections[poll.connection],
            case .poll = connection.channel
        else { return }
        remove(connection.id)
    }

    /// A client is gone, for a reason that is logged unless it said goodbye itself.
    func pollFailed(_ poll: PollSession, _ reason: String?) {
        if let reason, !poll.isEnding {
            log.info(
                "a long-polling session ended: \(reason)",
                metadata: ["connection": "\(poll.connection.shortText)"]
            )
        }
        poll.drop()
        pollClosed(poll)
    }
}
