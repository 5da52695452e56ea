import ChatScreen
import Foundation
import Terminal
import Testing

@Suite("chosen messages, and the actions on them")
struct MessageTests {
    private let c1 = ThreadID.direct("c1")
    private let up = Key.control("p")

    /// A chat with a message of Bea's, two of Ann's, and one more of Bea's.
    private func play(rows: Int = 16) -> Play {
        var play = Play(columns: 60, rows: rows)
        play.press(.enter)
        for (text, by, minute) in [
            ("one", "u-bea", 1.0), ("two", "u-ann", 2), ("three", "u-ann", 3), ("four", "u-bea", 4),
        ] {
            play.tell(.entry(c1, Play.said(text, by, minute: minute, key: text)))
        }
        play.tell(.caughtUp(c1, isComplete: true))
        _ = play.asked()
        return play
    }

    @Test("typed text answers the chosen message")
    func answers() {
        var play = play()
        play.press(up, up)
        #expect(play.lines.contains { $0.contains("Enter answers it") })
        play.type("me too")
        _ = play.asked()
        play.press(.enter)
        #expect(
            play.asked() == [
                .typing(c1, false), .send(c1, "me too", number: 1, answering: "three"),
            ]
        )
        #expect(play.text.contains("  ↳ ann: three\n  me too …"))
        play.type("and this")
        _ = play.asked()
        play.press(.enter)
        #expect(play.asked() == [.typing(c1, false), .send(c1, "and this", number: 2)])
        // What was refused is sent again as the same answer.
        play.tell(.refused(c1, number: 1, why: "no"))
        play.press(.control("r"))
        #expect(play.asked() == [.send(c1, "me too", number: 1, answering: "three")])
    }

    @Test("escape chooses none, and then goes to the list")
    func escapes() {
        var play = play()
        play.press(up, .escape)
        #expect(!play.text.contains("Enter answers it"))
        #expect(play.screen.openThread == c1)
        play.press(up, .control("n"))
        #expect(!play.text.contains("Enter answers it"))
        play.press(.escape)
        #expect(play.screen.openThread == nil)
    }

    static let commands: [(chosen: Int, line: String, asked: [Request])] = [
        (0, "/edit 3", [.edit(.direct("c1"), key: "three", "3")]),
        (0, "/unsend", [.unsend(.direct("c1"), key: "three")]),
        (0, "/flag", [.flag(.direct("c1"), key: "four", true)]),
        (0, "/unflag", [.flag(.direct("c1"), key: "four", false)]),
        (
            0, "/reply yes",
            [
                .typing(.direct("c1"), false),
                .send(.direct("c1"), "yes", number: 1, answering: "four"),
            ]
        ),
        (3, "/edit 2", [.edit(.direct("c1"), key: "two", "2")]),
        (3, "/unsend", [.unsend(.direct("c1"), key: "two")]),
        (4, "/flag", [.flag(.direct("c1"), key: "one", true)]),
        (
            4, "/reply no",
            [
                .typing(.direct("c1"), false),
                .send(.direct("c1"), "no", number: 1, answering: "one"),
            ]
        ),
        (0, "/edit", []), (0, "/bell", []),
    ]

    @Test("commands are for the chosen message, or for the latest one", arguments: commands)
    func runs(chosen: Int, line: String, asked: [Request]) {
        var play = play()
        for _ in 0..<chosen { play.press(up) }
        play.type(line)
        _ = play.asked()
        play.press(.enter)
        #expect(play.asked() == asked)
        if line == "/edit" { #expect(play.lines.last == "> /edit three") }
    }

    @Test("what is on its way is changed, and what waits to be sent leaves the one before as it is")
    func changesTheLatest() {
        var play = play()
        play.type("five")
        play.press(.enter)
        play.type("/edit 5")
        _ = play.asked()
        play.press(.enter)
        #expect(play.asked().isEmpty)
        #expect(play.text.contains("your latest message waits to be sent"))
        #expect(play.lines.last == "> /edit 5")
        // Observers have it before the server has answered.
        play.tell(.entry(c1, Play.said("five", "u-ann", minute: 5, key: "five")))
        #expect(play.text.contains("  five …"))
        play.press(.enter)
        #expect(play.asked() == [.edit(c1, key: "five", "5")])
        play.press(up)
        #expect(play.text.contains("Enter answers it"))
        play.type("/unsend")
        _ = play.asked()
        play.press(.enter)
        #expect(play.asked() == [.unsend(c1, key: "five")])
    }

    @Test("the chosen message is in sight")
    func scrolls() {
        var play = play(rows: 8)
        for number in 5..<40 {
            play.tell(
                .entry(c1, Play.said("line \(number)", minute: Double(number), key: "\(number)"))
            )
        }
        for number in (10..<40).reversed() {
            play.press(up)
            #expect(play.text.contains("line \(number)"))
        }
        for _ in 10..<40 { play.press(.control("n")) }
        #expect(play.text.contains("line 39"))
    }

    @Test("what was changed, deleted, answered and seen is shown")
    func marks() {
        var play = play(rows: 20)
        let minute = Play.noon.addingTimeInterval(2 * 60)
        play.tell(
            .entry(c1, Entry(key: "two", at: minute, by: "u-ann", body: .said("2"), isEdited: true))
        )
        play.tell(.entry(c1, Entry(key: "four", at: minute, by: "u-bea", body: .deleted)))
        let later = Play.noon.addingTimeInterval(9 * 60)
        play.tell(
            .entry(
                c1,
                Entry(key: "five", at: later, by: "u-bea", body: .said("5"), replyTo: "gone")
            )
        )
        play.tell(.read(c1, ["u-bea": "two", "u-ann": "five"]))
        #expect(!play.text.contains("seen"))
        play.tell(.read(c1, ["u-bea": "five"]))
        #expect(play.lines.contains("  2 (edited)"))
        #expect(play.lines.contains("  message deleted"))
        #expect(play.text.contains("  ↳ an earlier message\n  5"))
        #expect(play.text.contains("  three\n  ✓ seen\n"))
    }

    @Test("something new is heard, where it is wanted")
    func rings() {
        func row(_ unread: Int) -> ThreadRow {
            ThreadRow(id: c1, title: "Bea", lastText: "", lastAt: Play.noon, unread: unread)
        }
        var play = Play(columns: 60, rows: 9, nil)
        play.tell(.threads([row(3)], now: Play.noon))
        #expect(play.asked().isEmpty, "it was there before")
        play.tell(.threads([row(4)], now: Play.noon))
        #expect(play.asked() == [.ring])
        play.tell(.threads([row(4)], now: Play.noon))
        play.tell(.threads([row(0)], now: Play.noon))
        #expect(play.asked().isEmpty)
        play.press(.enter)
        play.type("/bell")
        play.press(.enter)
        _ = play.asked()
        play.tell(.threads([row(1)], now: Play.noon))
        #expect(play.asked().isEmpty)
        #expect(play.text.contains("new messages are not heard"))
    }

    @Test("whom one follows is there to be chosen from")
    func picks() {
        var play = Play(columns: 60, rows: 9)
        play.tell(
            .acquaintances([
                Acquaintance(username: "ada", name: "Ada Byron"),
                Acquaintance(username: "bea", name: "bea"),
                Acquaintance(username: "cid", name: "Cid Bear"),
            ])
        )
        play.press(.character("n"))
        #expect(Array(play.lines[1...3]) == ["  ada  Ada Byron", "  bea", "  cid  Cid Bear"])
        play.type("Be")
        #expect(Array(play.lines[1...3]) == ["  bea", "  cid  Cid Bear", ""])
        play.press(.down, .down, .down, .enter)
        #expect(play.asked() == [.startChat(with: "cid")])
        // The typed text counts, unless a person was chosen.
        play.press(.character("n"))
        play.type("be")
        play.press(.enter)
        #expect(play.asked() == [.startChat(with: "be")])
        play.press(.character("n"))
        play.type("zoe")
        #expect(play.text.contains("No one whom you follow has this name."))
        play.press(.down, .enter)
        #expect(play.asked() == [.startChat(with: "zoe")])
    }

    @Test("addresses are links, also where a line ends within one")
    func links() {
        var play = Play(columns: 30, rows: 12)
        play.press(.enter)
        let address = "https://example.com/a/long/way/to/go"
        play.tell(.entry(c1, Play.said("look: \(address), or ask +43 1 234 5678", minute: 1)))
        play.tell(.caughtUp(c1, isComplete: true))
        let pieces = play.screen.frame().lines.flatMap(\.pieces)
        let links = pieces.filter { $0.style.link == address }
        #expect(links.count == 2 && links.map(\.text).joined() == address)
        #expect(links.count(where: { $0.style.isUnderlined }) == 2)
        let numbers = pieces.filter { $0.style.link == "tel:+4312345678" }.map(\.text)
        #expect(numbers.joined(separator: " ") == "+43 1 234 5678")
    }
}
