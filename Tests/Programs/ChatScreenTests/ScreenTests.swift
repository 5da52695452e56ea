import ChatScreen
import Foundation
import Terminal
import Testing

@Suite("what the chat does")
struct ScreenTests {
    private let c1 = ThreadID.direct("c1")

    @Test("opening another thread closes the one that is open, and keeps what was typed in it")
    func drafts() {
        var play = Play(columns: 80, rows: 12)
        play.press(.enter)
        #expect(play.asked() == [.open(c1)])
        play.type("ab")
        #expect(play.asked() == [.typing(c1, true), .typing(c1, true)])
        play.press(.escape, .down, .enter)
        #expect(play.asked() == [.typing(c1, false), .close(c1), .open(.room("r1"))])
        #expect(play.lines.last == ">")
        play.press(.escape, .up, .enter)
        #expect(play.lines.last == "> ab")
    }

    @Test("a message is marked as read once, when it is in sight")
    func read() {
        var play = Play(columns: 80, rows: 8)
        play.press(.enter)
        _ = play.asked()
        let first = Play.said("1", minute: 0)
        play.tell(.entry(c1, first))
        #expect(play.asked().isEmpty, "nothing is known to be the newest yet")
        play.tell(.caughtUp(c1, isComplete: true))
        #expect(play.asked() == [.markRead(c1, upTo: first)])
        play.tell(.entry(c1, first))
        #expect(play.asked().isEmpty)
        for minute in 1...9 {
            play.tell(.entry(c1, Play.said("\(minute)", minute: Double(minute * 10))))
        }
        _ = play.asked()
        play.press(.pageUp)
        let last = Play.said("last", minute: 200)
        play.tell(.entry(c1, last))
        #expect(play.asked().isEmpty, "it is below the lines in sight")
        play.press(.pageDown, .pageDown)
        #expect(play.asked() == [.markRead(c1, upTo: last)])
        let own = Entry(
            key: "z",
            at: Play.noon.addingTimeInterval(99_999),
            by: "u-ann",
            body: .went("u-ann")
        )
        play.tell(.entry(c1, own))
        #expect(play.asked().isEmpty, "a user who has gone marks nothing")
    }

    @Test("the lines in sight stay when others come below or above")
    func place() {
        var play = Play(columns: 60, rows: 9)
        play.press(.enter)
        for minute in 100..<130 {
            play.tell(.entry(c1, Play.said("message \(minute)", minute: Double(minute))))
        }
        play.tell(.caughtUp(c1, isComplete: false))
        _ = play.asked()
        #expect(play.text.contains("message 129"))
        play.press(.pageUp)
        let sight = Array(play.lines[1...6])
        play.tell(.entry(c1, Play.said("new", minute: 131)))
        #expect(Array(play.lines[1...6]) == sight)
        play.tell(.older(c1, [Play.said("old", minute: 1)], isComplete: false))
        #expect(Array(play.lines[1...6]) == sight)
        #expect(play.lines[7].contains("newer ones below"))
    }

    @Test("earlier messages are requested at the top, one page at a time, until all are there")
    func older() {
        var play = Play(columns: 60, rows: 9)
        play.press(.enter)
        let entries = (100..<110).map { Play.said("message \($0)", minute: Double($0)) }
        for entry in entries { play.tell(.entry(c1, entry)) }
        play.tell(.caughtUp(c1, isComplete: false))
        _ = play.asked()
        for _ in 1...9 { play.press(.pageUp) }
        #expect(play.asked() == [.loadOlder(c1, before: entries[0])])
        #expect(play.text.contains("loading …"))
        let older = Play.said("message 1", minute: 1)
        play.tell(.older(c1, [older], isComplete: false))
        for _ in 1...9 { play.press(.up) }
        #expect(play.asked() == [.loadOlder(c1, before: older)])
        play.tell(.olderFailed(c1))
        play.press(.up)
        #expect(play.asked() == [.loadOlder(c1, before: older)])
        play.tell(.older(c1, [], isComplete: true))
        play.press(.up, .pageUp)
        #expect(play.asked().isEmpty)
        #expect(play.text.contains("the beginning"))
    }

    static let one = Event.entry(.direct("c1"), Play.said("one", minute: 1))
    static let two = Event.entry(.direct("c1"), Play.said("two", "u-ann", minute: 2, key: "own"))
    static let whole = Event.caughtUp(.direct("c1"), isComplete: true)
    static let late = Event.loadingLasts(.direct("c1"))
    static let openings: [([Event], isLoading: Bool, entries: [String])] = [
        ([], true, []), ([one], true, []), ([one, two], true, []), ([late], true, []),
        ([two, one, whole], false, ["one", "two"]), ([whole], false, []),
        ([two, late], true, ["two"]), ([late, two, one], true, ["one", "two"]),
        ([two, late, one, whole], false, ["one", "two"]),
        ([whole, late, one], false, ["one"]),
        ([one, .loadingLasts(.room("r1"))], true, []),
    ]

    @Test("a thread is seen as a whole, or as what there is if loading lasts", arguments: openings)
    func opening(events: [Event], isLoading: Bool, entries: [String]) {
        var play = Play(columns: 60, rows: 20)
        play.press(.enter)
        for event in events { play.tell(event) }
        #expect(play.lines.contains { $0.contains("loading …") } == isLoading)
        #expect(
            play.lines.filter { $0.hasPrefix("  ") }.compactMap { line in
                let text = line.drop { $0 == " " }
                return ["one", "two"].first { text == $0 }
            } == entries
        )
    }

    @Test("a message that comes while a thread is loading is seen, once")
    func saidEarly() {
        var play = Play(columns: 60, rows: 20)
        play.press(.enter)
        play.type("two")
        play.press(.enter)
        #expect(play.lines.filter { $0.hasPrefix("  two") } == ["  two …"])
        play.tell(Self.two)
        #expect(play.lines.filter { $0.hasPrefix("  two") } == ["  two …"])
        play.tell(Self.whole)
        #expect(play.lines.filter { $0.hasPrefix("  two") } == ["  two …"])
        play.tell(.sent(c1, number: 1))
        #expect(play.lines.filter { $0.hasPrefix("  two") } == ["  two"])
    }

    @Test("entries stand in the order of their times, however they come")
    func order() {
        for entries in [[1, 2, 3], [3, 2, 1], [2, 3, 1], [3, 1, 2]] {
            var play = Play(columns: 60, rows: 20)
            play.press(.enter)
            for minute in entries {
                play.tell(.entry(c1, Play.said("m\(minute)", minute: Double(minute))))
            }
            play.tell(.caughtUp(c1, isComplete: true))
            let found = play.lines.filter { $0.hasPrefix("  m") }
            #expect(found == ["  m1", "  m2", "  m3"])
        }
    }

    @Test("an entry whose time becomes known goes to its place")
    func moved() {
        var play = Play(columns: 60, rows: 20)
        play.press(.enter)
        play.tell(.entry(c1, Play.said("own", "u-ann", minute: 90, key: "x")))
        play.tell(.entry(c1, Play.said("other", minute: 5)))
        play.tell(.entry(c1, Play.said("own", "u-ann", minute: 1, key: "x")))
        play.tell(.caughtUp(c1, isComplete: true))
        #expect(play.lines.filter { $0.hasPrefix("  o") } == ["  own", "  other"])
    }

    @Test("things of a thread that is not open change nothing")
    func strays() {
        var play = Play(columns: 60, rows: 12)
        play.press(.enter)
        let before = play.text
        let other = ThreadID.room("r1")
        play.tell(.entry(other, Play.said("x", minute: 0)))
        play.tell(.typing(other, ["u-bea"]))
        play.tell(.caughtUp(other, isComplete: true))
        play.tell(.attendance(other, .online))
        play.tell(.lost(other, why: "gone"))
        #expect(play.text == before)
    }

    @Test("a thread that is lost is closed, and why is said")
    func lost() {
        var play = Play(columns: 60, rows: 12)
        play.press(.enter)
        play.type("x")
        _ = play.asked()
        play.tell(.lost(c1, why: "you were put out"))
        #expect(play.asked() == [.typing(c1, false), .close(c1)])
        #expect(play.text.contains("you were put out"))
        play.tell(.threads([Play.lunch], now: Play.noon))
        play.press(.enter)
        #expect(play.asked() == [.open(.room("r1"))])
    }

    static let questions: [(Key, Request)] = [
        (.character("n"), .startChat(with: "bea")), (.character("r"), .makeRoom("bea")),
        (.character("o"), .joinRoom("bea")),
    ]

    @Test("the answers to questions at the foot become requests", arguments: questions)
    func prompts(key: Key, request: Request) {
        var play = Play(columns: 60, rows: 12)
        play.press(key)
        play.type(" bea ")
        play.press(.enter)
        #expect(play.asked() == [request])
        play.press(key, .enter)
        play.press(key, .character("x"), .escape)
        #expect(play.asked().isEmpty)
        #expect(play.screen.frame().cursor == nil)
    }

    @Test("a first message to a person without a chat starts the chat")
    func person() {
        var play = Play(columns: 60, rows: 12)
        let person = ThreadID.person("u-dan")
        let row = ThreadRow(id: person, title: "Dan", lastText: "", lastAt: Play.noon, unread: 0)
        play.tell(.start(row))
        #expect(play.lines[0].contains("Dan"))
        play.tell(.caughtUp(person, isComplete: true))
        play.type("hi")
        play.press(.enter)
        _ = play.asked()
        let chat = ThreadRow(
            id: .direct("c9"),
            title: "Dan",
            lastText: "",
            lastAt: Play.noon,
            unread: 0
        )
        play.tell(.start(chat))
        play.tell(.sent(person, number: 1))
        #expect(play.asked() == [.close(person), .open(.direct("c9"))])
        #expect(play.lines[0].contains("Dan"))
    }

    @Test("something refused in a thread that is not open waits there")
    func refusedElsewhere() {
        var play = Play(columns: 60, rows: 12)
        play.press(.enter)
        play.type("lost")
        play.press(.enter, .escape, .down, .enter)
        play.tell(.refused(c1, number: 1, why: "no"))
        #expect(play.text.contains("was not sent"))
        play.press(.escape, .up, .enter)
        #expect(play.text.contains("✗ not sent: no"))
    }

    @Test(
        "keys that end it",
        arguments: [
            [Key.character("q")], [.control("c")], [.control("d")], [.enter, .control("c")],
            [.enter, .control("d")],
        ]
    )
    func quit(keys: [Key]) {
        var play = Play(columns: 60, rows: 12)
        for key in keys { play.press(key) }
        #expect(play.requests.last == .quit)
    }

    @Test(
        "lines that are commands, and those that are not",
        arguments: [
            ("hello", Command.Reading.text("hello")), ("//x", .text("/x")),
            ("/help", .command(.help)), ("/invite  bea ", .command(.invite("bea"))),
            ("/rename New name", .command(.rename("New name"))),
            ("/role bea admin", .command(.role("bea", "admin"))), ("/role bea", .wrong("")),
            ("/invite", .wrong("")), ("/nothing", .wrong("")), ("/", .wrong("")),
            ("/members", .command(.members)), ("/rename", .wrong("")),
        ]
    )
    func commands(line: String, expected: Command.Reading) {
        let reading = Command.read(line)
        if case .wrong = expected {
            guard case .wrong = reading else {
                Issue.record("\(line) is \(reading)")
                return
            }
        } else {
            #expect(reading == expected)
        }
    }

    @Test("editing moves in the line and changes it")
    func editing() {
        var play = Play(columns: 60, rows: 12)
        play.press(.enter)
        play.type("one two")
        play.press(.home, .character(">"), .end, .control("w"), .character("!"))
        #expect(play.lines.last == "> >one !")
        play.press(.left, .left, .backspace, .delete, .character("é"))
        #expect(play.lines.last == "> >oné!")
        play.press(.control("k"), .control("a"), .delete)
        #expect(play.lines.last == "> oné")
        // An accent joins the character before it.
        play.press(.end, .character("e"), .character("\u{301}"), .backspace)
        #expect(play.lines.last == "> oné")
        play.press(.paste("a\nb"), .control("u"), .paste("x\ny"))
        #expect(play.lines.last == "> x⏎y")
        _ = play.asked()
        play.press(.enter)
        #expect(play.asked() == [.typing(c1, false), .send(c1, "x\ny", number: 1)])
        play.type("   ")
        _ = play.asked()
        play.press(.enter)
        #expect(play.asked().isEmpty, "blanks alone are nothing to say")
    }
}
