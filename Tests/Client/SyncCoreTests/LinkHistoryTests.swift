import JSONTree
import Queries
import TestSupport
import Testing
import WireProtocol

@testable import SyncCore

/// A link in random histories, beside a naive account of what was asked for and is still to be
/// answered.
private struct LinkHistory {
    var driver: LinkDriver
    var random: SeededGenerator
    private let seed: UInt64

    // What was asked for and has had no outcome, in order.
    private var listens: [(target: ListenTarget, tag: Int64?)] = []
    private var writes: [LinkWrite] = []
    private var onDisconnects: [Int64] = []
    private var gets: [UInt64] = []
    /// Things that had their outcome, or were taken back.
    private var settled: Set<String> = []

    private var nextName: Int64 = 0
    private var token: String?
    /// Requests that the server has not answered on the connection in use.
    private var unanswered: [ClientRequest] = []
    /// The connection in use.
    private var socket: SocketID?
    private var steps: [String] = []

    init(seed: UInt64) throws {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        driver = LinkDriver(seed: seed)
        targets = try (0..<4).flatMap { index in
            [try listenTarget("l\(index)"), try listenTarget("l\(index)", limit: index + 1)]
        }
    }

    private let targets: [ListenTarget]

    /// What failed checks print: enough to find the history again.
    var words: String { "seed \(seed) after " + steps.joined(separator: ", ") }

    // MARK: Steps

    /// Does one random thing that is no lost connection.
    mutating func step() throws {
        switch random.index(20) {
        case 0...2: listen()
        case 3: unlisten()
        case 4...7: try write()
        case 8: cancelWrite()
        case 9...10: onDisconnect()
        case 11: get()
        case 12: changeCredential()
        case 13...17: answer()
        case 18: revoke()
        default: receiveAnything()
        }
        try observe()
    }

    /// Does one random thing that may end the connection.
    mutating func upset() throws {
        let what = random.index(8)
        steps.append("upset \(what)")
        switch what {
        case 0:
            driver.step { link, now in link.goOffline(now: now) }
            try observe()
            driver.step { link, now in link.goOnline(now: now) }
        case 1: driver.pass(Int64(random.index(60_000)))
        case 2: driver.receive(.authRevoked(.expiredToken, "late"))
        case 3: driver.receive(.reset(host: "other:1"))
        case 4:
            driver.receive(
                ["x", "2", "{}", #"{"t":"d","d":{"a":"d","b":{"p":1}}}"#][random.index(4)]
            )
        case 5:
            driver.receive(.shutdown("away"))
            try observe()
            driver.step { link, now in link.goOnline(now: now) }
        case 6: driver.receive(.hello(now: driver.now, host: "", session: "S"))
        default: driver.close()
        }
        try observe()
    }

    private mutating func nextID() -> Int64 {
        nextName += 1
        return nextName
    }

    private mutating func listen() {
        let target = targets[random.index(targets.count)]
        let isKnown = listens.contains { $0.target == target }
        if isKnown { return }
        let tag = target.queryText == nil ? nil : nextID()
        steps.append("listen \(target.path) \(tag ?? 0)")
        listens.append((target, tag))
        driver.step { link, now in
            link.listen(target, tag: tag, hash: ListenHash("h="), now: now)
        }
    }

    private mutating func unlisten() {
        guard !listens.isEmpty else { return }
        let (target, tag) = listens.remove(at: random.index(listens.count))
        steps.append("unlisten \(target.path) \(tag ?? 0)")
        driver.step { link, now in link.unlisten(target, tag: tag, now: now) }
    }

    private mutating func write() throws {
        let id = nextID()
        let hash = random.index(3) == 0 ? "x=" : nil
        let new = try SyncCoreTests.write(id, "w", id, hash: hash)
        steps.append("write \(id) \(hash ?? "")")
        writes.append(new)
        driver.step { link, now in link.write(new, now: now) }
    }

    private mutating func cancelWrite() {
        guard !writes.isEmpty else { return }
        let id = writes.remove(at: random.index(writes.count)).id
        steps.append("cancel \(id.value)")
        settled.insert("write \(id.value)")
        driver.step { link, _ in link.cancelWrite(id) }
    }

    private mutating func onDisconnect() {
        let id = nextID()
        steps.append("onDisconnect \(id)")
        onDisconnects.append(id)
        driver.step { link, now in
            let target = WriteTarget(path: .root)
            let draft = Draft(Node(integer: id))
            link.onDisconnect(OnDisconnectID(value: id), .onDisconnectPut(target, draft), now: now)
        }
    }

    private mutating func get() {
        let call = UInt64(nextID())
        let target = targets[random.index(targets.count)]
        steps.append("get \(call)")
        gets.append(call)
        driver.step { link, now in link.get(CallID(call), target, now: now) }
    }

    private mutating func changeCredential() {
        token = random.index(3) == 0 ? nil : "h.p.\(nextID())"
        steps.append("credential \(token ?? "nil")")
        let token = token
        driver.step { link, now in link.credentialChanged(token, now: now) }
    }

    private mutating func receiveAnything() {
        let texts = [
            #"{"t":"d","d":{"a":"d","b":{"p":"l1","d":1}}}"#, "0",
            #"{"t":"c","d":{"t":"o","d":{}}}"#,
            #"{"t":"d","d":{"r":9999,"b":{"s":"ok","d":""}}}"#,
        ]
        driver.receive(texts[random.index(texts.count)])
    }

    private mutating func revoke() {
        guard driver.link.isConnected, let (target, _) = listens.first, random.index(3) == 0
        else { return }
        steps.append("revoke \(target.path)")
        driver.receive(.cancel(target))
    }

    /// The server answers the request that has waited longest.
    mutating func answer(alwaysOK: Bool = false) {
        guard !unanswered.isEmpty else { return }
        let request = unanswered.removeFirst()
        let isOK = alwaysOK || random.index(4) > 0
        let refusals = [Status.permissionDenied, .dataStale, .unavailable]
        let status = refusals[random.index(refusals.count)]
        var body = isOK ? ReplyBody.ok : .refused(status, "no")
        switch request.action {
        case .listen where isOK: body = .listening(warnings: [])
        case .get where isOK: body = .value(Node(true))
        case .auth, .unauth, .gauth:
            // One that is out of date may be refused; so may the one that counts, now and then.
            if alwaysOK || random.index(5) > 0 {
                body = .ok
            } else {
                body = .refused(.expiredToken, "late")
            }
        case .stats, .appCheck, .unAppCheck, .listen, .unlisten, .get, .put, .merge,
            .onDisconnectPut,
            .onDisconnectMerge, .onDisconnectCancel, .echo, .unknown, .malformed, .tooBig:
            break
        }
        steps.append("answer \(request.number) \(isOK)")
        driver.receive(.reply(request.number, body))
    }

    // MARK: Connections

    /// The connection is lost.
    mutating func cut() throws {
        steps.append("cut")
        driver.close()
        try observe()
    }

    /// Does what the link waits for, so that it comes one step nearer to being connected.
    mutating func approach() throws {
        driver.step { link, now in link.start(now: now) }
        switch driver.link.state {
        case .idle, .offline, .connected: break
        case .waiting(let until):
            driver.pass(max(0, until.milliseconds - driver.now.milliseconds))
        case .fetchingToken: driver.fetched(token.map(TokenAnswer.token) ?? .noUser)
        case .opening: driver.opened()
        case .greeting: driver.hello()
        case .authenticating: answer()
        }
        try observe()
    }

    mutating func connect() throws {
        for _ in 0..<40 where !driver.link.isConnected { try approach() }
        #expect(driver.link.isConnected, "\(words)")
    }

    /// The server answers everything; then everything has had its outcome.
    mutating func finish() throws {
        // Half a message may have come before.
        try cut()
        try connect()
        while !unanswered.isEmpty {
            answer(alwaysOK: true)
            try observe()
        }
        #expect(writes.isEmpty && onDisconnects.isEmpty && gets.isEmpty, "\(words)")
        let link = driver.link
        #expect(link.writes.isEmpty && link.onDisconnects.isEmpty && link.gets.isEmpty, "\(words)")
        #expect(link.requests.isEmpty, "\(words)")
        let kept = link.listens.inOrder.map { "\($0.target.path) \($0.tag ?? 0)" }
        #expect(kept == listens.map { "\($0.target.path) \($0.tag ?? 0)" }, "\(words)")
    }

    // MARK: Checks

    /// Takes in what the link reported and sent.
    mutating func observe() throws {
        if socket != driver.link.state.socket {
            socket = driver.link.state.socket
            unanswered = []
        }
        let hashed = writes.filter { $0.hash != nil }.map(\.id)
        var failed: [WriteID] = []
        var isResumed = false
        for news in driver.takeNews() {
            switch news {
            case .connected: isResumed = true
            case .disconnected: #expect(failed == hashed, "\(words)")
            case .written(let id, .disconnected): failed.append(id)
            case .put, .merge, .rangeMerge, .listening, .earlierListenAnswered, .revoked, .written,
                .stale, .got, .onDisconnect:
                break
            }
            take(news)
        }
        let sent = driver.takeSent()
        if driver.link.state.socket != nil { unanswered += sent }
        // Sent when the connection is made: all that is pending.
        if isResumed { #expect(sent.map(Self.words) == pendingWords, "\(words)") }
        let isTooEarly = !driver.link.isConnected && sent.contains { !Self.isCredential($0) }
        #expect(!isTooEarly || driver.link.state.socket == nil, "\(words)")
    }

    private static func isCredential(_ request: ClientRequest) -> Bool {
        switch request.action {
        case .auth, .gauth, .unauth: true
        case .stats, .appCheck, .unAppCheck, .listen, .unlisten, .get, .put, .merge,
            .onDisconnectPut,
            .onDisconnectMerge, .onDisconnectCancel, .echo, .unknown, .malformed, .tooBig:
            false
        }
    }

    private mutating func take(_ news: LinkNews) {
        switch news {
        case .connected, .disconnected, .put, .merge, .rangeMerge, .listening,
            .earlierListenAnswered:
            break
        case .revoked(let target, _): listens.removeAll { $0.target == target }
        case .written(let id, _), .stale(let id):
            writes.removeAll { $0.id == id }
            settle("write \(id.value)")
        case .got(let call, _):
            gets.removeAll { $0 == call.value }
            settle("get \(call.value)")
        case .onDisconnect(let id, _):
            onDisconnects.removeAll { $0 == id.value }
            settle("onDisconnect \(id.value)")
        }
    }

    private mutating func settle(_ name: String) {
        #expect(settled.insert(name).inserted, "\(name) ended twice, \(words)")
    }

    private var pendingWords: [String] {
        listens.map { "listen \($0.target.path) \($0.tag ?? 0)" }
            + writes.map { "write \($0.id.value)" } + onDisconnects.map { "onDisconnect \($0)" }
            + gets.map { _ in "get" }
    }

    private static func words(_ request: ClientRequest) -> String {
        switch request.action {
        case .listen(let target, let tag, _): "listen \(target.path) \(tag ?? 0)"
        case .put(_, let draft, _): "write \(draft.node.integer ?? 0)"
        case .onDisconnectPut(_, let draft): "onDisconnect \(draft.node.integer ?? 0)"
        case .get: "get"
        case .stats, .auth, .gauth, .unauth, .appCheck, .unAppCheck, .unlisten, .merge,
            .onDisconnectMerge, .onDisconnectCancel, .echo, .unknown, .malformed, .tooBig:
            "\(request.action)"
        }
    }
}

@Test(
    "wherever a conversation is cut, all that is pending is sent again and ends once",
    arguments: TestSeed.seeds(12)
)
func cutEverywhere(seed: UInt64) throws {
    for stepCount in 0..<50 {
        var history = try LinkHistory(seed: seed)
        try history.connect()
        for _ in 0..<stepCount { try history.step() }
        try history.cut()
        // Again before everything is answered.
        try history.connect()
        history.answer()
        try history.observe()
        try history.cut()
        try history.finish()
    }
}

@Test(
    "through random losses of the connection every request ends once",
    arguments: TestSeed.seeds(30)
)
func randomHistories(seed: UInt64) throws {
    var history = try LinkHistory(seed: seed * 1_000)
    for _ in 0..<400 {
        switch history.random.index(12) {
        case 0...1: try history.approach()
        case 2 where history.random.index(3) == 0: try history.upset()
        default: try history.step()
        }
    }
    try history.finish()
}

@Test("ten thousand listens and writes are settled without a search")
func manyPending() throws {
    var driver = LinkDriver()
    driver.connect()
    for index in 1...10_000 {
        let target = try listenTarget("l\(index)")
        let new = try write(Int64(index), "w\(index)", 1)
        driver.step { link, now in
            link.listen(target, tag: nil, hash: ListenHash(""), now: now)
            link.write(new, now: now)
        }
    }
    for request in driver.takeSent() { driver.receive(.reply(request.number, .ok)) }
    #expect(driver.takeNews().count == 20_001)
    #expect(driver.link.writes.isEmpty)
}
