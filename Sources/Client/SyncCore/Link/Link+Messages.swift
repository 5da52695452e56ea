import JSONTree
import Queries
import WireProtocol

extension Link {
    /// Sends a request; the reply settles its purpose.
    mutating func send(_ action: ClientRequest.Action, for request: SentRequest, _ now: Timestamp) {
        requestCount += 1
        sendText(ClientRequest(number: requestCount, action: action).encoded(), for: request, now)
    }

    mutating func sendListen(_ listen: LinkListen, _ hash: ListenHash, _ now: Timestamp) {
        send(.listen(listen.target, tag: listen.tag, hash: hash), for: .listen(listen), now)
    }

    /// Sends the text of the request counted last. One that no server would take is answered here.
    private mutating func sendText(_ text: [UInt8], for request: SentRequest, _ now: Timestamp) {
        guard text.count <= SyncLimits.writeByteCount,
            let frames = ClientMessage.frames(of: text)
        else {
            let words = "\(text.count) bytes are more than one request may have"
            return settle(request, .refused(status: "too_big", message: words))
        }
        traffic.sent(byteCount: text.count, isFirst: requests.isEmpty, now: now)
        requests[requestCount] = request
        if case .write = request { window.sent(requestCount, byteCount: text.count) }
        transmit(frames)
    }

    /// Sends the next writes, within the limit.
    mutating func sendWrites(_ now: Timestamp) {
        while let id = window.next() {
            // It may have been cancelled.
            guard let pending = writes[id] else { continue }
            writes[id]?.isSent = true
            send(pending.write.body.action(hash: pending.write.hash), for: .write(id), now)
        }
    }

    mutating func transmit(_ frames: [[UInt8]]) {
        guard let socket = state.socket else { return }
        effects.append(.send(socket, frames: frames))
    }

    /// Sends what must come first on a connection, then the credential; the rest waits for the answer.
    private mutating func introduce(_ socket: SocketID, _ now: Timestamp, _ hashes: Hashes) {
        state = .authenticating(socket)
        if !hasSentStats {
            hasSentStats = true
            requestCount += 1
            sendText(
                ClientRequest.encodedStats(number: requestCount, agent: agent),
                for: .stats,
                now
            )
        }
        if credentials.token == nil {
            credentials.sent = .some(nil)
            resume(socket, now, hashes)
        } else {
            sendCredential(now)
        }
    }

    private mutating func resume(_ socket: SocketID, _ now: Timestamp, _ hashes: Hashes) {
        state = .connected(socket)
        getDeadlines.removeAll()
        news.append(.connected(serverTimeOffset: serverTimeOffset))
        for listen in listens.inOrder { sendListen(listen, hashes(listen.target), now) }
        for pending in writes.values.sorted(by: { $0.sequence < $1.sequence }) {
            window.append(pending.write.id)
        }
        sendWrites(now)
        for (id, pending) in onDisconnects.sorted(by: { $0.value.sequence < $1.value.sequence }) {
            send(pending.action, for: .onDisconnect(id), now)
        }
        for (call, pending) in gets.sorted(by: { $0.value.sequence < $1.value.sequence }) {
            send(.get(pending.target), for: .get(call), now)
        }
    }
}

// MARK: Receiving

extension Link {
    mutating func received(_ socket: SocketID, _ frame: [UInt8], now: Timestamp, hashes: Hashes) {
        guard socket == state.socket else { return }
        traffic.received(now: now)
        do {
            switch try assembler.receive(frame) {
            case .incomplete, .keepAlive: break
            case .message(let text): try receive(ReceivedMessage.parse(text), now, hashes)
            }
        } catch {
            effects.append(.warn(.badMessage("\(error)")))
            lose(now)
        }
        schedule(now)
    }

    private mutating func receive(
        _ message: ReceivedMessage,
        _ now: Timestamp,
        _ hashes: Hashes,
    ) throws(MessageError) {
        switch message {
        case .hello(let time, let host, let session): greet(time, host, session, now, hashes)
        case .reset(let host): redirect(to: host, now)
        case .shutdown(let reason):
            effects.append(.warn(.shutDown(reason)))
            goOffline(now: now)
        case .reply(let number, let reply): try receiveReply(reply, to: number, now, hashes)
        case .authRevoked(let status, let reason):
            if state.isGreeted { refuseCredential(status: status, reason: reason, now) }
        case .securityDebug(let text): effects.append(.warn(.securityDebug(text)))
        case .put, .merge, .rangeMerge, .cancel:
            // Before there are listens nothing is due.
            if state.isConnected { receivePush(message) }
        case .pong, .unknown: break
        }
    }

    private mutating func receivePush(_ message: ReceivedMessage) {
        switch message {
        case .put(let target, let node, let tag): news.append(.put(target, node, tag: tag))
        case .merge(_, let locations, _) where locations.isEmpty: break
        case .merge(let base, let locations, let tag):
            news.append(.merge(base, locations, tag: tag))
        case .rangeMerge(let path, let ranges, let tag):
            news.append(.rangeMerge(path, ranges, tag: tag))
        case .cancel(let targets):
            for target in targets where listens.removeAll(target) {
                let words = "Permission denied"
                let failure = SyncFailure.refused(status: "permission_denied", message: words)
                news.append(.revoked(target, failure))
            }
        case .hello, .reset, .shutdown, .pong, .reply, .authRevoked, .securityDebug, .unknown:
            preconditionFailure("only what concerns listens is pushed on")
        }
    }

    private mutating func greet(
        _ time: Timestamp,
        _ host: String,
        _ session: String,
        _ now: Timestamp,
        _ hashes: Hashes,
    ) {
        guard let socket = state.socket, !state.isGreeted else { return }
        greeted = now
        hasReportedFailure = false
        serverTimeOffset = time.milliseconds - now.milliseconds
        if !host.isEmpty { adoptedHost = host }
        lastSession = session.isEmpty ? nil : session
        introduce(socket, now, hashes)
    }

    /// Connects to another host, at once unless that was so a few times in a row.
    private mutating func redirect(to host: String, _ now: Timestamp) {
        drop(now, closes: true)
        if !host.isEmpty { adoptedHost = host }
        redirectCount += 1
        if redirectCount <= SyncLimits.redirects { backoff.reset() }
        retry(now)
    }

    private mutating func receiveReply(
        _ reply: ReceivedReply,
        to number: Int64,
        _ now: Timestamp,
        _ hashes: Hashes,
    ) throws(MessageError) {
        guard let request = requests.removeValue(forKey: number) else { return }
        switch request {
        case .authentication:
            if number == credentials.request { receiveAuthentication(reply, now, hashes) }
        case .get(let call) where reply.isOK:
            guard gets.removeValue(forKey: call) != nil else { return }
            do throws(MessageError) {
                news.append(.got(call, .success(try reply.node())))
            } catch {
                // It would be no better when asked for again.
                let failure = SyncFailure.refused(status: "error", message: "\(error)")
                news.append(.got(call, .failure(failure)))
                throw error
            }
        case .listen(let listen) where reply.isOK:
            guard listens.contains(listen.target, listen.tag, sequence: listen.sequence) else {
                return earlierListenAnswered(listen.target, tag: listen.tag)
            }
            let isUnindexed = reply.warnings.contains("no_index")
            if isUnindexed { tellMissingIndex(listen.target) }
            news.append(.listening(listen.target, tag: listen.tag, isUnindexed: isUnindexed))
        case .stats, .unlisten, .listen, .write, .get, .onDisconnect:
            if case .write = request { writeAnswered(number, now) }
            if reply.isOK { return settle(request, nil) }
            settle(request, .refused(status: reply.status, message: reply.text))
        }
    }

    private mutating func writeAnswered(_ number: Int64, _ now: Timestamp) {
        window.answered(number)
        sendWrites(now)
    }

    private mutating func tellMissingIndex(_ target: ListenTarget) {
        let missing = MissingIndex(path: target.path, index: target.query.index)
        guard reportedIndexes.count < SyncLimits.reportedIndexes,
            reportedIndexes.insert(missing).inserted
        else { return }
        effects.append(.warn(.missingIndex(target.path, index: target.query.index)))
    }

    private mutating func receiveAuthentication(
        _ reply: ReceivedReply,
        _ now: Timestamp,
        _ hashes: Hashes,
    ) {
        guard reply.isOK else {
            return refuseCredential(status: reply.status, reason: reply.text, now)
        }
        credentials.accepted()
        if case .authenticating(let socket) = state { resume(socket, now, hashes) }
    }

    /// Reports that earlier pushes may belong to an earlier listen of the target. Queries need no report: tags tell
    /// them apart.
    private mutating func earlierListenAnswered(_ target: ListenTarget, tag: Int64?) {
        if tag != nil || !listens.contains(target, nil) { return }
        news.append(.earlierListenAnswered(target))
    }

    /// Reports the outcome of a request, if its purpose still exists.
    private mutating func settle(_ request: SentRequest, _ failure: SyncFailure?) {
        switch request {
        case .stats, .authentication: break
        case .unlisten(let target, let tag): earlierListenAnswered(target, tag: tag)
        case .listen(let listen):
            guard let failure,
                listens.contains(listen.target, listen.tag, sequence: listen.sequence),
                listens.remove(listen.target, listen.tag)
            else { return }
            news.append(.revoked(listen.target, failure))
        case .write(let id):
            guard let pending = writes.removeValue(forKey: id) else { return }
            if case .refused("datastale", _) = failure, pending.write.hash != nil {
                news.append(.stale(id))
            } else {
                news.append(.written(id, failure))
            }
        case .get(let call):
            guard let failure, gets.removeValue(forKey: call) != nil else { return }
            news.append(.got(call, .failure(failure)))
        case .onDisconnect(let id):
            guard onDisconnects.removeValue(forKey: id) != nil else { return }
            news.append(.onDisconnect(id, failure))
        }
    }
}
