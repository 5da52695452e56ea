import JSONTree
import TestSupport
import Testing
import WireProtocol

@testable import SyncCore

@Test(
    "a first connection fetches a token, opens, says what it is and who, then sends all that waits"
)
func firstConnection() throws {
    var driver = LinkDriver()
    let target = try listenTarget("room")
    driver.step { link, now in link.listen(target, tag: nil, hash: ListenHash(""), now: now) }
    let first = try write(1, "a", 5)
    driver.step { link, now in link.write(first, now: now) }
    #expect(driver.take() == ["token"])
    driver.fetched(.token("a.b.c"))
    #expect(driver.take() == ["open 1 ws://localhost:9000/.ws?v=5&ns=demo"])
    driver.opened()
    driver.hello()
    #expect(
        driver.take() == [
            #"send {"r":1,"a":"s","b":{"c":{"sdk.swift.1-0-0":1}}}"#,
            #"send {"r":2,"a":"auth","b":{"cred":"a.b.c"}}"#,
        ]
    )
    driver.receive(.reply(1, .ok))
    #expect(driver.take() == [])
    driver.receive(.reply(2, .authenticated(nil)))
    #expect(
        driver.take() == [
            #"send {"r":3,"a":"q","b":{"p":"/room","h":"h="}}"#,
            #"send {"r":4,"a":"p","b":{"p":"/a","d":5}}"#,
            "connected, clock 7",
        ]
    )
}

@Test("no one signed in: requests follow the hello at once")
func connectionWithoutUser() {
    var driver = LinkDriver(namespace: "a b")
    driver.step { link, now in link.start(now: now) }
    driver.fetched(.noUser)
    driver.opened()
    driver.hello()
    #expect(
        driver.take() == [
            "token", "open 1 ws://localhost:9000/.ws?v=5&ns=a%20b",
            #"send {"r":1,"a":"s","b":{"c":{"sdk.swift.1-0-0":1}}}"#, "connected, clock 7",
        ]
    )
}

@Test("a later connection names the last session, the adopted host, and counts itself no more")
func laterConnection() {
    var driver = LinkDriver()
    driver.step { link, now in link.start(now: now) }
    driver.fetched(.noUser)
    driver.opened()
    driver.hello(host: "other:1", session: "S/1")
    driver.pass(31_000)
    _ = driver.take()
    driver.close()
    #expect(driver.take() == ["token", "disconnected"])
    driver.fetched(.noUser)
    #expect(driver.take() == ["open 2 ws://other:1/.ws?v=5&ns=demo&ls=S%2F1"])
    // The adopted host is given up when it cannot be reached.
    driver.close()
    driver.pass(2_000)
    driver.fetched(.noUser)
    #expect(driver.take() == ["token", "open 3 ws://localhost:9000/.ws?v=5&ns=demo&ls=S%2F1"])
    driver.opened()
    driver.hello(session: "S2")
    #expect(driver.take() == ["connected, clock 7"])
}

@Test("why there is no connection stands out once, until there was one")
func reasonsOfLosses() {
    var driver = LinkDriver()
    driver.step { link, now in link.start(now: now) }
    for reason in ["refused", "not trusted"] {
        driver.pass(60_000)
        driver.fetched(.noUser)
        driver.close(reason)
    }
    driver.pass(60_000)
    driver.fetched(.noUser)
    driver.opened()
    driver.pass(30_000)
    driver.connect()
    driver.close("cut")
    driver.pass(60_000)
    driver.fetched(.noUser)
    driver.close("refused")
    #expect(
        driver.losses == [
            "no connection: refused", "still no connection: not trusted",
            "still no connection: the server does not answer", "lost: cut",
            "no connection: refused",
        ]
    )
}

@Test(
    "waits grow from a second to half a minute, part of them by chance",
    arguments: TestSeed.seeds(5)
)
func waits(seed: UInt64) {
    var backoff = Backoff(seed: seed)
    #expect(backoff.next() == 0)
    var longest = 1_000.0
    for _ in 0..<30 {
        let wait = Double(backoff.next())
        #expect(wait >= (0.3 * longest).rounded(.down) && wait <= longest, "seed \(seed)")
        longest = min(longest * 1.3, 30_000)
    }
    backoff.reset()
    #expect(backoff.next() == 0)
    #expect(backoff.next() <= 1_000)
    backoff.lengthen()
    #expect(backoff.next() >= 9_000)
}

@Test("the waits of a seed are always the same")
func waitsOfASeed() {
    var backoff = Backoff(seed: 42)
    #expect((0..<8).map { _ in backoff.next() } == [0, 819, 535, 836, 1188, 932, 3370, 2185])
}

@Test(
    "a try that fails is made again after a wait; the wait is short again after a steady connection"
)
func failedTries() {
    var driver = LinkDriver()
    driver.step { link, now in link.start(now: now) }
    var waits: [Int64] = []
    for _ in 0..<12 {
        driver.fetched(.noUser)
        driver.close()
        let start = driver.now
        driver.pass((driver.wakeTime?.milliseconds ?? 0) - driver.now.milliseconds)
        waits.append(driver.now.milliseconds - start.milliseconds)
        #expect(driver.isTokenWanted)
    }
    #expect(waits[0] <= 1_000)
    #expect(waits[10] > 3_000)
    driver.fetched(.noUser)
    driver.opened()
    driver.hello()
    driver.pass(29_000)
    driver.close()
    #expect(!driver.isTokenWanted, "29 s are no steady connection")
    driver.connect()
    driver.pass(30_001)
    driver.close()
    #expect(driver.isTokenWanted, "the first try is made at once")
}

@Test(
    "a socket that does not open or a server that does not greet is given up",
    arguments: [false, true]
)
func connectTimeout(opens: Bool) {
    var driver = LinkDriver()
    driver.step { link, now in link.start(now: now) }
    driver.fetched(.noUser)
    if opens { driver.opened() }
    driver.pass(29_999)
    #expect(driver.take() == ["token", "open 1 ws://localhost:9000/.ws?v=5&ns=demo"])
    driver.pass(1)
    #expect(driver.take() == ["close 1"])
    driver.pass(1_000)
    #expect(driver.take() == ["token"])
}

@Test("a silent connection is kept alive, and only a silent one")
func keepAlive() {
    var driver = LinkDriver()
    driver.connect()
    driver.receive(.reply(1, .ok))
    _ = driver.take()
    driver.pass(44_999)
    #expect(driver.take() == [])
    driver.receive(.securityDebug("x"))
    _ = driver.take()
    driver.pass(44_999)
    #expect(driver.take() == [])
    driver.pass(1)
    #expect(driver.take() == ["send 0"])
    driver.pass(45_000)
    #expect(driver.take() == ["send 0"])
}

@Test("a connection that merely listens is found out when it has died")
func deadQuietConnection() {
    var driver = LinkDriver()
    driver.connect()
    driver.receive(.reply(1, .ok))
    _ = driver.take()
    let ping = #"send {"t":"c","d":{"t":"p","d":{}}}"#
    driver.pass(120_000)
    #expect(driver.take() == ["send 0", "send 0", ping])
    driver.receive(.pong)
    driver.pass(120_000)
    #expect(driver.take() == ["send 0", "send 0", ping])
    driver.pass(29_999)
    #expect(driver.take() == [])
    driver.pass(1)
    #expect(driver.take() == ["close 1", "token", "disconnected"])
}

@Test("a server that answers nothing is asked for a pong, then given up")
func deadConnection() throws {
    var driver = LinkDriver()
    driver.connect()
    driver.receive(.reply(1, .ok))
    let first = try write(1, "a", 1)
    driver.step { link, now in link.write(first, now: now) }
    _ = driver.take()
    driver.pass(15_100)
    #expect(driver.take() == [#"send {"t":"c","d":{"t":"p","d":{}}}"#])
    driver.receive(.pong)
    driver.pass(14_000)
    #expect(driver.take() == [])
    driver.pass(2_000)
    #expect(driver.take() == [#"send {"t":"c","d":{"t":"p","d":{}}}"#])
    driver.pass(30_100)
    #expect(Array(driver.take().suffix(3)) == ["close 1", "token", "disconnected"])
}

@Test("a long write over a slow line is no sign of a dead connection")
func slowLine() throws {
    var driver = LinkDriver()
    driver.connect()
    driver.receive(.reply(1, .ok))
    let long = LinkWrite(
        id: WriteID(1),
        body: .set(
            WriteTarget(path: .root),
            Draft(Node(string: String(repeating: "x", count: 800_000)))
        ),
        hash: nil
    )
    driver.step { link, now in link.write(long, now: now) }
    _ = driver.take()
    driver.pass(100_000)
    #expect(driver.take().allSatisfy { $0 == "send 0" })
    driver.pass(20_000)
    #expect(driver.take().contains(#"send {"t":"c","d":{"t":"p","d":{}}}"#))
}

@Test("a redirection is followed at once, a chain of them ever slower")
func redirections() {
    var driver = LinkDriver()
    driver.step { link, now in link.start(now: now) }
    for index in 1...5 {
        driver.fetched(.noUser)
        driver.opened()
        driver.receive(.reset(host: "h\(index):1"))
        #expect(driver.isTokenWanted)
    }
    #expect(driver.take().suffix(2) == ["close 5", "token"])
    driver.fetched(.noUser)
    #expect(driver.take() == ["open 6 ws://h5:1/.ws?v=5&ns=demo"])
    driver.opened()
    driver.receive(.reset(host: "h6:1"))
    #expect(!driver.isTokenWanted)
    driver.pass(1_000)
    #expect(driver.isTokenWanted)
}

@Test("a redirection on a live connection ends it")
func liveRedirection() {
    var driver = LinkDriver()
    driver.connect()
    _ = driver.take()
    driver.receive(.reset(host: "b:2"))
    #expect(driver.take() == ["close 1", "token", "disconnected"])
    driver.fetched(.noUser)
    #expect(driver.take() == ["open 2 ws://b:2/.ws?v=5&ns=demo&ls=S1"])
}

@Test("a server that shuts a client out is left alone until the app wants to be online")
func shutdown() {
    var driver = LinkDriver()
    driver.connect()
    _ = driver.take()
    driver.receive(.shutdown("go away"))
    #expect(driver.take() == [#"warn shutDown("go away")"#, "close 1", "disconnected"])
    #expect(driver.wakeTime == nil)
    driver.pass(1_000_000)
    #expect(driver.take() == [])
    driver.step { link, now in link.goOnline(now: now) }
    #expect(driver.take() == ["token"])
}

@Test("offline means no connection, whatever is asked for")
func offline() throws {
    var driver = LinkDriver()
    driver.step { link, now in link.goOffline(now: now) }
    let first = try write(1, "a", 1)
    driver.step { link, now in link.write(first, now: now) }
    driver.step { link, now in link.start(now: now) }
    driver.pass(100_000)
    #expect(driver.take() == [])
    driver.step { link, now in link.goOnline(now: now) }
    driver.connect()
    #expect(driver.takeSent().count == 1)
    _ = driver.take()
    driver.step { link, now in link.goOffline(now: now) }
    #expect(driver.take() == ["close 1", "disconnected"])
    // The socket that was closed has nothing more to say.
    driver.close()
    driver.receive(.reply(2, .ok))
    #expect(driver.take() == [])
}

@Test("being online is no reason to connect before something is asked for")
func onlineAlready() {
    var driver = LinkDriver()
    driver.step { link, now in link.goOnline(now: now) }
    #expect(driver.take() == [])
    driver.step { link, now in link.start(now: now) }
    driver.step { link, now in link.start(now: now) }
    #expect(driver.take() == ["token"])
}

@Test(
    "what is no message ends the connection",
    arguments: ["{}", "x", "[]", "7x", #"{"t":"d","d":{"a":"d","b":{"p":"a.b","d":1}}}"#]
)
func badMessages(text: String) {
    var driver = LinkDriver()
    driver.connect()
    _ = driver.take()
    driver.receive(text)
    let log = driver.take()
    #expect(log.first?.hasPrefix("warn badMessage(") == true, "\(log)")
    #expect(Array(log.dropFirst()) == ["close 1", "disconnected"])
    driver.pass(1_000)
    #expect(driver.take() == ["token"])
}

@Test("frames that mean nothing and pushes no one is due do no harm")
func harmlessFrames() {
    var driver = LinkDriver()
    driver.step { link, now in link.start(now: now) }
    driver.fetched(.noUser)
    driver.opened()
    _ = driver.take()
    for text in [
        "0", #"{"t":"d","d":{"a":"d","b":{"p":"a","d":1}}}"#,
        #"{"t":"d","d":{"r":9,"b":{"s":"ok"}}}"#,
        #"{"t":"c","d":{"t":"e","d":"x"}}"#, #"{"t":"c","d":{"t":"o","d":{}}}"#,
    ] {
        driver.receive(text)
    }
    #expect(driver.take() == [])
    driver.hello()
    driver.hello(session: "S9")
    #expect(driver.take().count == 2)
    #expect(driver.link.lastSession == "S1")
}

@Test("a message in segments is one message")
func segments() throws {
    var driver = LinkDriver()
    driver.connect()
    _ = driver.take()
    for frame in ["3", #"{"t":"d","d":{"a":"d","#, #""b":{"p":"a","#, #""d":1}}}"#] {
        driver.receive(frame)
    }
    #expect(driver.take() == ["put /a=1"])
    // A connection that is cut between segments leaves nothing behind.
    driver.receive("2")
    driver.close()
    driver.connect()
    _ = driver.take()
    driver.receive(#"{"t":"d","d":{"a":"d","b":{"p":"a","d":2}}}"#)
    #expect(driver.take() == ["put /a=2"])
}

@Test("a clock that is set back does not make the next try wait for it")
func clockSetBack() {
    var driver = LinkDriver()
    driver.step { link, now in link.start(now: now) }
    driver.fetched(.noUser)
    driver.close()
    _ = driver.take()
    driver.now = Timestamp(milliseconds: 5)
    driver.step { link, now in link.woke(now: now) }
    #expect(driver.take() == ["token"])
}

@Test("a clock that is set back does not stop keep-alives")
func keepAliveWithClockSetBack() {
    var driver = LinkDriver()
    driver.connect()
    driver.receive(.reply(1, .ok))
    _ = driver.take()
    driver.now = Timestamp(milliseconds: 5)
    driver.step { link, now in link.woke(now: now) }
    driver.pass(45_000)
    #expect(driver.take() == ["send 0"])
}
