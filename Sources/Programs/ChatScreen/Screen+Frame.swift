import Chat
import Foundation
package import Terminal

/// How the screen looks.
///
///     the bar: whose chat it is, the open thread, the connection
///     threads │ the open thread
///     ...     │ ...
///     who is typing, or a notice
///     > what is typed
///
/// On a narrow terminal there is one of the two at a time.
extension Screen {
    /// From this many columns on, the list is beside the thread.
    private static let wideColumns = 72

    var isWide: Bool { size.columns >= Self.wideColumns }

    /// Columns of the list.
    private var listColumns: Int {
        isWide ? min(32, max(24, size.columns / 3)) : size.columns
    }

    /// Columns of the thread.
    private var bodyColumns: Int {
        isWide ? size.columns - listColumns - 2 : size.columns
    }

    /// Rows between the bar and the foot.
    var bodyRows: Int { max(1, size.rows - 3) }

    /// Threads that the list has room for.
    var listRows: Int { max(1, bodyRows / 2) }

    private var isInConversation: Bool {
        switch focus {
        case .conversation: true
        case .help(let isOverConversation): isOverConversation
        case .list, .prompt: false
        }
    }

    /// All lines of a conversation, in the columns that it has.
    func lines(_ conversation: Conversation) -> [Line] { keyedLines(conversation).map(\.line) }

    /// The same, with the entries that they are of.
    func keyedLines(_ conversation: Conversation) -> [ConversationLines.KeyedLine] {
        ConversationLines(
            me: me,
            names: names,
            timeZone: timeZone,
            now: now,
            width: bodyColumns
        ).keyedLines(conversation)
    }

    /// Keeps the scroll position within the content.
    mutating func limitScroll() {
        guard let conversation, conversation.scroll > 0 else { return }
        let top = max(0, lines(conversation).count - bodyRows)
        self.conversation?.scroll = min(conversation.scroll, top)
    }

    /// The screen for the terminal.
    package func frame() -> Frame {
        var lines = [bar()]
        if case .help = focus {
            lines += Self.padded(HelpText.lines, to: bodyRows)
        } else if isWide {
            let left = threadList()
            let right = body()
            let divider = Line("│ ", .dim)
            for row in 0..<bodyRows {
                var line = left[row].fitted(to: listColumns)
                line.append(divider)
                line.append(right[row])
                lines.append(line)
            }
        } else {
            lines += isInConversation ? body() : threadList()
        }
        lines.append(status().fitted(to: size.columns))
        let (foot, cursor) = foot()
        lines.append(foot)
        let position = cursor.map {
            Frame.CursorPosition(row: size.rows - 1, column: min($0, size.columns - 1))
        }
        let shown = lines.suffix(size.rows).map { line in
            line.width > size.columns ? line.fitted(to: size.columns) : line
        }
        return Frame(size: size, lines: shown, cursor: position)
    }

    // MARK: Parts

    private func bar() -> Line {
        let style = Look.reversed
        var right = isConnected ? " ● online " : " ○ no connection, trying … "
        if size.columns < 40 { right = isConnected ? " ● " : " ○ " }
        var line = Line(" \(names[me] ?? "") ", Look(isBold: true, isReversed: true))
        if conversation != nil, isWide || isInConversation {
            line.append("│ \(title)", style)
            line.append(attendance, style)
        } else {
            line.append("│ chats", style)
        }
        var whole = line.fitted(to: max(0, size.columns - TextWidth.columns(right)), style)
        whole.append(right, style)
        return whole
    }

    private var attendance: String {
        switch conversation?.attendance {
        case .online: "  ● here"
        case .away(let date): "  ○ last here \(listed(date))"
        case .unknown, nil: ""
        }
    }

    /// `12:00`, `Yesterday`, `Monday`, `27 Feb`: a list has little room.
    private func listed(_ time: Date) -> String {
        let text = TimeText.listed(time, now: now, timeZone: timeZone)
        let words = text.split(separator: " ")
        return words.count == 3 ? "\(words[0]) \(words[1].prefix(3))" : text
    }

    private func threadList() -> [Line] {
        if focus == .prompt(.startChat) {
            return Self.padded(picker(rows: bodyRows), to: bodyRows)
        }
        guard hasRows else {
            return Self.padded([Line(), Line("  loading …", .dim)], to: bodyRows)
        }
        guard !rows.isEmpty else {
            let lines = [
                Line(), Line("  No chats yet.", .bold), Line(),
                Line("  n  chat with a person"), Line("  r  make a room"),
                Line("  o  join a public room"),
            ]
            return Self.padded(lines, to: bodyRows)
        }
        let index = rows.firstIndex { $0.id == selected } ?? 0
        let first = max(0, min(index - listRows / 2, rows.count - listRows))
        let shown = rows[first..<min(rows.count, first + listRows)]
        return Self.padded(shown.flatMap { lines(of: $0) }, to: bodyRows)
    }

    private func lines(of row: ThreadRow) -> [Line] {
        let isSelected = row.id == selected
        let isOpen = row.id == openThread
        let columns = listColumns - 1
        let time = " \(listed(row.lastAt))"
        let sign =
            switch row.id {
            case .direct: " "
            case .room: "#"
            case .person: " "
            }
        let badge = row.unread > 0 ? " \(UnreadCount.text(row.unread)) " : ""
        let mark = isOpen ? "▌" : " "
        var title = Line("\(mark)\(sign)", isOpen ? Look(color: .green) : .plain)
        title.append(row.title, row.unread > 0 || isOpen ? .bold : .plain)
        var first = title.fitted(to: columns - TextWidth.columns(time))
        first.append(time, .dim)
        var second = Line("\(mark) ", isOpen ? Look(color: .green) : .plain)
        second.append(row.lastText, .dim)
        second = second.fitted(to: columns - TextWidth.columns(badge))
        second.append(badge, Look(isBold: true, isReversed: true, color: .yellow))
        guard isSelected, focus == .list || !isWide else { return [first, second] }
        return [first.styled(.reversed), second.styled(.reversed)]
    }

    private func body() -> [Line] {
        guard let conversation else {
            return Self.padded(
                [Line(), Line("  Choose a chat with ↑ and ↓, Enter opens it.", .dim)],
                to: bodyRows
            )
        }
        let all = lines(conversation)
        let end = max(0, all.count - conversation.scroll)
        let shown = Array(all[max(0, end - bodyRows)..<end])
        // The newest lines are at the bottom, above the input.
        let filling = Array(repeating: Line(), count: bodyRows - shown.count)
        return shown.count < all.count ? filling + shown : Self.padded(shown, to: bodyRows)
    }

    private func status() -> Line {
        if !notice.isEmpty { return Line(" \(notice)", Look(color: .yellow)) }
        switch focus {
        case .prompt(.startChat):
            return Line(" Chat with whom? ↑ ↓ choose, or username or e-mail", .dim)
        case .prompt(.makeRoom): return Line(" What is the room called?", .dim)
        case .prompt(.joinRoom): return Line(" Which public room?", .dim)
        case .help: return Line(" any key goes back", .dim)
        case .list:
            return Line(
                isWide
                    ? " Enter open · n new chat · r new room · o join a room · ? help · q quit"
                    : " Enter open · n new · ? help · q quit",
                .dim
            )
        case .conversation: break
        }
        guard let conversation else { return Line() }
        if conversation.chosen != nil {
            return Line(" Enter answers it · /edit · /unsend · /flag · Esc: none", .dim)
        }
        if conversation.scroll > 0 { return Line(" ↓ newer ones below (page down)", .dim) }
        if !conversation.typing.isEmpty {
            let people = conversation.typing.map { names[$0] ?? "someone" }
            let verb = people.count == 1 ? "is" : "are"
            return Line(" \(DisplayName.list(people)) \(verb) typing …", Look(color: .cyan))
        }
        if conversation.outgoing.contains(where: { $0.state != .pending }) {
            return Line(" ^R send again · ^X forget it", .dim)
        }
        return Line(
            isWide ? " Enter send · Esc list · page up older · F1 help" : " Esc list · F1 help",
            .dim
        )
    }

    private func foot() -> (Line, cursor: Int?) {
        switch focus {
        case .list, .help: return (Line(), nil)
        case .conversation, .prompt:
            let (text, cursor) = input.shown(in: max(1, size.columns - 2))
            var line = Line("> ", Look(isBold: true, color: .green))
            line.append(text)
            return (line, cursor + 2)
        }
    }

    private static func padded(_ lines: [Line], to count: Int) -> [Line] {
        let lines = lines.prefix(count)
        return lines + Array(repeating: Line(), count: count - lines.count)
    }
}
