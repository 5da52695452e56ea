import EventProtocol
import JSONTree
import TestSupport
import Testing

/// A frame and what becomes of it.
struct FrameCase: Decodable, Sendable, CustomTestStringConvertible {
    let frame: String
    let means: String

    var testDescription: String { String(frame.prefix(120)) }
}

let requestCases = spec("requests", of: FrameCase.self)
let refusalCases = spec("refusals", of: FrameCase.self)

@Suite("requests of the plain event protocol")
struct RequestTests {
    @Test("mean what they say", arguments: requestCases)
    func meaning(_ given: FrameCase) {
        #expect(words(Array(given.frame.utf8)) == given.means)
    }

    @Test("are refused with these bytes", arguments: refusalCases)
    func refusal(_ given: FrameCase) {
        #expect(words(Array(given.frame.utf8)) == given.means)
    }

    @Test("are refused when a path or value is too deep, and taken one key higher")
    func depth() {
        for (pathKeys, valueKeys) in [(32, 1), (0, 33), (33, 0)] {
            #expect(setWords(pathKeys, valueKeys).contains(#""error":"too_deep""#))
        }
        for (pathKeys, valueKeys) in [(32, 0), (0, 32), (16, 16)] {
            #expect(setWords(pathKeys, valueKeys).hasPrefix("1 set /"))
        }
    }

    private func setWords(_ pathKeys: Int, _ valueKeys: Int) -> String {
        let path = String(repeating: "/k", count: pathKeys)
        let value =
            String(repeating: #"{"k":"#, count: valueKeys) + "1"
            + String(repeating: "}", count: valueKeys)
        return words(Array(#"{"id":1,"do":"set","path":"\#(path)","value":\#(value)}"#.utf8))
    }

    @Test("push to a place that has room for one key more")
    func pushDepth() {
        func pushWords(_ pathKeys: Int) -> String {
            let path = String(repeating: "/k", count: pathKeys)
            return words(Array(#"{"id":1,"do":"push","path":"\#(path)","value":1}"#.utf8))
        }
        #expect(pushWords(31).hasPrefix("1 push /k"))
        #expect(pushWords(32).contains(#""error":"too_deep""#))
    }

    @Test("with brackets without end are refused, not read to the end of the stack")
    func nesting() {
        let brackets = String(repeating: "[", count: 100_000)
        #expect(words(Array(#"{"id":7,"value":\#(brackets)"#.utf8)).contains(#""id":7,"ok":false"#))
        #expect(words(Array(brackets.utf8)).contains(#""error":"too_deep""#))
    }

    @Test("of 10,001 paths are read whole")
    func manyPaths() throws {
        let paths = (0...10_000).map { #""followers/\#($0)/posts/p":true"# }
        let frame = #"{"value":{\#(paths.joined(separator: ","))},"path":"/","do":"update","id":1}"#
        let request = try EventRequest.parse(Array(frame.utf8), makeKey: pushKey)
        guard case .update(_, let entries) = request.action else {
            Issue.record("not an update: \(request)")
            return
        }
        #expect(entries.count == 10_001)
    }

    @Test("repeat no more than a few bytes of what they are refused for")
    func quoting() {
        let long = String(repeating: "é", count: 5_000)
        for frame in [
            #"{"id":1,"do":"\#(long)"}"#, #"{"id":1,"do":"ping","\#(long)":1}"#,
            #"{"id":1,"do":"get","path":"/.\#(long)"}"#,
            #"{"id":1,"do":"observe","path":"/","events":["\#(long)"]}"#,
            #"{"id":1,"do":"get","path":"/","query":{"\#(long)":1}}"#,
            #"{"id":1,"do":"update","path":"/","value":{"a/\#(long)$":1}}"#,
        ] {
            let reply = words(Array(frame.utf8))
            #expect(reply.contains(#""ok":false"#))
            #expect(reply.utf8.count < 300, "\(reply)")
        }
    }

    @Test("that are no UTF-8 close the connection")
    func encoding() {
        let frame = Array(#"{"id":1,"do":""#.utf8) + [0xFF] + Array(#""}"#.utf8)
        #expect(words(frame).hasPrefix("closes: not JSON"))
    }
}
