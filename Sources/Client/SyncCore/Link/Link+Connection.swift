import JSONTree
import WireProtocol

extension Link {
    /// Connects if nothing was asked for before.
    mutating func begin(_ now: Timestamp) {
        if state == .idle { retry(now) }
    }

    mutating func retry(_ now: Timestamp) {
        let wait = backoff.next()
        if wait == 0 { return connect(now) }
        state = .waiting(until: now.adding(wait))
    }

    mutating func connect(_ now: Timestamp) {
        state = .fetchingToken
        if let isForcing = credentials.fetch() {
            effects.append(.fetchToken(forcingRefresh: isForcing))
        }
    }

    /// The token has arrived, or no user is signed in.
    mutating func open(_ now: Timestamp) {
        socketCount += 1
        let socket = SocketID(socketCount)
        state = .opening(socket, until: now.adding(SyncLimits.connectTimeout))
        assembler = FrameAssembler(byteLimit: SyncLimits.messageByteCount)
        traffic = Traffic(now: now)
        var target = "/.ws?v=5&ns=" + PercentCoding.encode(address.namespace)
        if let lastSession { target += "&ls=" + PercentCoding.encode(lastSession) }
        let location = SocketAddress(
            host: adoptedHost ?? address.host,
            isSecure: address.isSecure,
            target: target
        )
        effects.append(.open(socket, location))
    }

    /// Warns the developer why a connection ended or could not open; the latter once.
    mutating func tellLoss(_ reason: String) {
        if state.isGreeted {
            effects.append(.warn(.connectionLost(reason)))
        } else {
            effects.append(.warn(.notConnected(reason, isFirst: !hasReportedFailure)))
            hasReportedFailure = true
        }
    }

    /// The connection is of no use any more: closes it and connects again.
    mutating func lose(_ now: Timestamp) {
        drop(now, closes: true)
        retry(now)
    }

    /// Ends the connection, if any. The caller decides what follows.
    mutating func drop(_ now: Timestamp, closes: Bool) {
        if closes, let socket = state.socket { effects.append(.close(socket)) }
        if state.socket != nil, !state.isGreeted { adoptedHost = nil }
        if let greeted {
            if now.milliseconds - greeted.milliseconds > SyncLimits.steadyConnection {
                backoff.reset()
                redirectCount = 0
            }
            self.greeted = nil
        }
        requests.removeAll()
        window = WriteWindow()
        credentials.sent = nil
        if state.isConnected {
            failHashedWrites()
            for (call, _) in gets.sorted(by: { $0.value.sequence < $1.value.sequence }) {
                getDeadlines.append(call, at: now.adding(getTimeout))
            }
            news.append(.disconnected)
        }
        state = .waiting(until: now)
    }

    /// Whether the server has carried out writes that are not sent twice will never be known. Those that were
    /// not sent yet wait for the next connection.
    private mutating func failHashedWrites() {
        let hashed = writes.values.filter { $0.write.hash != nil && $0.isSent }
        for pending in hashed.sorted(by: { $0.sequence < $1.sequence }) {
            writes[pending.write.id] = nil
            news.append(.written(pending.write.id, .disconnected))
        }
        for id in writes.keys { writes[id]?.isSent = false }
    }

    /// Asks to be woken at the earliest deadline, unless an earlier wake-up is to come anyway.
    mutating func schedule(_ now: Timestamp) {
        guard let time = nextDeadline else {
            if wakeTime != nil { effects.append(.wake(at: nil)) }
            wakeTime = nil
            return
        }
        if let wakeTime, wakeTime <= time { return }
        wakeTime = time
        effects.append(.wake(at: time))
    }

    private var nextDeadline: Timestamp? {
        switch state {
        case .idle, .offline, .fetchingToken: return getDeadlines.next
        case .waiting(let until), .opening(_, let until), .greeting(_, let until):
            return Self.earlier(until, getDeadlines.next)
        case .authenticating, .connected:
            let silence = traffic.pingTime(isAnswerDue: !requests.isEmpty)
            let time = Self.earlier(
                traffic.keepAliveTime,
                Self.earlier(silence, traffic.givingUpTime)
            )
            return Self.earlier(time, getDeadlines.next)
        }
    }

    private static func earlier(_ one: Timestamp?, _ other: Timestamp?) -> Timestamp? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }
}

// MARK: Credentials

extension Link {
    /// A user signed in or out, or has a new token.
    mutating func credentialChanged(_ token: String?, now: Timestamp) {
        credentials.changed(to: token)
        switch state {
        case .idle, .offline, .waiting, .opening, .greeting: break
        case .fetchingToken: open(now)
        case .authenticating, .connected:
            if credentials.sent != .some(token) { sendCredential(now) }
        }
        schedule(now)
    }

    /// The answer to `Effect.fetchToken`.
    mutating func tokenFetched(_ answer: TokenAnswer, now: Timestamp, hashes: Hashes) {
        let isOfUse = credentials.fetched(answer)
        guard state == .fetchingToken else { return }
        if !isOfUse {
            connect(now)
        } else {
            switch answer {
            case .token, .noUser: open(now)
            case .unavailable: retry(now)
            }
        }
        schedule(now)
    }

    mutating func sendCredential(_ now: Timestamp) {
        let token = credentials.token
        credentials.sent = .some(token)
        send(LinkCredentials.action(token), for: .authentication, now)
        credentials.request = requestCount
    }

    mutating func refuseCredential(status: String, reason: String, _ now: Timestamp) {
        drop(now, closes: true)
        if credentials.refused(status: status) {
            backoff.lengthen()
            effects.append(.warn(.credentialRefused(reason)))
        }
        retry(now)
    }
}
