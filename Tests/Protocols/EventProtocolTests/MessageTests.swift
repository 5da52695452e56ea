import EventProtocol
import JSONTree
import Testing

/// Messages and their exact bytes.
private let messages: [(message: EventMessage, json: String)] = [
    (
        .hello(now: Timestamp(milliseconds: 1_700_000_000_000), session: "s\"1"),
        #"{"event":"hello","serverTime":1700000000000,"session":"s\"1"}"#
    ),
    (.reply(1, .done), #"{"id":1,"ok":true}"#),
    (.reply(-9_007_199_254_740_993, .done), #"{"id":-9007199254740993,"ok":true}"#),
    (.reply(1, .authenticated(uid: "ann")), #"{"id":1,"ok":true,"uid":"ann"}"#),
    (.reply(1, .authenticated(uid: nil)), #"{"id":1,"ok":true,"uid":null}"#),
    (.reply(2, .observing(warning: nil)), #"{"id":2,"ok":true}"#),
    (.reply(2, .observing(warning: .noIndex)), #"{"id":2,"ok":true,"warning":"no_index"}"#),
    (
        .reply(3, .value(list, EntityTag(hash: "h="), .value)),
        #"{"id":3,"ok":true,"etag":"h=","value":["a",null,"c"]}"#
    ),
    (
        .reply(3, .value(list, nil, .export)),
        #"{"id":3,"ok":true,"value":{"0":"a","2":"c",".priority":5}}"#
    ),
    (
        .reply(3, .value(.absent, EntityTag(hash: ""), .value)),
        #"{"id":3,"ok":true,"etag":"null_etag","value":null}"#
    ),
    (.reply(4, .written(nil)), #"{"id":4,"ok":true}"#),
    (.reply(4, .written(EntityTag(hash: "x"))), #"{"id":4,"ok":true,"etag":"x"}"#),
    (.reply(5, .key(pushKey())), #"{"id":5,"ok":true,"key":"\#(pushKey())"}"#),
    (
        .reply(6, .pong(now: Timestamp(milliseconds: 12))), #"{"id":6,"ok":true,"serverTime":12}"#
    ),
    (
        .reply(7, .refused(EventError(.permissionDenied, "no"))),
        #"{"id":7,"ok":false,"error":"permission_denied","message":"no"}"#
    ),
    (
        .reply(nil, .refused(EventError(.badRequest, "a \"b\""))),
        #"{"id":null,"ok":false,"error":"bad_request","message":"a \"b\""}"#
    ),
    (
        .reply(8, .mismatch(list, EntityTag(hash: "h"))),
        #"{"id":8,"ok":false,"error":"etag_mismatch","message":"The data there has another etag.","#
            + #""etag":"h","value":["a",null,"c"]}"#
    ),
    (
        .authRevoked(EventError(.expiredToken, "old")),
        #"{"event":"authRevoked","error":"expired_token","message":"old"}"#
    ),
]

/// Events and their exact bytes for observer 2.
private let events: [(event: ObserverEvent, form: Node.JSONForm, json: String)] = [
    (.value(.absent), .value, #"{"event":"value","value":null,"observer":2}"#),
    (.value(list), .value, #"{"event":"value","value":["a",null,"c"],"observer":2}"#),
    (
        .value(list), .export,
        #"{"event":"value","value":{"0":"a","2":"c",".priority":5},"observer":2}"#
    ),
    (
        .childAdded(key("b"), previousKey: key("a\u{e9}"), node("1")), .value,
        #"{"event":"childAdded","key":"b","previousKey":"aé","value":1,"observer":2}"#
    ),
    (
        .childAdded(key("b"), previousKey: nil, node("1")), .value,
        #"{"event":"childAdded","key":"b","previousKey":null,"value":1,"observer":2}"#
    ),
    (
        .childChanged(key("b"), previousKey: nil, leaf), .export,
        #"{"event":"childChanged","key":"b","previousKey":null,"#
            + #""value":{".value":true,".priority":"p"},"observer":2}"#
    ),
    (
        .childMoved(key("\"b"), previousKey: key("\\a"), leaf), .value,
        #"{"event":"childMoved","key":"\"b","previousKey":"\\a","value":true,"observer":2}"#
    ),
    (
        .childRemoved(key("b"), node(#"{"c":1}"#)), .value,
        #"{"event":"childRemoved","key":"b","value":{"c":1},"observer":2}"#
    ),
    (
        .cancelled(EventError(.permissionDenied, "no")), .value,
        #"{"event":"cancelled","error":"permission_denied","message":"no","observer":2}"#
    ),
]

private let list = node(#"{".priority":5,"0":"a","2":"c"}"#)
private let leaf = node(#"{".value":true,".priority":"p"}"#)

private func node(_ json: String) -> Node {
    do { return try Node(json: json) } catch { preconditionFailure("\(json): \(error)") }
}

private func key(_ text: String) -> Key {
    do { return try Key(text) } catch { preconditionFailure("\(text): \(error)") }
}

@Suite("messages of the plain event protocol")
struct MessageTests {
    @Test("have these bytes", arguments: messages.indices)
    func bytes(index: Int) {
        #expect(text(messages[index].message.encoded()) == messages[index].json)
    }

    @Test("about observers have these bytes, the number last", arguments: events.indices)
    func eventBytes(index: Int) {
        let (event, form, json) = events[index]
        #expect(text(event.encoded(observer: 2, form)) == json)
        let shared = event.sharedText(form)
        #expect(text(shared + Array("2".utf8) + ObserverEvent.ending) == json)
    }

    @Test("that stream are the same bytes however they are cut", arguments: [1, 3, 64, 1 << 20])
    func streams(pieceByteCount: Int) throws {
        var streamed = 0
        for (event, form, json) in events {
            if case .cancelled = event { continue }
            let stream = StreamedEvent.event(event, observer: 2, form)
            #expect(try whole(stream, pieceByteCount) == json)
            streamed += 1
        }
        for (message, json) in messages {
            guard case .reply(let id?, let reply) = message else { continue }
            switch reply {
            case .value, .mismatch:
                #expect(try whole(.reply(id, reply), pieceByteCount) == json)
                streamed += 1
            default: break
            }
        }
        #expect(streamed == 12)
    }

    private func whole(_ stream: StreamedEvent, _ pieceByteCount: Int) throws -> String {
        var measured = stream
        while try !measured.measure(byteLimit: 1 << 20, atLeast: pieceByteCount) {}
        var stream = stream
        var unmeasured: [UInt8] = []
        while let piece = stream.next(atLeast: pieceByteCount) { unmeasured += piece }
        var bytes: [UInt8] = []
        while !measured.isEnded {
            let next = measured.next(atLeast: pieceByteCount)
            let piece = try #require(next)
            #expect(!piece.isEmpty)
            bytes += piece
        }
        #expect(measured.next(atLeast: 1) == nil)
        #expect(bytes.count == measured.byteCount)
        #expect(bytes == unmeasured)
        return text(bytes)
    }

    @Test("that are too big are seen to be without being made, and replies have a refusal")
    func tooBig() throws {
        let children = (0..<5_000).map { #""k\#($0)":"\#(String(repeating: "x", count: 100))""# }
        let big = node("{\(children.joined(separator: ","))}")
        var reply = StreamedEvent.reply(9, .value(big, nil, .value))
        let error = #expect(throws: StreamedEvent.TooBig.self) {
            while try !reply.measure(byteLimit: 100_000, atLeast: 10_000) {}
        }
        #expect((100_001..<130_000).contains(try #require(error).byteCount))
        let refusal = try #require(reply.refusal)
        #expect(text(refusal).hasPrefix(#"{"id":9,"ok":false,"error":"too_big","#))
        #expect(StreamedEvent.event(.value(big), observer: 1, .value).refusal == nil)
    }

    @Test("name every error in lower case with underscores, each once")
    func codes() {
        let names = EventErrorCode.allCases.map(\.rawValue)
        #expect(Set(names).count == names.count)
        for name in names { #expect(name.allSatisfy { $0 == "_" || ("a"..."z").contains($0) }) }
    }
}

@Suite("etags")
struct EntityTagTests {
    @Test(
        "are the same bare, quoted and weak",
        arguments: ["abc=", "\"abc=\"", "W/\"abc=\""]
    )
    func forms(received: String) {
        #expect(EntityTag(received: received) == EntityTag(hash: "abc="))
    }

    @Test("may begin as weak ones do", arguments: ["", "\"", "W/\""])
    func likeWeak(start: String) {
        let hash = "W/jNEmR8XHDn0pfPAXmZ6o199tk="
        let received = start + hash + (start.isEmpty ? "" : "\"")
        #expect(EntityTag(received: received) == EntityTag(hash: hash))
    }

    @Test("of nothing are `null_etag`, and of nothing else")
    func nothing() {
        #expect(EntityTag(hash: Node.absent.hash()) == .ofNothing)
        #expect(EntityTag(received: "null_etag") == .ofNothing)
        #expect(EntityTag(hash: node("null_etag".debugDescription).hash()) != .ofNothing)
        #expect(EntityTag(received: "") != .ofNothing)
    }
}
