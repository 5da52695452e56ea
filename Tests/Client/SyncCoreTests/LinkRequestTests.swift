import JSONTree
import Queries
import Testing
import WireProtocol

@testable import SyncCore

/// A connected link that has nothing under way.
private func connected() -> LinkDriver {
    var driver = LinkDriver()
    driver.connect()
    driver.receive(.reply(1, .ok))
    _ = driver.take()
    return driver
}

private let denied = "refused(status: \"permission_denied\", message: \"no\")"

private let answerCases: [(answer: String, write: String, hashed: String)] = [
    (#"{"s":"ok","d":""}"#, "written 1 ok", "written 1 ok"),
    (#"{"s":"ok"}"#, "written 1 ok", "written 1 ok"),
    (#"{"s":"permission_denied","d":"no"}"#, "written 1 \(denied)", "written 1 \(denied)"),
    (
        #"{"s":"datastale","d":"no"}"#,
        #"written 1 refused(status: "datastale", message: "no")"#, "stale 1"
    ),
    (
        #"{"s":"too_big","d":[1]}"#,
        #"written 1 refused(status: "too_big", message: "")"#,
        #"written 1 refused(status: "too_big", message: "")"#
    ),
    (
        #"{"s":"unavailable"}"#, #"written 1 refused(status: "unavailable", message: "")"#,
        #"written 1 refused(status: "unavailable", message: "")"#
    ),
]

@Test("a write has the outcome that the server says, once", arguments: answerCases)
func writeAnswers(answer: String, plain: String, hashed: String) throws {
    for (hash, expected) in [(nil, plain), ("h=", hashed)] {
        var driver = connected()
        let first = try write(1, "a", 1, hash: hash)
        driver.step { link, now in link.write(first, now: now) }
        let words = hash.map { #","h":"\#($0)""# } ?? ""
        #expect(driver.take() == [#"send {"r":2,"a":"p","b":{"p":"/a","d":1\#(words)}}"#])
        driver.receive(#"{"t":"d","d":{"r":2,"b":\#(answer)}}"#)
        #expect(driver.take() == [expected])
        driver.receive(#"{"t":"d","d":{"r":2,"b":\#(answer)}}"#)
        driver.close()
        driver.connect()
        #expect(!driver.take().contains { $0.hasPrefix("written") || $0.hasPrefix("stale") })
        #expect(driver.takeSent().count == 1)
    }
}

@Test("a merge and on-disconnect requests are sent as they are asked for, and answered")
func otherWrites() throws {
    var driver = connected()
    let base = try Path("a")
    let entries = [
        MergeEntry(target: try WriteTarget("a/b/c"), draft: Draft(Node(true))),
        MergeEntry(target: try WriteTarget("a/d"), draft: Draft(.absent)),
    ]
    driver.step { link, now in
        link.write(LinkWrite(id: WriteID(4), body: .update(base, entries), hash: nil), now: now)
        let target = WriteTarget(path: base, isPriority: true)
        let actions: [ClientRequest.Action] = [
            .onDisconnectPut(target, Draft(Node(integer: 2))), .onDisconnectMerge(base, entries),
            .onDisconnectCancel(WriteTarget(path: base)),
        ]
        for (index, action) in actions.enumerated() {
            link.onDisconnect(OnDisconnectID(value: Int64(index + 1)), action, now: now)
        }
    }
    #expect(
        driver.take() == [
            #"send {"r":2,"a":"m","b":{"p":"/a","d":{"b/c":true,"d":null}}}"#,
            #"send {"r":3,"a":"o","b":{"p":"/a/.priority","d":2}}"#,
            #"send {"r":4,"a":"om","b":{"p":"/a","d":{"b/c":true,"d":null}}}"#,
            #"send {"r":5,"a":"oc","b":{"p":"/a","d":null}}"#,
        ]
    )
    driver.receive(.reply(2, .ok))
    driver.receive(.reply(3, .refused(.permissionDenied, "no")))
    driver.receive(.reply(4, .ok))
    driver.receive(.reply(5, .ok))
    #expect(
        driver.take() == [
            "written 4 ok", "onDisconnect 1 \(denied)", "onDisconnect 2 ok", "onDisconnect 3 ok",
        ]
    )
}

@Test("writes are held back while much waits for an answer, and go out in order as answers come")
func heldWrites() throws {
    var driver = connected()
    let text = String(repeating: "x", count: 1_000_000)
    func sent() -> [Int64] { driver.takeSent().map(\.number) }
    driver.step { link, now in
        for id in 1...12 {
            let body = StoredWrite.set(WriteTarget(path: .root), Draft(Node(string: text)))
            let hash = id == 2 || id == 12 ? "h=" : nil
            link.write(LinkWrite(id: WriteID(Int64(id)), body: body, hash: hash), now: now)
        }
        link.cancelWrite(WriteID(10))
    }
    // Nine of a million bytes are the first that pass 8 MiB.
    #expect(sent() == Array(2...10))
    driver.receive(.reply(2, .ok))
    #expect(sent() == [11])
    _ = driver.take()
    // Of the two with a hash the one that was sent fails, the other waits for the next connection.
    driver.close()
    #expect(driver.take().filter { $0.hasPrefix("written") } == ["written 2 disconnected"])
    driver.connect()
    let again = driver.takeSent()
    #expect(again.count == 9)
    for request in again { driver.receive(.reply(request.number, .ok)) }
    let log = driver.take().filter { $0.hasPrefix("written") }
    #expect(log == [3, 4, 5, 6, 7, 8, 9, 11, 12].map { "written \($0) ok" })
    #expect(driver.link.writes.isEmpty)
}

@Test("a write that no server would take is refused without being sent")
func tooLongWrite() throws {
    var driver = connected()
    let text = String(repeating: "x", count: 9_000_000)
    let children = Node(string: text)
    var node = Node.absent
    node.set(children, at: try Path("a"))
    node.set(children, at: try Path("b"))
    driver.step { link, now in
        let body = StoredWrite.set(WriteTarget(path: .root), Draft(node))
        link.write(LinkWrite(id: WriteID(1), body: body, hash: nil), now: now)
    }
    let log = driver.take()
    #expect(log.count == 1 && log[0].hasPrefix(#"written 1 refused(status: "too_big""#), "\(log)")
    #expect(driver.link.writes.isEmpty)
}

@Test("a listen is reported when it is in place, and what its query lacks")
func listenAnswers() throws {
    var driver = connected()
    let index = QuerySpec.Index.child(try Path("n"))
    let target = ListenTarget(QuerySpec(index: index, limit: 2), at: try Path("log"))
    driver.step { link, now in
        link.listen(target, tag: 3, hash: ListenHash(""), now: now)
        link.listen(target, tag: 3, hash: ListenHash(""), now: now)
    }
    let query = #"{"i":"n","l":2,"vf":"l"}"#
    #expect(driver.take() == [#"send {"r":2,"a":"q","b":{"p":"/log","q":\#(query),"t":3,"h":""}}"#])
    driver.receive(#"{"t":"d","d":{"a":"d","b":{"p":"log","d":{"a":{"n":1}},"t":3}}}"#)
    driver.receive(.reply(2, .listening(warnings: ["no_index"])))
    let log = driver.take()
    #expect(log[0] == #"put /log={"a":{"n":1}} t=3"#)
    #expect(log[1].hasPrefix("warn missingIndex("), "\(log[1])")
    #expect(log[2] == "listening /log \(query) t=3")
    driver.step { link, now in link.unlisten(target, tag: 4, now: now) }
    #expect(driver.take() == [])
    driver.step { link, now in link.unlisten(target, tag: 3, now: now) }
    #expect(driver.take() == [#"send {"r":3,"a":"n","b":{"p":"/log","q":\#(query),"t":3}}"#])
}

@Test("that a query has no index is reported once for each path and index")
func missingIndexes() throws {
    var driver = connected()
    var number: Int64 = 1
    func warnings(_ path: String, _ key: String, limit: Int) throws -> Int {
        let index = QuerySpec.Index.child(try Path(key))
        let target = ListenTarget(QuerySpec(index: index, limit: limit), at: try Path(path))
        driver.step { link, now in
            link.listen(target, tag: number, hash: ListenHash(""), now: now)
        }
        number += 1
        driver.receive(.reply(number, .listening(warnings: ["no_index"])))
        driver.step { link, now in link.unlisten(target, tag: number - 1, now: now) }
        number += 1
        return driver.take().count { $0.hasPrefix("warn missingIndex(") }
    }
    #expect(try warnings("log", "n", limit: 2) == 1)
    #expect(try warnings("log", "n", limit: 3) == 0)
    #expect(try warnings("log", "m", limit: 2) == 1)
    #expect(try warnings("others", "n", limit: 2) == 1)
    #expect(try warnings("log", "n", limit: 2) == 0)
}

@Test("a refused listen is forgotten")
func refusedListen() throws {
    var driver = connected()
    let target = try listenTarget("secret")
    driver.step { link, now in link.listen(target, tag: nil, hash: ListenHash(""), now: now) }
    driver.receive(.reply(2, .refused(.permissionDenied, "no")))
    #expect(driver.take().last == "revoked /secret \(denied)")
    driver.step { link, now in link.unlisten(target, tag: nil, now: now) }
    driver.close()
    driver.connect()
    #expect(!driver.take().contains { $0.contains(#""a":"q""#) || $0.contains(#""a":"n""#) })
}

@Test("answers to a listen that was stopped, or replaced, are no one's")
func lateListenAnswers() throws {
    var driver = connected()
    let target = try listenTarget("a")
    driver.step { link, now in
        link.listen(target, tag: nil, hash: ListenHash(""), now: now)
        link.unlisten(target, tag: nil, now: now)
        link.listen(target, tag: nil, hash: ListenHash(""), now: now)
    }
    _ = driver.take()
    driver.receive(.reply(2, .refused(.permissionDenied, "no")))
    driver.receive(.reply(3, .ok))
    #expect(driver.take() == ["earlier listen answered /a"])
    driver.receive(.reply(4, .listening(warnings: [])))
    #expect(driver.take() == ["listening /a"])
}

@Test("a revocation without a query is of the plain listen alone, one with queries of those")
func revocations() throws {
    var driver = connected()
    let plain = try listenTarget("a")
    let query = try listenTarget("a", limit: 3)
    driver.step { link, now in
        link.listen(plain, tag: nil, hash: ListenHash(""), now: now)
        link.listen(query, tag: 1, hash: ListenHash(""), now: now)
    }
    _ = driver.take()
    let failure = #"refused(status: "permission_denied", message: "Permission denied")"#
    driver.receive(.cancel(plain))
    #expect(driver.take() == ["revoked /a \(failure)"])
    driver.receive(.cancel(plain))
    driver.receive(.cancel(try listenTarget("b")))
    #expect(driver.take() == [])
    // Members of the query may come in any order.
    driver.receive(#"{"t":"d","d":{"a":"c","b":{"p":"a","q":[{"vf":"l","l":3}]}}}"#)
    #expect(driver.take() == [#"revoked /a {"l":3,"vf":"l"} \#(failure)"#])
    #expect(driver.link.listens.inOrder.isEmpty)
}

@Test("pushes are reported in the order of their arrival, with their tags")
func pushes() {
    var driver = connected()
    for text in [
        #"{"t":"d","d":{"a":"d","b":{"p":"a/b","d":[1,2]}}}"#,
        #"{"t":"d","d":{"a":"m","b":{"p":"a","d":{"x/y":1,".priority":2},"t":4}}}"#,
        #"{"t":"d","d":{"a":"m","b":{"p":"a","d":{}}}}"#,
        #"{"t":"d","d":{"a":"rm","b":{"p":"a","d":[{"s":"b","m":1}]}}}"#,
    ] {
        driver.receive(text)
    }
    #expect(
        driver.take() == [
            #"put /a/b={"0":1,"1":2}"#, "merge /a: /a/x/y=1 /a/.priority=2 t=4", "ranges /a 1",
        ]
    )
}

@Test("a read is answered with a node, or fails")
func reads() throws {
    var driver = connected()
    let target = try listenTarget("a")
    driver.step { link, now in
        for call in 1...3 { link.get(CallID(UInt64(call)), target, now: now) }
    }
    #expect(driver.take().first == #"send {"r":2,"a":"g","b":{"p":"/a","q":{}}}"#)
    driver.receive(.reply(2, .value(Node(integer: 5))))
    driver.receive(.reply(3, .refused(.permissionDenied, "no")))
    #expect(driver.take() == ["got 1 5", "got 2 \(denied)"])
    driver.receive(#"{"t":"d","d":{"r":4,"b":{"s":"ok","d":{"a.b":1}}}}"#)
    let log = driver.take()
    #expect(log.contains { $0.hasPrefix(#"got 3 refused(status: "error""#) }, "\(log)")
    #expect(log.contains("close 1"))
}

@Test("a read without a connection fails after three seconds")
func offlineReads() throws {
    var driver = LinkDriver()
    let target = try listenTarget("a")
    driver.step { link, now in link.get(CallID(1), target, now: now) }
    driver.pass(2_000)
    driver.step { link, now in link.get(CallID(2), target, now: now) }
    driver.pass(999)
    #expect(driver.take() == ["token"])
    driver.pass(1)
    #expect(driver.take() == ["got 1 offline"])
    driver.connect()
    #expect(driver.takeSent().count == 1)
    driver.pass(5_000)
    #expect(!driver.take().contains { $0.hasPrefix("got") })
    // A lost connection gives it three seconds more.
    driver.close()
    driver.step { link, now in link.goOffline(now: now) }
    driver.pass(2_999)
    #expect(!driver.take().contains { $0.hasPrefix("got") })
    driver.pass(1)
    #expect(driver.take() == ["got 2 offline"])
}

@Test("a read that may wait for longer does so, whatever else wakes the link")
func patientReads() throws {
    var driver = connected()
    driver.link.getTimeout = 600_000
    let target = try listenTarget("a")
    driver.step { link, now in link.get(CallID(1), target, now: now) }
    // Wakes come meanwhile, to connect again.
    driver.close()
    driver.pass(599_999)
    let log = driver.take()
    #expect(log.contains("token"))
    #expect(!log.contains { $0.hasPrefix("got") })
    driver.pass(1)
    #expect(driver.take() == ["got 1 offline"])
}

@Test(
    "hashed writes that were sent fail with the connection, those that were not go out on the next"
)
func hashedWrites() throws {
    var driver = connected()
    let writes = [
        try write(1, "a", 1, hash: "x="), try write(2, "b", 2), try write(3, "c", 3, hash: "y="),
    ]
    driver.step { link, now in for write in writes { link.write(write, now: now) } }
    _ = driver.take()
    driver.close()
    #expect(
        driver.take() == ["written 1 disconnected", "written 3 disconnected", "disconnected"]
    )
    let late = try write(4, "d", 4, hash: "z=")
    driver.step { link, now in link.write(late, now: now) }
    driver.connect()
    #expect(
        driver.take().filter { $0.contains(#""a":"p""#) } == [
            #"send {"r":5,"a":"p","b":{"p":"/b","d":2}}"#,
            #"send {"r":6,"a":"p","b":{"p":"/d","d":4,"h":"z="}}"#,
        ]
    )
}

@Test(
    "all that is pending is sent again: listens, writes, on-disconnect requests, reads, each in order"
)
func orderAfterReconnect() throws {
    var driver = connected()
    let target = try listenTarget("l1")
    let other = try listenTarget("l0", limit: 1)
    let writes = [try write(7, "w7", 7), try write(8, "w8", 8)]
    let cancel = ClientRequest.Action.onDisconnectCancel(WriteTarget(path: .root))
    driver.step { link, now in
        link.get(CallID(1), target, now: now)
        link.write(writes[0], now: now)
        link.listen(target, tag: nil, hash: ListenHash(""), now: now)
        link.onDisconnect(OnDisconnectID(value: 5), cancel, now: now)
        link.write(writes[1], now: now)
        link.listen(other, tag: 9, hash: ListenHash(""), now: now)
        link.onDisconnect(OnDisconnectID(value: 4), cancel, now: now)
        link.get(CallID(0), other, now: now)
    }
    driver.close()
    _ = driver.take()
    driver.connect()
    #expect(
        driver.take().filter { $0.hasPrefix("send") } == [
            #"send {"r":10,"a":"q","b":{"p":"/l1","h":"h="}}"#,
            #"send {"r":11,"a":"q","b":{"p":"/l0","q":{"l":1,"vf":"l"},"t":9,"h":"h="}}"#,
            #"send {"r":12,"a":"p","b":{"p":"/w7","d":7}}"#,
            #"send {"r":13,"a":"p","b":{"p":"/w8","d":8}}"#,
            #"send {"r":14,"a":"oc","b":{"p":"/","d":null}}"#,
            #"send {"r":15,"a":"oc","b":{"p":"/","d":null}}"#,
            #"send {"r":16,"a":"g","b":{"p":"/l1","q":{}}}"#,
            #"send {"r":17,"a":"g","b":{"p":"/l0","q":{"l":1,"vf":"l"}}}"#,
        ]
    )
}

@Test("a cancelled write is not sent again, and nothing is reported of it")
func cancelledWrites() throws {
    var driver = connected()
    let writes = [try write(1, "a", 1), try write(2, "b", 2)]
    driver.step { link, now in for write in writes { link.write(write, now: now) } }
    driver.step { link, _ in link.cancelWrite(WriteID(1)) }
    _ = driver.take()
    driver.receive(.reply(2, .ok))
    #expect(driver.take() == [])
    driver.step { link, _ in link.cancelWrite(WriteID(2)) }
    _ = driver.takeSent()
    driver.close()
    driver.connect()
    #expect(driver.takeSent().isEmpty)
}
