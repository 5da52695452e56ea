import JSONTree
import Queries
import TestSupport
import Testing

@testable import WireProtocol

private func text(_ node: Node) -> String { String(decoding: node.json(), as: UTF8.self) }

private func text(_ places: [(target: WriteTarget, node: Node)]) -> String {
    places.map { "\($0.target)=\(text($0.node))" }.joined(separator: " ")
}

private func text(_ ranges: [RangeMerge]) -> String {
    ranges.map { range in
        let start = range.interval.start.map(\.description) ?? ""
        let end = range.interval.end.map(\.description) ?? ""
        return "(\(start),\(end)]=\(text(range.node))"
    }.joined(separator: " ")
}

private func text(_ target: ListenTarget) -> String {
    "\(target.path)" + (target.queryText.map { " " + String(decoding: $0, as: UTF8.self) } ?? "")
}

private func text(_ tag: Int64?) -> String { tag.map { " t=\($0)" } ?? "" }

/// A received message in words.
private func words(_ message: ReceivedMessage) -> String {
    switch message {
    case .hello(let time, let host, let session): "hello \(time.milliseconds) \(host) \(session)"
    case .reset(let host): "reset \(host)"
    case .shutdown(let reason): "shutdown \(reason)"
    case .pong: "pong"
    case .reply(let number, let reply): "reply \(number) \(reply.status)"
    case .put(let target, let node, let tag): "put \(target)=\(text(node))\(text(tag))"
    case .merge(let base, let places, let tag): "merge \(base) \(text(places))\(text(tag))"
    case .rangeMerge(let path, let ranges, let tag): "ranges \(path) \(text(ranges))\(text(tag))"
    case .cancel(let targets): "cancel " + targets.map(text).joined(separator: ";")
    case .authRevoked(let status, let reason): "authRevoked \(status) \(reason)"
    case .securityDebug(let words): "debug \(words)"
    case .unknown: "unknown"
    }
}

/// The same words for what the server meant.
private func words(_ message: ServerMessage) -> String {
    switch message {
    case .hello(let time, let host, let session): "hello \(time.milliseconds) \(host) \(session)"
    case .pong: "pong"
    case .upgradeAck, .endOfTransmission: "unknown"
    case .shutdown(let reason): "shutdown \(reason)"
    case .reset(let host): "reset \(host)"
    case .reply(let number, .refused(let status, _)): "reply \(number) \(status.rawValue)"
    case .reply(let number, _): "reply \(number) ok"
    case .put(let target, let node, let tag): "put \(target)=\(text(node))\(text(tag))"
    case .merge(let base, let places, let tag):
        "merge \(base) \(text(places.map { (under(base, $0.target), $0.node) }))\(text(tag))"
    case .rangeMerge(let path, let ranges, let tag): "ranges \(path) \(text(ranges))\(text(tag))"
    case .cancel(let target): "cancel \(text(target))"
    case .authRevoked(let status, let reason): "authRevoked \(status.rawValue) \(reason)"
    case .securityDebug(let words): "debug \(words)"
    }
}

private func under(_ base: Path, _ target: WriteTarget) -> WriteTarget {
    WriteTarget(path: base.appending(target.path), isPriority: target.isPriority)
}

/// Messages with random parts, one of each kind.
private func messages(_ random: inout SeededGenerator) throws -> [ServerMessage] {
    let keys = ["a", "b c", "10", "é\"\\", "😀"]
    func path(_ keyCount: Int) throws -> Path {
        Path(try (0..<keyCount).map { _ in try Key(keys[random.index(keys.count)]) })
    }
    let nodes = [
        "null", "1", #""x\u0000y""#, #"{"a":{"b":[1,2]},"c":null}"#,
        #"{".value":1,".priority":"p"}"#,
        #"{"k":{".value":true,".priority":4},".priority":1.5}"#,
    ]
    func node() throws -> Node { try Node(json: nodes[random.index(nodes.count)]) }
    let tag: Int64? = random.index(2) == 0 ? nil : Int64(random.index(1_000) + 1)
    let interval = LeafInterval(
        after: random.index(2) == 0 ? nil : WriteTarget(path: try path(random.index(3))),
        through: random.index(2) == 0 ? nil : WriteTarget(path: try path(2), isPriority: true)
    )
    let query = QuerySpec(index: .child(try path(2)), limit: 1 + random.index(9), side: .last)
    return [
        .hello(now: Timestamp(milliseconds: 1_760_000_000_000), host: "[::1]:90", session: "s-1"),
        .pong, .upgradeAck, .endOfTransmission, .shutdown("go \"away\""), .reset(host: "b:1"),
        .reply(Int64(random.index(9)), .ok), .reply(1, .listening(warnings: [])),
        .reply(2, .refused(.permissionDenied, "no")), .reply(3, .value(try node())),
        .put(WriteTarget(path: try path(random.index(4))), try node(), tag: tag),
        // A priority is a scalar.
        .put(WriteTarget(path: try path(2), isPriority: true), Node(integer: 7), tag: tag),
        .merge(
            base: try path(random.index(3)),
            [
                (WriteTarget(path: try path(1)), try node()),
                (WriteTarget(path: try path(2), isPriority: true), Node(integer: 1)),
            ],
            tag: tag
        ),
        .rangeMerge(try path(1), [RangeMerge(interval: interval, node: try node())], tag: tag),
        .cancel(ListenTarget(query, at: try path(2))), .cancel(ListenTarget(path: try path(1))),
        .authRevoked(.expiredToken, "late"), .securityDebug("tick\ntock"),
    ]
}

@Test("what a server encodes a client reads as the same", arguments: TestSeed.seeds(30))
func serverMessagesReadBack(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<10 {
        for message in try messages(&random) {
            let encoded = message.encoded()
            let read = words(try ReceivedMessage.parse(encoded))
            #expect(
                read == words(message),
                "seed \(seed): \(String(decoding: encoded, as: UTF8.self))"
            )
        }
    }
}

private let receivedCases: [(json: String, words: String)] = [
    // Members in the order of the hosted service.
    (#"{"t":"d","d":{"b":{"p":"foo/bar","d":1},"a":"d"}}"#, "put /foo/bar=1"),
    (
        #"{"d":{"b":{"d":{"x":1,"y/z":null},"p":"/a","t":3},"a":"m"},"t":"d"}"#,
        "merge /a /a/x=1 /a/y/z=null t=3"
    ),
    (#"{"d":{"d":{"h":"x:1","s":"S","v":"5","ts":12},"t":"h"},"t":"c"}"#, "hello 12 x:1 S"),
    (#"{"t":"d","d":{"b":{"d":"","s":"ok"},"r":0}}"#, "reply 0 ok"),
    (
        #" {"t":"d", "d":{"a":"d","b":{"p":"","d":[1,null,{"a":2}],"t":null}}} "#,
        #"put /={"0":1,"2":{"a":2}}"#
    ),
    (#"{"t":"d","d":{"a":"d","b":{"p":"/a/.priority","d":3}}}"#, "put /a/.priority=3"),
    (#"{"t":"d","d":{"a":"m","b":{"p":"a","d":{}}}}"#, "merge /a "),
    (#"{"t":"d","d":{"a":"m","b":{"p":"a","d":[null,2]}}}"#, "merge /a /a/1=2"),
    (#"{"t":"d","d":{"a":"c","b":{"p":"a"}}}"#, "cancel /a"),
    (
        #"{"t":"d","d":{"a":"c","b":{"p":"a","q":[{"vf":"r","l":3},{"i":".key","sp":"x"}]}}}"#,
        #"cancel /a {"l":3,"vf":"r"};/a {"i":".key","sp":"x"}"#
    ),
    (
        #"{"t":"d","d":{"a":"ac","b":{"s":"invalid_token","d":"bad"}}}"#,
        "authRevoked invalid_token bad"
    ),
    (#"{"t":"d","d":{"a":"apc","b":{"s":"invalid_token","d":"bad"}}}"#, "unknown"),
    (#"{"t":"d","d":{"a":"new","b":[1,{"x":2}]}}"#, "unknown"),
    (#"{"t":"c","d":{"t":"e","d":"oops"}}"#, "unknown"),
    (#"{"t":"d","d":{"a":"sd","b":{"msg":"m"}}}"#, "debug m"),
    (
        #"{"t":"d","d":{"a":"rm","b":{"p":"a","d":[{"e":"/","m":null},{"s":"b","m":{"c":1}}]}}}"#,
        #"ranges /a (,/]=null (/b,]={"c":1}"#
    ),
]

@Test("everything that servers are known to send is read", arguments: receivedCases)
func receivedForms(json: String, expected: String) throws {
    #expect(words(try ReceivedMessage.parse(Array(json.utf8))) == expected)
}

private let wrongData = "not a message: `d` is of the wrong type"
private let wrongTime = "not a message: `ts` is of the wrong type"

private let refusedCases: [(json: String, error: String)] = [
    ("", "not JSON: the text ends too early at byte 0"),
    ("[]", "not a message: an object was expected"),
    (#"{"t":"x","d":{}}"#, #"not a message: `t` is neither "c" nor "d""#),
    (#"{"d":{}}"#, "not a message: `t` is missing"),
    (#"{"t":"c"}"#, "not a message: `d` is missing"),
    (#"{"t":"d","d":{"r":1,"b":{}}}"#, "not a message: `s` is missing"),
    (#"{"t":"d","d":{"a":"d","b":{"p":"a"}}}"#, "not a message: `d` is missing"),
    (#"{"t":"d","d":{"a":"d","b":{"d":1}}}"#, "not a message: `p` is missing"),
    (#"{"t":"d","d":{"a":"d","b":{"p":"a.b","d":1}}}"#, "not a message: `p` is of the wrong type"),
    (
        #"{"t":"d","d":{"a":"d","b":{"p":"a","d":{".sv":"timestamp"}}}}"#,
        "not a message: `d` is of the wrong type"
    ),
    (#"{"t":"d","d":{"a":"m","b":{"p":"a","d":1}}}"#, "not a message: `d` is of the wrong type"),
    (#"{"t":"c","d":{"t":"h","d":{"h":"x"}}}"#, "not a message: `ts` is missing"),
    (#"{"t":"d","d":{"a":"d","b":{"p":"a/.priority","d":{"b":1}}}}"#, wrongData),
    (#"{"t":"d","d":{"a":"d","b":{"d":true,"p":"a/.priority"}}}"#, wrongData),
    (#"{"t":"d","d":{"a":"d","b":{"p":"a/.priority","d":{".value":1,".priority":2}}}}"#, wrongData),
    (#"{"t":"d","d":{"a":"m","b":{"p":"a","d":{"b/.priority":[1,2]}}}}"#, wrongData),
    // Sums with such times are no numbers.
    (#"{"t":"c","d":{"t":"h","d":{"ts":-9223372036854775808}}}"#, wrongTime),
    (#"{"t":"c","d":{"t":"h","d":{"ts":9223372036854775807}}}"#, wrongTime),
    (#"{"t":"c","d":{"t":"h","d":{"ts":-1}}}"#, wrongTime),
    (#"{"t":"c","d":{"t":"h","d":{"ts":253402300800000}}}"#, wrongTime),
    (#"{"t":"c","d":{"t":"h","d":{"ts":1}}}x"#, "not JSON: text after the value at byte 36"),
]

@Test("what is no message is refused", arguments: refusedCases)
func refusedForms(json: String, expected: String) {
    do throws(MessageError) {
        Issue.record("read as \(words(try ReceivedMessage.parse(Array(json.utf8))))")
    } catch {
        #expect("\(error)" == expected)
    }
}

private func reply(_ data: String) throws -> ReceivedReply {
    let json = #"{"t":"d","d":{"r":1,"b":{"s":"ok"\#(data)}}}"#
    guard case .reply(_, let reply) = try ReceivedMessage.parse(Array(json.utf8)) else {
        throw MessageError.missing(member: "r")
    }
    return reply
}

@Test("the data of a reply is what the request makes of it")
func replyData() throws {
    #expect(try reply(#","d":{"w":["no_index",1,"x"]}"#).warnings == ["no_index", "x"])
    #expect(try reply(#","d":{}"#).warnings == [])
    #expect(try reply(#","d":"""#).warnings == [])
    #expect(try reply(#","d":"why \"so\"""#).text == #"why "so""#)
    #expect(try reply("").text == "")
    #expect(
        try reply(#","d":[1,{".value":2,".priority":3}]"#).node().json()
            == Array(#"{"0":1,"1":{".value":2,".priority":3}}"#.utf8)
    )
    #expect(try reply("").node().isAbsent)
    #expect(throws: MessageError.self) { try reply(#","d":{"a.b":1}"#).node() }
}

@Test("damaged messages of a server never crash the reader", arguments: TestSeed.seeds(20))
func damagedServerMessages(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let alphabet = Array(#"{}[]":,\.09-etfnu /dprqam"#.utf8) + [0x00, 0x1F, 0x80, 0xC3, 0xFF]
    for message in try messages(&random) {
        for _ in 0..<30 {
            var text = message.encoded()
            for _ in 0...random.index(4) {
                text[random.index(text.count)] = alphabet[random.index(alphabet.count)]
            }
            if random.index(4) == 0 { text.removeLast(random.index(text.count)) }
            func outcome() -> String {
                do throws(MessageError) { return words(try ReceivedMessage.parse(text)) } catch {
                    return "!\(error)"
                }
            }
            #expect(outcome() == outcome(), "seed \(seed)")
        }
    }
}
