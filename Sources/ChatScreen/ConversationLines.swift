import Chat
import Foundation
import Terminal

/// The lines of a conversation: a heading for each day, a name for each turn of somebody, and what they said.
struct ConversationLines {
    let me: String
    /// Usernames by account.
    let names: [String: String]
    let timeZone: TimeZone
    /// By the server's clock.
    let now: Date
    let width: Int

    /// Between two texts of one person without a name between them.
    private static let turn: TimeInterval = 5 * 60

    /// All lines, the oldest first.
    func lines(_ conversation: Conversation) -> [Line] {
        var lines: [Line] = [top(conversation)]
        let groups = EventGroup.grouped(
            conversation.isShown ? conversation.entries : [],
            calendar: Calendar(identifier: .gregorian),
            timeZone: timeZone,
            now: now
        )
        for group in groups {
            if group.isFirstOfDay {
                let day = TimeText.day(group.day, now: now, timeZone: timeZone)
                lines += [Line(), centered("── \(day) ──")]
            }
            var last: Entry?
            for entry in group.entries {
                lines += self.lines(entry, after: last, in: conversation)
                last = entry
            }
        }
        let unseen = conversation.isShown ? conversation.unseen : conversation.outgoing
        if !unseen.isEmpty, groups.last?.speaker != me { lines.append(heading(me, nil)) }
        for item in unseen { lines += self.lines(item) }
        return lines
    }

    /// What somebody is called.
    func name(_ uid: String) -> String { names[uid] ?? "somebody" }

    private func top(_ conversation: Conversation) -> Line {
        if conversation.isLoading || !conversation.isCaughtUp { return centered("loading …") }
        if conversation.isComplete {
            return centered(conversation.entries.isEmpty ? "nothing here yet" : "the beginning")
        }
        return centered("page up for what was before")
    }

    private func heading(_ uid: String, _ date: Date?) -> Line {
        var line = Line(name(uid), Look(isBold: true, color: color(uid)))
        if let date { line.append("  \(TimeText.clock(date, timeZone: timeZone))", .dim) }
        return line
    }

    private func centered(_ text: String) -> Line {
        let room = width - TextWidth.columns(text)
        return Line(String(repeating: " ", count: max(0, room / 2)) + text, .dim)
    }

    private func lines(
        _ entry: Entry,
        after last: Entry?,
        in conversation: Conversation
    ) -> [Line] {
        guard let text = entry.text else {
            let time = TimeText.clock(entry.at, timeZone: timeZone)
            return wrapped("· \(note(entry))  \(time)", .dim, indent: 0)
        }
        var lines: [Line] = []
        let goesOn = last.map { entry.at.timeIntervalSince($0.at) < Self.turn } ?? false
        if !goesOn { lines.append(heading(entry.by, entry.at)) }
        let isPending = conversation.isPending(entry)
        lines += wrapped(isPending ? "\(text) …" : text, isPending ? .dim : .plain, indent: 2)
        return lines
    }

    private func lines(_ item: Outgoing) -> [Line] {
        switch item.state {
        case .pending: wrapped("\(item.text) …", .dim, indent: 2)
        case .refused(let why):
            wrapped(item.text, .dim, indent: 2)
                + wrapped("✗ not sent: \(why)", Look(color: .red), indent: 2)
        }
    }

    private func wrapped(_ text: String, _ style: Look, indent: Int) -> [Line] {
        let space = String(repeating: " ", count: indent)
        return text.split(whereSeparator: \.isNewline)
            .flatMap { TextWidth.wrap(Line.harmless(String($0)), to: width - indent) }
            .map { Line(space + $0, style) }
    }

    private func note(_ entry: Entry) -> String {
        let who = name(entry.by)
        switch entry.body {
        case .said(let text): return text
        case .created: return "\(who) made this room"
        case .came(let uid):
            return uid == entry.by ? "\(who) came in" : "\(who) invited \(name(uid))"
        case .went(let uid): return uid == entry.by ? "\(who) left" : "\(who) put \(name(uid)) out"
        case .renamed(let name): return "\(who) called this room \(name)"
        }
    }

    /// The same for the same person in every run.
    private func color(_ uid: String) -> Look.Color {
        if uid == me { return .green }
        let sum = uid.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF }
        let colors: [Look.Color] = [.cyan, .magenta, .yellow, .blue]
        return colors[sum % colors.count]
    }
}
