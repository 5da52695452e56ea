import JSONTree
import Queries
import Testing

@testable import WireProtocol

private func target(_ text: String) throws -> WriteTarget { try WriteTarget(text) }

private func encoded(_ message: ServerMessage) -> String { text(message.encoded()) }

private func merge(_ start: String?, _ end: String?, _ json: String) throws -> RangeMerge {
    let interval = LeafInterval(
        after: try start.map { try target($0) },
        through: try end.map { try target($0) }
    )
    return RangeMerge(interval: interval, node: try node(json))
}

private let newest3 = Array(#"{"i":"n","l":3,"vf":"r"}"#.utf8)

/// What the server says in the transcripts, byte for byte.
@Test("the server's half of the transcripts is written")
func serverTranscripts() throws {
    let now = Timestamp(milliseconds: 1_760_000_000_000)
    let rows: [(ServerMessage, String)] = [
        (
            .hello(now: now, host: "db.example.org:9000", session: "9fQm3x"),
            #"{"t":"c","d":{"t":"h","d":{"ts":1760000000000,"v":"5","h":"db.example.org:9000","s":"9fQm3x"}}}"#
        ),
        (.reply(1, .ok), #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}"#),
        (
            .put(try target("/room"), try node(#"{"topic":"tea"}"#), tag: nil),
            #"{"t":"d","d":{"a":"d","b":{"p":"room","d":{"topic":"tea"}}}}"#
        ),
        (.reply(2, .listening(warnings: [])), #"{"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}"#),
        (
            .merge(
                base: try path("room"),
                [
                    (try target("topic"), Node(string: "coffee")),
                    (try target("seen/ann"), Node(integer: 1_760_000_001_234)),
                ],
                tag: nil
            ),
            #"{"t":"d","d":{"a":"m","b":{"p":"room","d":{"topic":"coffee","seen/ann":1760000001234}}}}"#
        ),
        (
            .put(try target("/log"), try node(#"{"a":{"n":1},"b":{"n":2},"c":{"n":3}}"#), tag: 1),
            #"{"t":"d","d":{"a":"d","b":{"p":"log","d":{"a":{"n":1},"b":{"n":2},"c":{"n":3}},"t":1}}}"#
        ),
        (
            .reply(4, .listening(warnings: ["no_index"])),
            #"{"t":"d","d":{"r":4,"b":{"s":"ok","d":{"w":["no_index"]}}}}"#
        ),
        (
            .merge(
                base: try path("log"),
                [(try target("a"), .absent), (try target("d"), try node(#"{"n":4}"#))],
                tag: 1
            ),
            #"{"t":"d","d":{"a":"m","b":{"p":"log","d":{"a":null,"d":{"n":4}},"t":1}}}"#
        ),
        (
            .reply(3, .refused(.dataStale, "Transaction hash does not match")),
            #"{"t":"d","d":{"r":3,"b":{"s":"datastale","d":"Transaction hash does not match"}}}"#
        ),
        (
            .put(try target("ctr"), Node(integer: 2), tag: nil),
            #"{"t":"d","d":{"a":"d","b":{"p":"ctr","d":2}}}"#
        ),
        (
            .reply(6, .refused(.permissionDenied, "Permission denied")),
            #"{"t":"d","d":{"r":6,"b":{"s":"permission_denied","d":"Permission denied"}}}"#
        ),
        (
            .cancel(ListenTarget(path: try path("room"))),
            #"{"t":"d","d":{"a":"c","b":{"p":"room"}}}"#
        ),
        (
            .cancel(
                ListenTarget(path: try path("log"), query: QuerySpec(limit: 3), queryText: newest3)
            ),
            #"{"t":"d","d":{"a":"c","b":{"p":"log","q":[{"i":"n","l":3,"vf":"r"}]}}}"#
        ),
        (
            .authRevoked(.expiredToken, "Auth token is expired"),
            #"{"t":"d","d":{"a":"ac","b":{"s":"expired_token","d":"Auth token is expired"}}}"#
        ),
        (
            .reply(8, .authenticated(try node(#"{"uid":"ann"}"#))),
            #"{"t":"d","d":{"r":8,"b":{"s":"ok","d":{"auth":{"uid":"ann"}}}}}"#
        ),
        (.pong, #"{"t":"c","d":{"t":"o","d":{}}}"#),
        (
            .put(try target("room/.priority"), Node(integer: 3), tag: nil),
            #"{"t":"d","d":{"a":"d","b":{"p":"room/.priority","d":3}}}"#
        ),
    ]
    for (message, expected) in rows { #expect(encoded(message) == expected) }
}

@Test("everything else the server says has its exact form")
func otherServerMessages() throws {
    let rows: [(ServerMessage, String)] = [
        (
            .shutdown("Unknown database \"x\""),
            #"{"t":"c","d":{"t":"s","d":"Unknown database \"x\""}}"#
        ),
        (.reset(host: "other:9000"), #"{"t":"c","d":{"t":"r","d":"other:9000"}}"#),
        (
            .put(WriteTarget(path: .root), .absent, tag: nil),
            #"{"t":"d","d":{"a":"d","b":{"p":"","d":null}}}"#
        ),
        (
            .put(WriteTarget(path: .root, isPriority: true), .absent, tag: 7),
            #"{"t":"d","d":{"a":"d","b":{"p":".priority","d":null,"t":7}}}"#
        ),
        (
            .merge(base: .root, [(try target(".priority"), Node(string: "p"))], tag: nil),
            #"{"t":"d","d":{"a":"m","b":{"p":"","d":{".priority":"p"}}}}"#
        ),
        (
            .merge(base: .root, [(try target("a/.priority"), .absent)], tag: nil),
            #"{"t":"d","d":{"a":"m","b":{"p":"","d":{"a/.priority":null}}}}"#
        ),
        (
            .rangeMerge(
                try path("a"),
                [
                    try merge(nil, "b", #"{"a":1}"#), try merge("b/c", "d/.priority", "null"),
                    try merge("z", nil, "2"),
                ],
                tag: nil
            ),
            #"{"t":"d","d":{"a":"rm","b":{"p":"a","d":[{"e":"b","m":{"a":1}},{"s":"b/c","e":"d/.priority","m":null},{"s":"z","m":2}]}}}"#
        ),
        (
            .rangeMerge(.root, [try merge("", nil, #"{"é":true}"#)], tag: 7),
            #"{"t":"d","d":{"a":"rm","b":{"p":"","d":[{"s":"/","m":{"é":true}}],"t":7}}}"#
        ),
        (
            .reply(0, .text("unauthenticated")),
            #"{"t":"d","d":{"r":0,"b":{"s":"ok","d":"unauthenticated"}}}"#
        ),
        (.reply(-1, .value(.absent)), #"{"t":"d","d":{"r":-1,"b":{"s":"ok","d":null}}}"#),
        (
            .reply(9, .value(try node(#"{".value":1.5,".priority":"x"}"#))),
            #"{"t":"d","d":{"r":9,"b":{"s":"ok","d":{".value":1.5,".priority":"x"}}}}"#
        ),
        (
            .reply(9, .value(try node(#"["a",null,"c"]"#))),
            #"{"t":"d","d":{"r":9,"b":{"s":"ok","d":{"0":"a","2":"c"}}}}"#
        ),
        (
            .reply(9, .listening(warnings: ["a", "b\""])),
            #"{"t":"d","d":{"r":9,"b":{"s":"ok","d":{"w":["a","b\""]}}}}"#
        ),
        (
            .reply(9, .authenticated(nil)),
            #"{"t":"d","d":{"r":9,"b":{"s":"ok","d":{"auth":null}}}}"#
        ),
        (
            .reply(9, .authenticated(.absent)),
            #"{"t":"d","d":{"r":9,"b":{"s":"ok","d":{"auth":{}}}}}"#
        ),
        (
            .reply(9, .json(Array("[1, 2]".utf8))),
            #"{"t":"d","d":{"r":9,"b":{"s":"ok","d":[1, 2]}}}"#
        ),
        (
            .securityDebug("line\n\u{1}é\\"),
            #"{"t":"d","d":{"a":"sd","b":{"msg":"line\n\u0001é\\"}}}"#
        ),
        (
            .put(try target("a/é\"\\"), Node(string: "\u{1F600}\t"), tag: nil),
            #"{"t":"d","d":{"a":"d","b":{"p":"a/é\"\\","d":"😀\t"}}}"#
        ),
    ]
    for (message, expected) in rows { #expect(encoded(message) == expected) }
}

@Test("every status has the spelling of the wire")
func statuses() {
    let all: [Status] = [
        .ok, .permissionDenied, .dataStale, .invalidToken, .expiredToken, .tooBig, .unavailable,
        .failed, .error,
    ]
    #expect(
        all.map(\.rawValue) == [
            "ok", "permission_denied", "datastale", "invalid_token", "expired_token", "too_big",
            "unavailable", "failed", "error",
        ]
    )
}

@Test("a message is never a keep-alive, a count or white space")
func neverACount() throws {
    let messages: [ServerMessage] = [
        .pong, .shutdown(""), .reset(host: ""), .reply(0, .ok), .reply(0, .value(.absent)),
        .put(WriteTarget(path: .root), .absent, tag: nil), .securityDebug(""),
        .cancel(ListenTarget(path: .root)), .authRevoked(.ok, ""),
    ]
    for message in messages {
        let bytes = message.encoded()
        #expect(bytes.first == UInt8(ascii: "{"))
        #expect(bytes.last == UInt8(ascii: "}"))
    }
}
