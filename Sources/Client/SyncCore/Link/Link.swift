import JSONTree
import Queries
import WireProtocol

/// Where the server is and which database is meant.
package struct LinkAddress: Equatable, Sendable {
    /// Host and port as in a URL: `localhost:9000`, `[::1]:9000`, `db.example.org`.
    package var host: String
    package var isSecure: Bool
    /// The name of the database: `ns`.
    package var namespace: String

    /// Makes an address.
    package init(host: String, isSecure: Bool, namespace: String) {
        self.host = host
        self.isSecure = isSecure
        self.namespace = namespace
    }
}

/// The conversation with the server over one socket after the other. Knows requests, replies and pushes, but not the
/// purpose of the data. Keeps what must be sent again on the next connection: listens, unanswered writes (in order),
/// unanswered on-disconnect requests and reads. An unanswered request was sent if, and only if, the link is connected.
struct Link {
    /// Gives the hash that a listen is sent with.
    typealias Hashes = (ListenTarget) -> ListenHash

    var effects: [Effect] = []
    var news: [LinkNews] = []

    let address: LinkAddress
    let agent: String

    var state = LinkState.idle
    var backoff: Backoff

    // The conversation over the socket in use.

    var socketCount: UInt64 = 0
    var assembler = FrameAssembler(byteLimit: SyncLimits.messageByteCount)
    var traffic = Traffic(now: Timestamp(milliseconds: 0))
    /// Requests without a reply. Numbers are never used again, so replies of an earlier connection find nothing.
    var requests: [Int64: SentRequest] = [:]
    var requestCount: Int64 = 0
    var window = WriteWindow()
    /// When the server's hello arrived.
    var greeted: Timestamp?
    /// Milliseconds that the server's clock is ahead of this one.
    var serverTimeOffset: Int64 = 0

    // Kept from one connection to the next.

    /// The host that the server asked to connect to; nil after a failure there.
    var adoptedHost: String?
    /// The name of the last session, which the next connection ends.
    var lastSession: String?
    var hasSentStats = false
    /// The unindexed queries already reported: each once, or an app that repeats one would fill its log.
    var reportedIndexes: Set<MissingIndex> = []
    /// Whether the present failure to connect was reported.
    var hasReportedFailure = false
    var redirectCount = 0
    var credentials = LinkCredentials()

    // Unanswered requests, and listens.

    /// Numbers the requests, to send them in this order.
    var sequence: Int64 = 0
    var listens = ListenTable()
    var writes: [WriteID: PendingWrite] = [:]
    var onDisconnects: [OnDisconnectID: PendingOnDisconnect] = [:]
    var gets: [CallID: PendingGet] = [:]
    var getDeadlines = GetDeadlines()
    /// Milliseconds that a read waits for a connection.
    var getTimeout = SyncLimits.getTimeout

    /// The wake-up that was asked for and has not come.
    var wakeTime: Timestamp?

    init(address: LinkAddress, agent: String, seed: UInt64) {
        self.address = address
        self.agent = agent
        backoff = Backoff(seed: seed)
    }

    var isConnected: Bool { state.isConnected }
}

// MARK: Requests of the client

extension Link {
    /// Connects, unless the app chose to be offline. Any other request connects too.
    mutating func start(now: Timestamp) {
        begin(now)
        schedule(now)
    }

    /// Closes the connection, and opens none until `goOnline`.
    mutating func goOffline(now: Timestamp) {
        drop(now, closes: true)
        state = .offline
        backoff.reset()
        schedule(now)
    }

    /// Undoes `goOffline` and a permanent refusal by the server: connects at once.
    mutating func goOnline(now: Timestamp) {
        guard state == .offline else { return }
        backoff.reset()
        redirectCount = 0
        retry(now)
        schedule(now)
    }

    /// Listens from now on; nothing happens if this target is listened to with this tag.
    mutating func listen(_ target: ListenTarget, tag: Int64?, hash: ListenHash, now: Timestamp) {
        begin(now)
        let listen = LinkListen(target: target, tag: tag, sequence: nextSequence())
        if listens.add(listen), state.isConnected { sendListen(listen, hash, now) }
        schedule(now)
    }

    /// Stops listening; nothing happens if this target is not listened to with this tag.
    mutating func unlisten(_ target: ListenTarget, tag: Int64?, now: Timestamp) {
        if listens.remove(target, tag), state.isConnected {
            send(.unlisten(target, tag: tag), for: .unlisten(target, tag: tag), now)
        }
        schedule(now)
    }

    /// Sends a write, and again after each lost connection until it is answered. It waits while others of
    /// `SyncLimits.unansweredWriteByteCount` bytes are unanswered. One with a hash is sent once alone: when the
    /// connection is lost before the answer it fails.
    mutating func write(_ write: LinkWrite, now: Timestamp) {
        begin(now)
        let pending = PendingWrite(write: write, sequence: nextSequence())
        writes[write.id] = pending
        if state.isConnected {
            window.append(write.id)
            sendWrites(now)
        }
        schedule(now)
    }

    /// Drops a write, sent or not: its outcome is not reported.
    mutating func cancelWrite(_ id: WriteID) { writes[id] = nil }

    /// Drops an on-disconnect request: its outcome is not reported. A sent one stays with the server.
    mutating func cancelOnDisconnect(_ id: OnDisconnectID) { onDisconnects[id] = nil }

    /// Reads once. Fails after `getTimeout` without a connection.
    mutating func get(_ call: CallID, _ target: ListenTarget, now: Timestamp) {
        begin(now)
        gets[call] = PendingGet(target: target, sequence: nextSequence())
        if state.isConnected {
            send(.get(target), for: .get(call), now)
        } else {
            getDeadlines.append(call, at: now.adding(getTimeout))
        }
        schedule(now)
    }

    /// Asks for a write when the connection is lost, or cancels such writes.
    mutating func onDisconnect(
        _ id: OnDisconnectID,
        _ action: ClientRequest.Action,
        now: Timestamp,
    ) {
        begin(now)
        onDisconnects[id] = PendingOnDisconnect(action: action, sequence: nextSequence())
        if state.isConnected { send(action, for: .onDisconnect(id), now) }
        schedule(now)
    }

    private mutating func nextSequence() -> Int64 {
        sequence += 1
        return sequence
    }
}

// MARK: Events

extension Link {
    mutating func opened(_ socket: SocketID, now: Timestamp) {
        guard case .opening(socket, let until) = state else { return }
        state = .greeting(socket, until: until)
        schedule(now)
    }

    mutating func closed(_ socket: SocketID, reason: String, now: Timestamp) {
        guard socket == state.socket else { return }
        tellLoss(reason)
        drop(now, closes: false)
        retry(now)
        schedule(now)
    }

    /// A time has come; which one is found out here, so a wake-up too many does no harm.
    mutating func woke(now: Timestamp) {
        wakeTime = nil
        switch state {
        case .idle, .offline, .fetchingToken: break
        case .waiting(let until):
            if until.isDue(at: now, span: Int64(SyncLimits.longestBackoff)) { connect(now) }
        case .opening(_, let until), .greeting(_, let until):
            if until.isDue(at: now, span: SyncLimits.connectTimeout) {
                tellLoss("the server does not answer")
                lose(now)
            }
        case .authenticating, .connected: checkTraffic(now)
        }
        while let call = getDeadlines.popDue(now: now, span: getTimeout) {
            guard gets.removeValue(forKey: call) != nil else { continue }
            news.append(.got(call, .failure(.offline)))
        }
        schedule(now)
    }

    /// Shows that this side is there, finds out whether the other is, or gives it up.
    private mutating func checkTraffic(_ now: Timestamp) {
        traffic.limit(to: now)
        if let time = traffic.givingUpTime, time <= now {
            tellLoss("the server has fallen silent")
            return lose(now)
        }
        if let time = traffic.pingTime(isAnswerDue: !requests.isEmpty), time <= now {
            traffic.sentPing(now: now)
            transmit([ClientMessage.pingText])
        }
        if traffic.keepAliveTime <= now {
            traffic.sent(byteCount: 1, isFirst: false, now: now)
            transmit([ClientMessage.keepAliveFrame])
        }
    }
}
