import Chat
import Foundation
import Terminal

/// The lines of a conversation: a heading for each day, a name for each group of a sender's entries, and their texts.
struct ConversationLines {
    let me: String
    /// Usernames by account.
    let names: [String: String]
    let timeZone: TimeZone
    /// By the server's clock.
    let now: Date
    let width: Int

    /// Between two texts of one person without a name between them.
    private static let groupSpan: TimeInterval = 5 * 60

    /// A line, and the entry that it is of.
    struct KeyedLine {
        let line: Line
        let key: String?
    }

    /// All lines, the oldest first.
    func keyedLines(_ conversation: Conversation) -> [KeyedLine] {
        var lines = [KeyedLine(line: top(conversation), key: nil)]
        func add(_ new: [Line], of key: String? = nil) {
            lines += new.map { KeyedLine(line: $0, key: key) }
        }
        let groups = EventGroup.grouped(
            conversation.isShown ? conversation.entries : [],
            calendar: Calendar(identifier: .gregorian),
            timeZone: timeZone,
            now: now
        )
        let seen = conversation.readers(ofLatestBy: me)
        for group in groups {
            if group.isFirstOfDay {
                let day = TimeText.day(group.day, now: now, timeZone: timeZone)
                add([Line(), centered("── \(day) ──")])
            }
            var last: Entry?
            for entry in group.entries {
                let goesOn =
                    last.map { entry.at.timeIntervalSince($0.at) < Self.groupSpan } ?? false
                if entry.isSaid, !goesOn { add([heading(entry.by, entry.at)]) }
                add(self.lines(entry, in: conversation), of: entry.key)
                if let seen, seen.key == entry.key { add([seenLine(seen.readers, conversation)]) }
                last = entry
            }
        }
        let unseen = conversation.isShown ? conversation.unseen : conversation.outgoing
        if !unseen.isEmpty, groups.last?.speaker != me { add([heading(me, nil)]) }
        for item in unseen { add(self.lines(item, in: conversation)) }
        return lines
    }

    /// The displayed name of a person.
    func name(_ uid: String) -> String { names[uid] ?? "someone" }

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

    private func lines(_ entry: Entry, in conversation: Conversation) -> [Line] {
        guard entry.isSaid else {
            let time = TimeText.clock(entry.at, timeZone: timeZone)
            return wrapped("· \(note(entry))  \(time)", .dim, indent: 0)
        }
        let isPending = conversation.isPending(entry)
        var lines = quote(entry.replyTo, in: conversation)
        if let text = entry.text {
            // The titles alone are no text beside the links.
            let isCaption = !entry.attachments.isEmpty && text == entry.attachments.caption
            lines +=
                isCaption
                ? [] : wrapped(isPending ? "\(text) …" : text, isPending ? .dim : .plain, indent: 2)
            if entry.isEdited { mark("(edited)", behind: &lines) }
            lines += entry.attachments.map(line)
        } else {
            lines.append(Line("  message deleted", .dim))
        }
        return conversation.chosen == entry.key ? lines.map { $0.styled(.reversed) } : lines
    }

    /// A file as a link: `  ⬇ lake.png  12 kB`.
    private func line(_ attachment: Attachment) -> Line {
        let size = "  \(attachment.sizeText)"
        let room = max(0, width - 4 - size.count)
        let title = TextWidth.cut(Line.harmless(DisplayName.oneLine(attachment.title)), to: room)
        var line = Line("  ⬇ ", .dim)
        line.append(title, Look(isUnderlined: true, link: attachment.url.absoluteString))
        line.append(size, .dim)
        return line
    }

    private func lines(_ item: Outgoing, in conversation: Conversation) -> [Line] {
        let quote = quote(item.replyTo, in: conversation)
        switch item.state {
        case .pending: return quote + wrapped("\(item.text) …", .dim, indent: 2)
        case .refused(let why):
            return quote + wrapped(item.text, .dim, indent: 2)
                + wrapped("✗ not sent: \(why)", Look(color: .red), indent: 2)
        }
    }

    /// The line that quotes the answered message, cut to fit.
    private func quote(_ key: String?, in conversation: Conversation) -> [Line] {
        guard let key else { return [] }
        let words =
            conversation.entry(key).map { entry in
                "\(name(entry.by)): \(entry.text.map(DisplayName.oneLine) ?? "message deleted")"
            } ?? "an earlier message"
        return [Line(TextWidth.cut(Line.harmless("  ↳ \(words)"), to: width), .dim)]
    }

    /// Adds a word after the last line, or below it if there is no room.
    private func mark(_ word: String, behind lines: inout [Line]) {
        guard var last = lines.last, last.width + word.count + 1 <= width else {
            return lines.append(Line("  \(word)", .dim))
        }
        last.append(" \(word)", .dim)
        lines[lines.count - 1] = last
    }

    private func seenLine(_ readers: [String], _ conversation: Conversation) -> Line {
        if case .room = conversation.id {
            let names = DisplayName.list(readers.map { name($0) })
            return Line(TextWidth.cut(Line.harmless("  ✓ seen by \(names)"), to: width), .dim)
        }
        return Line("  ✓ seen", .dim)
    }

    private func wrapped(_ text: String, _ style: Look, indent: Int) -> [Line] {
        let space = String(repeating: " ", count: indent)
        return text.split(whereSeparator: \.isNewline)
            .flatMap { paragraph in
                let text = Line.harmless(String(paragraph))
                return LinkedLines(text, style).wrapped(to: width - indent)
            }
            .map { line in
                var whole = Line(space, style)
                whole.append(line)
                return whole
            }
    }

    private func note(_ entry: Entry) -> String {
        let who = name(entry.by)
        switch entry.body {
        case .said(let text): return text
        case .deleted: return "message deleted"
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
