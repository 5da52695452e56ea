import JSONTree
import Queries
import TestSupport
import Testing

@testable import WireProtocol

/// What a text means to the server, or why it is none.
private func reading(_ text: [UInt8]) -> String { words(String(decoding: text, as: UTF8.self)) }

@Test("every request that is read and encoded reads the same again")
func requestsReadBack() throws {
    var count = 0
    for json in (transcriptCases + readingCases).map(\.json) {
        guard case .request(let request) = try ClientMessage.parse(Array(json.utf8)) else {
            continue
        }
        if case .malformed = request.action { continue }
        let text = request.encoded()
        #expect(reading(text) == words(json), "\(String(decoding: text, as: UTF8.self))")
        count += 1
    }
    #expect(count > 20)
}

private let listen = ListenTarget(
    QuerySpec(limit: 2, side: .last),
    at: Path([key("a b"), key("c\"d")])
)

private func key(_ text: String) -> Key { Key(unchecked: Array(text.utf8)) }

private let encodedCases: [(request: ClientRequest.Action, body: String)] = [
    (
        .listen(ListenTarget(path: .root), tag: nil, hash: ListenHash("")),
        #""a":"q","b":{"p":"/","h":""}"#
    ),
    (
        .listen(listen, tag: 7, hash: ListenHash("xyz=")),
        #""a":"q","b":{"p":"/a b/c\"d","q":{"l":2,"vf":"r"},"t":7,"h":"xyz="}"#
    ),
    (.unlisten(listen, tag: 7), #""a":"n","b":{"p":"/a b/c\"d","q":{"l":2,"vf":"r"},"t":7}"#),
    (.get(ListenTarget(path: .root)), #""a":"g","b":{"p":"/","q":{}}"#),
    (.unauth, #""a":"unauth","b":{}"#),
    (.auth(Credential(token: "a.b.c")), #""a":"auth","b":{"cred":"a.b.c"}"#),
    (
        .put(
            WriteTarget(path: Path([key("a")]), isPriority: true),
            Draft(Node(integer: 3)),
            hash: nil
        ),
        #""a":"p","b":{"p":"/a/.priority","d":3}"#
    ),
    (
        .put(WriteTarget(path: .root), Draft(.absent), hash: "h="),
        #""a":"p","b":{"p":"/","d":null,"h":"h="}"#
    ),
    (
        .onDisconnectCancel(WriteTarget(path: Path([key("a")]))),
        #""a":"oc","b":{"p":"/a","d":null}"#
    ),
]

@Test("requests have the texts that official servers take", arguments: encodedCases)
func requestTexts(request: ClientRequest.Action, body: String) {
    let text = ClientRequest(number: 4, action: request).encoded()
    #expect(String(decoding: text, as: UTF8.self) == #"{"t":"d","d":{"r":4,\#(body)}}"#)
}

@Test("a merge names its places from its base")
func mergeText() throws {
    let base = try Path("a/b")
    let entries = [
        MergeEntry(target: try WriteTarget("/a/b/c/d"), draft: Draft(Node(true))),
        MergeEntry(target: try WriteTarget("/a/b/e/.priority"), draft: Draft(Node(integer: 1))),
        MergeEntry(
            target: try WriteTarget("/a/b/f"),
            draft: try Draft(json: Array(#"{".sv":"timestamp"}"#.utf8))
        ),
    ]
    let text = ClientRequest(number: 0, action: .merge(base, entries, hash: nil)).encoded()
    let expected = #"{"c/d":true,"e/.priority":1,"f":{".sv":"timestamp"}}"#
    #expect(
        String(decoding: text, as: UTF8.self)
            == #"{"t":"d","d":{"r":0,"a":"m","b":{"p":"/a/b","d":\#(expected)}}}"#
    )
}

@Test("a ping and the usage counter are what servers take")
func pingAndStats() {
    #expect(words(String(decoding: ClientMessage.pingText, as: UTF8.self)) == "ping")
    let stats = ClientRequest.encodedStats(number: 1, agent: "sdk.swift.1-0-0")
    #expect(
        String(decoding: stats, as: UTF8.self)
            == #"{"t":"d","d":{"r":1,"a":"s","b":{"c":{"sdk.swift.1-0-0":1}}}}"#
    )
    #expect(reading(stats) == "1 stats")
}

/// Random JSON text in the form that writes take, at most `depth` keys deep.
private func randomValue(_ random: inout SeededGenerator, depth: Int) -> String {
    let serverValues = [
        #"{".sv":"timestamp"}"#, #"{".sv":{"increment":-2.5}}"#, #"{".sv":{"increment":7}}"#,
    ]
    let scalars = ["1", "-0.5", "true", #""""#, #""a\"\\\u0001é😀""#, "1e300", "9007199254740993"]
    func scalar() -> String { scalars[random.index(scalars.count)] }
    func serverValue() -> String { serverValues[random.index(serverValues.count)] }
    func priority() -> String {
        switch random.index(4) {
        case 0: serverValue()
        case 1: #""high""#
        default: "2"
        }
    }
    switch random.index(depth == 0 ? 5 : 9) {
    case 0: return "null"
    case 1: return scalar()
    case 2: return serverValue()
    case 3: return #"{".value":\#(scalar()),".priority":\#(priority())}"#
    case 4: return #"{".priority":\#(priority()),".value":\#(serverValue())}"#
    case 5:
        let elements = (0..<random.index(4)).map { _ in randomValue(&random, depth: depth - 1) }
        return "[" + elements.joined(separator: ",") + "]"
    default:
        var names = ["10", "9", "a", "b", "k\\\"q", "é"].shuffled(using: &random)
        names.removeLast(random.index(6))
        var members = names.map { "\"\($0)\":" + randomValue(&random, depth: depth - 1) }
        if random.index(3) == 0 {
            members.insert(#"".priority":\#(priority())"#, at: random.index(members.count + 1))
        }
        return "{" + members.joined(separator: ",") + "}"
    }
}

@Test("a draft reads back as it was", arguments: TestSeed.seeds(40))
func draftsReadBack(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
        let json = randomValue(&random, depth: 4)
        let draft = try Draft(json: Array(json.utf8))
        var text: [UInt8] = []
        draft.appendJSON(to: &text)
        let words = String(decoding: text, as: UTF8.self)
        #expect(try Draft(json: text) == draft, "seed \(seed): \(json) became \(words)")
    }
}

@Test("a draft that was edited reads back as what it means", arguments: TestSeed.seeds(20))
func editedDraftsReadBack(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let now = Timestamp(milliseconds: 1_760_000_000_000)
    let existing = try Node(json: #"{"a":{"b":5,"10":{"a":1}},"b":2,".priority":4}"#)
    for _ in 0..<100 {
        var draft = try Draft(json: Array(randomValue(&random, depth: 3).utf8))
        let before = draft
        let part = try Draft(json: Array(randomValue(&random, depth: 2).utf8))
        let keys = (0..<random.index(3)).map { _ in key(["a", "b", "10"][random.index(3)]) }
        draft.replace(WriteTarget(path: Path(keys)), with: part)
        var text: [UInt8] = []
        draft.appendJSON(to: &text)
        let words =
            "seed \(seed): \(before), \(keys), \(part): \(String(decoding: text, as: UTF8.self))"
        let back = try Draft(json: text)
        for node in [Node.absent, existing] {
            let meant = draft.resolved(existing: node, now: now)
            #expect(back.resolved(existing: node, now: now) == meant, "\(words)")
        }
    }
}

@Test("a long message is a count and its segments, a short one goes bare")
func requestFrames() throws {
    let short = ClientRequest(number: 1, action: .unauth).encoded()
    #expect(ClientMessage.frames(of: short) == [short])
    let long = ClientRequest(
        number: 2,
        action: .put(
            WriteTarget(path: .root),
            Draft(Node(string: String(repeating: "é😀", count: 20_000))),
            hash: nil
        )
    ).encoded()
    let frames = try #require(ClientMessage.frames(of: long))
    #expect(String(decoding: frames[0], as: UTF8.self) == "\(frames.count - 1)")
    #expect(Array(frames.dropFirst().joined()) == long)
    var assembler = FrameAssembler(byteLimit: 1_000_000)
    var assembled: [[UInt8]] = []
    for frame in frames {
        if case .message(let message) = try assembler.receive(frame) { assembled.append(message) }
    }
    #expect(assembled == [long])
    for frame in frames.dropFirst() {
        let text = String(decoding: frame, as: UTF8.self)
        #expect(text.utf16.count <= 16_384)
        #expect(!text.contains("\u{FFFD}"), "cut between scalars")
    }
}
