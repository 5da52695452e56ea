import ArgumentParser
import RulesTools
import Testing

@testable import Commands

@Suite("A line with a caret")
struct ExcerptTests {
    @Test(
        "has the caret below its place, whatever a terminal makes of the line",
        arguments: [
            ("abc", 1, "abc", 0), ("abc", 4, "abc", 3), ("abc", 9, "abc", 8), ("", 1, "", 0),
            ("\ta\rb", 3, " a b", 2),
            ("\u{202E}a\u{9B}b", 4, "\u{FFFD}a\u{FFFD}b", 3),
            ("e\u{301}x", 3, "e\u{301}x", 1), ("漢字x", 3, "漢字x", 4), ("😀x", 2, "😀x", 2),
            ("\u{3000}x", 2, " x", 1), ("\u{2028}x", 2, "\u{FFFD}x", 1),
        ]
    )
    func caret(line: String, column: Int, shown: String, indent: Int) {
        let text = Excerpt.text(of: line.unicodeScalars, column: column)
        let caret = String(repeating: " ", count: 4 + indent) + "^"
        #expect(text == "    \(shown)\n\(caret)")
    }

    @Test("is a window of a long line")
    func window() {
        let line = String(repeating: "a", count: 500) + "x" + String(repeating: "b", count: 500)
        let text = Excerpt.text(of: line.unicodeScalars, column: 501)
        let shown = String(repeating: "a", count: 60) + "x" + String(repeating: "b", count: 39)
        #expect(text == "    \(shown)\n" + String(repeating: " ", count: 64) + "^")
    }
}

@Suite("What follows requests")
struct RequestFollowerTests {
    private func list(_ requests: (id: Int, time: Int)...) throws -> RecordedRequest.List {
        let texts = requests.reversed().map { request in
            #"{"id":\#(request.id),"time":\#(request.time),"operation":"read","protocol":"rest","path":"/a","#
                + #""auth":null,"allowed":true,"explanation":"because\nso"}"#
        }
        let body = #"{"inspection":"all","requests":[\#(texts.joined(separator: ",\n"))]}"#
        return try #require(RecordedRequest.List(Array(body.utf8)))
    }

    private func ids(_ text: String) -> [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("#") }.map {
            String($0.prefix { $0 != " " })
        }
    }

    @Test("shows each once, the oldest first, and asks for the last one again")
    func order() throws {
        var follower = RequestFollower(try RulesRequestsCommand.parse(["--limit", "5"]))
        #expect(follower.parameters.map(\.value) == ["5"])
        let (text, isUrgent) = follower.take(try list((7, 10), (8, 11)))
        #expect(ids(text) == ["#7", "#8"] && !isUrgent)
        #expect(
            text.hasPrefix(
                "#7 1970-01-01T00:00:00.010Z allowed read /a by a signed-out caller over rest\n    because\n    so\n\n"
            )
        )
        #expect(follower.parameters.map(\.value) == ["1000", "7"])
        #expect(ids(follower.take(try list((8, 11))).text).isEmpty)
        #expect(ids(follower.take(try list((8, 11), (9, 11), (10, 12))).text) == ["#9", "#10"])
    }

    @Test("goes on by time when numbers begin anew", arguments: [true, false])
    func restart(isNoticed: Bool) throws {
        var follower = RequestFollower(try RulesRequestsCommand.parse([]))
        _ = follower.take(try list((7, 10), (8, 11)))
        if isNoticed {
            follower.forget()
        } else {
            // Another request bears the number, or none does.
            let (text, isUrgent) = follower.take(try list((8, 30)))
            #expect(text.isEmpty && isUrgent)
        }
        #expect(follower.parameters.map(\.name) == ["limit"])
        #expect(ids(follower.take(try list((1, 11), (2, 20), (8, 30))).text) == ["#2", "#8"])
        #expect(follower.parameters.map(\.value) == ["1000", "7"])
    }

    @Test(
        "takes no other answer for a list",
        arguments: ["", "null", "{}", "[]", #"{"requests":[{}]}"#]
    )
    func bad(body: String) {
        #expect(RecordedRequest.List(Array(body.utf8)) == nil)
    }
}
