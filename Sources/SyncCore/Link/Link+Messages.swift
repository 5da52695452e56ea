import JSONTree
import Queries
import WireProtocol

/// Sending requests.
extension Link {
    /// Sends a request; what it was for is settled by the reply.
    mutating func send(
        _ action: ClientRequest.Action,
        for request: SentRequest,
        _ now: Timestamp,
    ) {
        requestCount += 1
        send(ClientRequest(number: requestCount, action: action).encoded(), for: request, now)
    }

    /// Sends a listen.
    mutating func send(_ listen: LinkListen, _ hash: ListenHash, _ now: Timestamp) {
        send(.listen(listen.target, tag: listen.tag, hash: hash), for: .listen(listen), now)
    }

    /// Sends the text of the request counted last. One that no server would take is answered here.
    private mutating func send(_ text: [UInt8], for request: SentRequest, _ now: Timestamp) {
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

    /// Sends the writes that are next, as far as there is room for them.
    mutating func sendWrites(_ now: Timestamp) {
        while let id = window.next() {
            // It may have been cancelled.
            guard let pending = writes[id] else { continue }
            writes[id]?.isSent = true
            send(pending.action, for: .write(id), now)
        }
    }

    /// Hands frames to the socket in use.
    mutating func transmit(_ frames: [[UInt8]]) {
        guard let socket = state.socket else { return }
        effects.append(.send(socket, frames: frames))
    }

    /// Says what can only be said first on a connection, then who is signed in; the rest waits for
    /// the answer to that.
    private mutating func introduce(_ socket: SocketID, _ now: Timestamp, _ hashes: Hashes) {
        state = .authenticating(socket)
        if !hasSentStats {
            hasSentStats = true
            requestCount += 1
            send(
                ClientRequest.encodedStats(number: requestCount, agent: agent),
                for: .stats,
                now
            )
        }
        if credentials.token == nil {
            credentials.told = .some(nil)
            resume(socket, now, hashes)
        } else {
            sendCredential(now)
        }
    }

    /// Sends all that is pending.
    private mutating func resume(_ socket: SocketID, _ now: Timestamp, _ hashes: Hashes) {
        state = .connected(socket)
        getDeadlines.removeAll()
        news.append(.connected(serverTimeOffset: serverTimeOffset))
        for listen in listens.inOrder { send(listen, hashes(listen.target), now) }
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
    /// A frame arrived.
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
        case .hello(let time, let host, let session):
            greet(time, host, session, now, hashes)
        case .reset(let host): redirect(to: host, now)
        case .shutdown(let reason):
            effects.append(.warn(.shutDown(reason)))
            goOffline(now: now)
        case .reply(let number, let reply): try receive(reply, to: number, now, hashes)
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
        case .merge(_, let places, _) where places.isEmpty: break
        case .merge(let base, let places, let tag): news.append(.merge(base, places, tag: tag))
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
        hasToldFailure = false
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

    private mutating func receive(
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

    /// A write was answered: there is room for the next.
    private mutating func writeAnswered(_ number: Int64, _ now: Timestamp) {
        window.answered(number)
        sendWrites(now)
    }

    private mutating func tellMissingIndex(_ target: ListenTarget) {
        let missing = MissingIndex(path: target.path, index: target.query.index)
        guard toldIndexes.count < SyncLimits.toldIndexes,
            toldIndexes.insert(missing).inserted
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

    /// Tells that what was pushed so far may have been for an earlier listen than the one there is. Tags
    /// tell queries apart anyway.
    private mutating func earlierListenAnswered(_ target: ListenTarget, tag: Int64?) {
        if tag != nil || !listens.contains(target, nil) { return }
        news.append(.earlierListenAnswered(target))
    }

    /// Tells the outcome of a request, if it is still of interest.
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
