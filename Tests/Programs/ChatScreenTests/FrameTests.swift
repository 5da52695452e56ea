import ChatScreen
import Foundation
import Terminal
import Testing

@Suite("what the chat looks like")
struct FrameTests {
    @Test("on a wide terminal the list stands beside the thread")
    func wide() {
        var play = Play(columns: 76, rows: 14)
        play.press(.enter)
        play.tell(.entry(.direct("c1"), Play.said("hello", minute: -1500)))
        play.tell(.entry(.direct("c1"), Play.said("who is there?", minute: -1499)))
        play.tell(.entry(.direct("c1"), Play.said("me", "u-ann", minute: -2)))
        play.tell(.entry(.direct("c1"), Play.said("see you", "u-ann", minute: 0)))
        play.tell(.caughtUp(.direct("c1"), isComplete: true))
        play.tell(.attendance(.direct("c1"), .online))
        play.type("well")
        #expect(
            play.text == """
                 ann │ Bea  ● here                                                 ● online
                ▌ Bea              12:00 │                   the beginning
                ▌ You: see you           │
                 #Lunch            11:59 │                  ── Yesterday ──
                  soup?               2  │ bea  11:00
                  Cid             27 Feb │   hello
                  long ago          99+  │   who is there?
                                         │
                                         │                    ── Today ──
                                         │ ann  11:58
                                         │   me
                                         │   see you
                 Enter send · Esc list · page up older · F1 help
                > well
                """
        )
        #expect(play.screen.frame().cursor == Frame.CursorPosition(row: 13, column: 6))
    }

    @Test("on a narrow terminal there is one of them")
    func narrow() {
        var play = Play(columns: 40, rows: 12)
        #expect(
            play.text == """
                 ann │ chats                   ● online
                  Bea                             12:00
                  You: see you
                 #Lunch                           11:59
                  soup?                              2
                  Cid                            27 Feb
                  long ago                         99+



                 Enter open · n new · ? help · q quit

                """
        )
        play.press(.down, .enter)
        let room = ThreadID.room("r1")
        play.tell(.entry(room, Entry(key: "a", at: Play.noon, by: "u-ann", body: .created)))
        play.tell(.entry(room, Entry(key: "b", at: Play.noon, by: "u-ann", body: .came("u-bea"))))
        play.tell(.entry(room, Entry(key: "c", at: Play.noon, by: "u-bea", body: .went("u-bea"))))
        play.tell(.entry(room, Entry(key: "d", at: Play.noon, by: "u-ann", body: .renamed("Food"))))
        let words = "soup or salad, or perhaps both of them?\nor 日本 food"
        play.tell(.entry(room, Play.said(words, "u-cid", minute: 1)))
        play.tell(.caughtUp(room, isComplete: false))
        play.tell(.typing(room, ["u-bea", "u-cid"]))
        #expect(
            play.text == """
                 ann │ Lunch                   ● online
                              ── Today ──
                · ann made this room  12:00
                · ann invited bea  12:00
                · bea left  12:00
                · ann called this room Food  12:00
                cid  12:01
                  soup or salad, or perhaps both of
                  them?
                  or 日本 food
                 bea and cid are typing …
                >
                """
        )
    }

    @Test("nothing is there yet")
    func empty() {
        #expect(Play(columns: 40, rows: 8, nil).text.contains("loading …"))
        #expect(Play(columns: 40, rows: 8, []).text.contains("No chats yet."))
    }

    @Test("a sent message is pending, then there, or refused with the reason")
    func outgoing() {
        var play = Play(columns: 40, rows: 12)
        play.press(.enter)
        play.tell(.caughtUp(.direct("c1"), isComplete: true))
        play.type("one")
        play.press(.enter)
        play.type("two")
        play.press(.enter)
        // Its own observers see the first one before the server has it.
        play.tell(.entry(.direct("c1"), Play.said("one", "u-ann", minute: 0, key: "m1")))
        #expect(play.lines[2...].contains("  one …"))
        #expect(play.lines.count { $0.contains("one") } == 1)
        #expect(play.lines.contains("  two …"))
        #expect(play.screen.unsent.map(\.text) == ["one", "two"])
        #expect(play.screen.unsent.map(\.title) == ["Bea", "Bea"])
        play.tell(.sent(.direct("c1"), number: 1))
        play.tell(.removed(.direct("c1"), key: "m2"))
        play.tell(.refused(.direct("c1"), number: 2, why: "the rules do not allow it"))
        #expect(play.screen.unsent.isEmpty)
        #expect(
            play.text == """
                 ann │ Bea                     ● online
                             the beginning

                              ── Today ──
                ann  12:00
                  one
                  two
                  ✗ not sent: the rules do not allow it


                 ^R send again · ^X forget it
                >
                """
        )
        _ = play.asked()
        play.press(.control("r"))
        #expect(play.asked() == [.send(.direct("c1"), "two", number: 2)])
        #expect(play.lines.contains("  two …"))
        play.tell(.refused(.direct("c1"), number: 2, why: "no"))
        play.press(.control("x"))
        #expect(!play.text.contains("two"))
    }

    @Test("foreign text moves no cursor")
    func hostile() {
        var play = Play(columns: 60, rows: 10)
        play.press(.enter)
        play.tell(.entry(.direct("c1"), Play.said("a\u{1B}[2Jb\u{9B}c\u{202E}d", minute: 0)))
        play.tell(.caughtUp(.direct("c1"), isComplete: true))
        play.tell(.names(["u-bea": "b\u{7}ea\n"]))
        play.tell(.notice("\u{1B}]0;title\u{7}"))
        let bytes = play.screen.frame().lines.map(\.text).joined()
        #expect(bytes.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        #expect(bytes.contains(#"a\u001b[2Jb\u009bc\u202ed"#))
    }

    @Test(
        "no line is wider than the terminal, whatever its size",
        arguments: Array(1...16) + [40, 71, 72, 73, 90]
    )
    func sizes(columns: Int) {
        for rows in [1, 2, 3, 4, 7, 25] {
            var play = Play(columns: 80, rows: 24)
            play.press(.enter)
            for minute in 0..<30 {
                play.tell(.entry(.direct("c1"), Play.said("日本語 \(minute)", minute: Double(minute))))
            }
            play.tell(.caughtUp(.direct("c1"), isComplete: false))
            play.type("a line that is longer than many a terminal is wide, 日本語")
            play.press(.pageUp)
            for key in [Key.f1, .f1, .escape, .f1] {
                play.tell(.resized(Size(columns: columns, rows: rows)))
                let frame = play.screen.frame()
                #expect(frame.lines.count == rows)
                #expect(frame.lines.allSatisfy { $0.width <= columns })
                if let cursor = frame.cursor {
                    #expect(cursor.row == rows - 1)
                    #expect(cursor.column < columns)
                }
                play.press(key)
            }
        }
    }
}
