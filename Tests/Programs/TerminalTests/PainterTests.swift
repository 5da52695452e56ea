import Testing

@testable import Terminal

@Suite("painting a screen")
struct PainterTests {
    private let size = Size(columns: 6, rows: 3)

    private func frame(_ lines: [Line], _ cursor: Frame.CursorPosition? = nil) -> Frame {
        Frame(size: size, lines: lines, cursor: cursor)
    }

    @Test("draws all at first, then what has changed, then nothing")
    func differences() {
        var painter = Painter(hasColors: true)
        let cursor = Frame.CursorPosition(row: 2, column: 1)
        let first = painter.paint(frame([Line("one"), Line(), Line("two")], cursor))
        #expect(
            first == "\u{1B}[?25l\u{1B}[0m\u{1B}[2J\u{1B}[1;1H\u{1B}[2Kone"
                + "\u{1B}[3;1H\u{1B}[2Ktwo\u{1B}[3;2H\u{1B}[?25h"
        )
        #expect(painter.paint(frame([Line("one"), Line(), Line("two")], cursor)) == "")
        #expect(
            painter.paint(frame([Line("one"), Line("new"), Line("two")], cursor))
                == "\u{1B}[?25l\u{1B}[2;1H\u{1B}[2Knew\u{1B}[3;2H\u{1B}[?25h"
        )
        let moved = Frame.CursorPosition(row: 0, column: 0)
        #expect(
            painter.paint(frame([Line("one"), Line("new"), Line("two")], moved))
                == "\u{1B}[1;1H\u{1B}[?25h"
        )
        #expect(
            painter.paint(frame([Line("one"), Line("new")]))
                == "\u{1B}[?25l\u{1B}[3;1H\u{1B}[2K"
        )
    }

    @Test("draws all anew in another size, and on request")
    func resized() {
        var painter = Painter(hasColors: true)
        _ = painter.paint(frame([Line("one")]))
        let larger = Frame(size: Size(columns: 7, rows: 3), lines: [Line("one")], cursor: nil)
        #expect(painter.paint(larger).contains("\u{1B}[2J\u{1B}[1;1H\u{1B}[2Kone"))
        painter.forget()
        #expect(painter.paint(larger).contains("\u{1B}[2J\u{1B}[1;1H\u{1B}[2Kone"))
    }

    @Test("cuts lines that are too long, and leaves out those below the last row")
    func cut() {
        var painter = Painter(hasColors: true)
        let text = painter.paint(frame(["too long a line", "b", "c", "d"].map { Line($0) }))
        #expect(text.contains("too l…"))
        #expect(!text.contains("too lo"))
        #expect(!text.contains("d"))
    }

    @Test("shows styles, and no colours where none are wanted", arguments: [true, false])
    func styles(hasColors: Bool) {
        var painter = Painter(hasColors: hasColors)
        let style = Look(isBold: true, isReversed: true, color: .cyan)
        let text = painter.paint(frame([Line("a", style), Line("b", Look(color: .red))]))
        #expect(text.contains(hasColors ? "\u{1B}[1;7;36ma\u{1B}[0m" : "\u{1B}[1;7ma\u{1B}[0m"))
        #expect(text.contains("\u{1B}[31mb") == hasColors)
    }

    @Test("makes foreign text harmless")
    func harmless() {
        let line = Line("a\u{1B}[2Jb\nc\u{202E}\u{9B}")
        #expect(line.text == #"a\u001b[2Jb c\u202e\u009b"#)
        #expect(line.width == line.text.count)
    }

    @Test(
        "fits a line to its columns",
        arguments: [
            ("ab", 4, "ab  "), ("abcd", 4, "abcd"), ("abcde", 4, "abc…"), ("日本語", 4, "日… "),
        ]
    )
    func fitted(text: String, columns: Int, expected: String) {
        var line = Line(String(text.prefix(1)), .bold)
        line.append(String(text.dropFirst()))
        #expect(line.fitted(to: columns).text == expected)
        #expect(line.fitted(to: columns).width == columns)
    }

    @Test(
        "is for terminals that can move their cursor",
        arguments: [
            (true, ["TERM": "xterm"], true, true), (true, ["TERM": "dumb"], false, false),
            (true, [:], false, false), (false, ["TERM": "xterm"], false, false),
            (true, ["TERM": "xterm", "NO_COLOR": "1"], true, false),
            (true, ["TERM": "xterm", "NO_COLOR": ""], true, true),
        ]
    )
    func features(
        isTerminal: Bool,
        environment: [String: String],
        canDraw: Bool,
        hasColors: Bool
    ) {
        let features = TerminalFeatures(isTerminal: isTerminal, environment: environment)
        #expect(features.canDraw == canDraw)
        #expect(features.hasColors == hasColors)
    }

    @Test("writes links that can be clicked where they are wanted, and nothing that ends one early")
    func links() {
        let plain = Line("see", Look(link: "https://example.com/"))
        let sly = Line("see", Look(link: "https://example.com/\u{1B}\\\u{7}"))
        for (line, hasLinks, isLink) in [
            (plain, true, true), (plain, false, false), (sly, true, false),
        ] {
            var painter = Painter(hasColors: true, hasLinks: hasLinks)
            let text = painter.paint(frame([line]))
            let link = "\u{1B}]8;;https://example.com/\u{1B}\\see\u{1B}]8;;\u{1B}\\"
            #expect(text.contains(link) == isLink)
            #expect(text.contains("]8;;") == isLink)
        }
    }

    @Test("the console of Linux, which shows what it does not know, gets no links")
    func features() {
        for (name, hasLinks) in [("xterm-256color", true), ("linux", false), ("dumb", false)] {
            let features = TerminalFeatures(isTerminal: true, environment: ["TERM": name])
            #expect(features.hasLinks == hasLinks)
        }
    }
}
