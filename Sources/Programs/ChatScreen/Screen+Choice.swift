import Terminal

/// The chosen message, the actions on it, and the people to choose from.
extension Screen {
    // MARK: Messages

    /// Goes to the message above the chosen one, or below it; from the newest one down none is chosen.
    mutating func chooseEntry(isAbove: Bool) {
        guard let conversation else { return }
        let said = conversation.entries.filter { $0.isSaid }
        let index = said.firstIndex { $0.key == conversation.chosen }
        let next =
            if isAbove { max(0, (index ?? said.count) - 1) } else { (index ?? said.count) + 1 }
        self.conversation?.chosen = said.indices.contains(next) ? said[next].key : nil
        showChosen()
    }

    /// Scrolls to where the chosen message is in sight.
    private mutating func showChosen() {
        guard let conversation else { return }
        let keys = keyedLines(conversation).map(\.key)
        guard let chosen = conversation.chosen, let first = keys.firstIndex(of: chosen),
            let last = keys.lastIndex(of: chosen)
        else { return }
        var scroll = conversation.scroll
        if last >= keys.count - scroll { scroll = keys.count - last - 1 }
        if first < keys.count - scroll - bodyRows { scroll = max(0, keys.count - first - bodyRows) }
        self.conversation?.scroll = scroll
    }

    /// Runs a typed command, or returns the requests for it.
    mutating func run(_ command: Command, in id: ThreadID) -> [Request] {
        switch command {
        case .quit: return close() + [.quit]
        case .help: toggleHelp()
        case .bell:
            hasBell.toggle()
            notice = hasBell ? "new messages are heard" : "new messages are not heard"
        case .reply(let text):
            guard let entry = target(isOwn: false) else { break }
            return send(text, in: id, answering: entry.key)
        case .edit(let text):
            guard let entry = target(isOwn: true), let old = entry.text else { break }
            if text.isEmpty {
                conversation?.chosen = entry.key
                input = InputLine("/edit \(old)")
                break
            }
            conversation?.chosen = nil
            return [.edit(id, key: entry.key, text)]
        case .unsend:
            guard let entry = target(isOwn: true) else { break }
            conversation?.chosen = nil
            return [.unsend(id, key: entry.key)]
        case .flag, .unflag:
            guard let entry = target(isOwn: false) else { break }
            conversation?.chosen = nil
            return [.flag(id, key: entry.key, command == .flag)]
        case .invite, .remove, .ban, .unban, .role, .rename, .members, .leave, .delete, .mute,
            .unmute, .follow, .unfollow, .block, .unblock, .membersRename, .file:
            return [.command(id, command)]
        }
        return []
    }

    /// The chosen message; else the latest one of this user, or of another. One that is on its way can be a target:
    /// the server does what is asked of it in order.
    private mutating func target(isOwn: Bool) -> Entry? {
        guard let conversation else { return nil }
        if let chosen = conversation.chosen { return conversation.entry(chosen) }
        let latest = conversation.entries.last { entry in
            entry.text != nil && (entry.by == me) == isOwn
        }
        if latest == nil { notice = "no message is chosen: ^P chooses one" }
        return latest
    }

    // MARK: People

    /// The followed people that match the input.
    var found: [Acquaintance] {
        acquaintances.filter { input.isEmpty || $0.begins(with: input.text) }
    }

    mutating func choose(by count: Int) {
        let people = found
        guard !people.isEmpty else { return }
        let index = chosenAcquaintance.map { $0 + count } ?? (count > 0 ? 0 : people.count - 1)
        chosenAcquaintance = min(max(index, 0), people.count - 1)
    }

    /// The people in `rows` lines, with the chosen one visible.
    func picker(rows: Int) -> [Line] {
        let people = found
        guard !people.isEmpty else {
            let why =
                acquaintances.isEmpty
                ? "You follow no one yet." : "No one whom you follow has this name."
            return [Line(), Line("  \(why)", .dim)]
        }
        let first = max(0, min((chosenAcquaintance ?? 0) - rows / 2, people.count - rows))
        return people.indices.dropFirst(first).prefix(rows).map { index in
            let isChosen = index == chosenAcquaintance
            var line = Line("  \(people[index].username)", isChosen ? .reversed : .bold)
            let name = people[index].name
            if !name.isEmpty, name != people[index].username {
                line.append("  \(name)", isChosen ? .reversed : .dim)
            }
            return line
        }
    }
}
