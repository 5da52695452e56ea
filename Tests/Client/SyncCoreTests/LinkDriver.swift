import JSONTree
import Queries
import Testing
import WireProtocol

@testable import SyncCore

/// A link under a clock of its own, whose effects and news are noted in words.
struct LinkDriver {
    var link: Link
    var now: Timestamp
    /// What came of the steps since this was last taken: effects, then news, of each step.
    private(set) var log: [String] = []
    /// Messages sent since they were last taken, without the agent's counter.
    private(set) var sent: [ClientRequest] = []
    /// Why connections ended or did not come to be.
    private(set) var losses: [String] = []
    /// News since they were last taken.
    private(set) var news: [LinkNews] = []
    private(set) var socket = SocketID(0)
    private(set) var wakeTime: Timestamp?
    private(set) var isTokenWanted = false
    /// What a listen is sent with.
    var hash = ListenHash("h=")
    private var assembler = FrameAssembler(byteLimit: 100_000_000)

    init(
        host: String = "localhost:9000",
        namespace: String = "demo",
        seed: UInt64 = 1,
        now: Int64 = 1_000_000,
    ) {
        let address = LinkAddress(host: host, isSecure: false, namespace: namespace)
        link = Link(address: address, agent: "sdk.swift.1-0-0", seed: seed)
        self.now = Timestamp(milliseconds: now)
    }

    /// Takes the words noted.
    mutating func take() -> [String] {
        defer { log = [] }
        return log
    }

    /// Takes the requests sent.
    mutating func takeSent() -> [ClientRequest] {
        defer { sent = [] }
        return sent
    }

    /// Takes the news.
    mutating func takeNews() -> [LinkNews] {
        defer { news = [] }
        return news
    }

    /// Does something with the link and notes what comes of it.
    mutating func step(_ body: (inout Link, Timestamp) -> Void) {
        body(&link, now)
        for effect in link.effects { note(effect) }
        log += link.news.map(words)
        news += link.news
        link.effects = []
        link.news = []
    }

    private mutating func note(_ effect: Effect) {
        switch effect {
        case .open(let socket, let place):
            self.socket = socket
            assembler = FrameAssembler(byteLimit: 100_000_000)
            let scheme = place.isSecure ? "wss" : "ws"
            log.append("open \(socket.value) \(scheme)://\(place.host)\(place.target)")
        case .send(let socket, let frames):
            for frame in frames { noteSent(socket, frame) }
        case .close(let socket): log.append("close \(socket.value)")
        case .wake(let time):
            wakeTime = time
        case .fetchToken(let isForcing):
            isTokenWanted = true
            log.append(isForcing ? "token, forced" : "token")
        case .warn(.notConnected(let reason, let isFirst)):
            losses.append("\(isFirst ? "no" : "still no") connection: \(reason)")
        case .warn(.connectionLost(let reason)): losses.append("lost: \(reason)")
        case .warn(let warning): log.append("warn \(warning)")
        case .tell, .finish, .store: log.append("?")
        }
    }

    private mutating func noteSent(_ socket: SocketID, _ frame: [UInt8]) {
        do {
            switch try assembler.receive(frame) {
            case .incomplete: break
            case .keepAlive: log.append("send 0")
            case .message(let text):
                let message = try ClientMessage.parse(text)
                let prefix = #"{"t":"d","d":"#
                var words = String(decoding: text, as: UTF8.self)
                if case .request(let request) = message {
                    words = String(words.dropFirst(prefix.count).dropLast())
                    if case .stats = request.action {} else { sent.append(request) }
                }
                log.append((socket == self.socket ? "send " : "send to \(socket.value) ") + words)
            }
        } catch { log.append("sent nonsense: \(error)") }
    }

    // MARK: What happens

    mutating func receive(_ text: String) {
        let (socket, hash) = (socket, hash)
        step { link, now in
            link.received(socket, Array(text.utf8), now: now) { _ in hash }
        }
    }

    mutating func receive(_ message: ServerMessage) {
        receive(String(decoding: message.encoded(), as: UTF8.self))
    }

    mutating func opened() {
        let socket = socket
        step { link, now in link.opened(socket, now: now) }
    }

    mutating func hello(host: String = "localhost:9000", session: String = "S1") {
        receive(.hello(now: now.adding(7), host: host, session: session))
    }

    mutating func close(_ reason: String = "cut") {
        let socket = socket
        step { link, now in link.closed(socket, reason: reason, now: now) }
    }

    mutating func fetched(_ answer: TokenAnswer) {
        let hash = hash
        isTokenWanted = false
        step { link, now in link.tokenFetched(answer, now: now) { _ in hash } }
    }

    /// Lets time pass, waking the link when it asked for it.
    mutating func pass(_ milliseconds: Int64) {
        let end = now.adding(milliseconds)
        while let time = wakeTime, time <= end {
            now = max(now, time)
            wakeTime = nil
            step { link, now in link.woke(now: now) }
        }
        now = end
    }

    /// Goes on until the link is connected.
    mutating func connect(token: String? = nil, session: String = "S1") {
        step { link, now in link.start(now: now) }
        for _ in 0..<20 where !link.isConnected {
            switch link.state {
            case .idle, .offline, .connected: break
            case .waiting(let until): pass(max(0, until.milliseconds - now.milliseconds))
            case .fetchingToken: fetched(token.map(TokenAnswer.token) ?? .noUser)
            case .opening: opened()
            case .greeting: hello(session: session)
            case .authenticating: receive(.reply(link.credentials.request, .ok))
            }
        }
        #expect(link.isConnected)
    }
}

/// News in words.
func words(_ news: LinkNews) -> String {
    switch news {
    case .connected(let offset): "connected, clock \(offset)"
    case .disconnected: "disconnected"
    case .put(let target, let node, let tag): "put \(target)=\(words(node))\(words(tag))"
    case .merge(let base, let places, let tag):
        "merge \(base): "
            + places.map { "\($0.target)=\(words($0.node))" }.joined(separator: " ") + words(tag)
    case .rangeMerge(let path, let ranges, let tag): "ranges \(path) \(ranges.count)\(words(tag))"
    case .earlierListenAnswered(let target): "earlier listen answered \(words(target))"
    case .listening(let target, let tag, _): "listening \(words(target))\(words(tag))"
    case .revoked(let target, let failure): "revoked \(words(target)) \(failure)"
    case .written(let id, let failure): "written \(id.value)\(words(failure))"
    case .stale(let id): "stale \(id.value)"
    case .got(let call, .success(let node)): "got \(call.value) \(words(node))"
    case .got(let call, .failure(let failure)): "got \(call.value)\(words(failure))"
    case .onDisconnect(let id, let failure): "onDisconnect \(id.value)\(words(failure))"
    }
}

private func words(_ node: Node) -> String { String(decoding: node.json(), as: UTF8.self) }
private func words(_ tag: Int64?) -> String { tag.map { " t=\($0)" } ?? "" }
private func words(_ failure: SyncFailure?) -> String { failure.map { " \($0)" } ?? " ok" }
private func words(_ target: ListenTarget) -> String {
    "\(target.path)" + (target.queryText.map { " " + String(decoding: $0, as: UTF8.self) } ?? "")
}

/// A write of a number.
func write(_ id: Int64, _ path: String, _ number: Int64, hash: String? = nil) throws -> LinkWrite {
    let target = WriteTarget(path: try Path(path))
    return LinkWrite(
        id: WriteID(id),
        body: .set(target, Draft(Node(integer: number))),
        hash: hash
    )
}

func listenTarget(_ path: String, limit: Int? = nil) throws -> ListenTarget {
    ListenTarget(QuerySpec(limit: limit), at: try Path(path))
}
