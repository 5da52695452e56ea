import Terminal

/// The actions of keys.
extension Screen {
    mutating func press(_ key: Key) -> [Request] {
        if key == .control("c") { return close() + [.quit] }
        if key == .control("l") { return [.redraw] }
        if key == .control("z") { return [.suspend] }
        if key == .f1 {
            toggleHelp()
            return []
        }
        notice = ""
        switch focus {
        case .list: return pressInList(key)
        case .conversation: return pressInConversation(key)
        case .prompt(let prompt): return press(key, in: prompt)
        case .help(let isOverConversation):
            focus = isOverConversation && conversation != nil ? .conversation : .list
            return []
        }
    }

    mutating func toggleHelp() {
        if case .help(let isOverConversation) = focus {
            focus = isOverConversation && conversation != nil ? .conversation : .list
        } else {
            focus = .help(isOverConversation: focus == .conversation)
        }
    }

    // MARK: The list

    private mutating func pressInList(_ key: Key) -> [Request] {
        switch key {
        case .up, .control("p"), .character("k"): select(by: -1)
        case .down, .control("n"), .character("j"): select(by: 1)
        case .pageUp: select(by: -listRows)
        case .pageDown: select(by: listRows)
        case .home: select(by: -rows.count)
        case .end: select(by: rows.count)
        case .enter, .right, .tab:
            if let selected { return open(selected) }
        case .character("n"): ask(.startChat)
        case .character("r"): ask(.makeRoom)
        case .character("o"): ask(.joinRoom)
        case .character("?"): toggleHelp()
        case .character("q"), .control("d"): return close() + [.quit]
        case .escape: if conversation != nil, !isWide { return close() }
        case .character, .paste, .control, .backspace, .delete, .left, .backTab, .f1: break
        }
        return []
    }

    private mutating func select(by count: Int) {
        guard !rows.isEmpty else { return }
        let index = rows.firstIndex { $0.id == selected } ?? 0
        selected = rows[min(max(index + count, 0), rows.count - 1)].id
    }

    private mutating func ask(_ prompt: Prompt) {
        if let id = openThread, !input.isEmpty { drafts[id] = input }
        input = InputLine()
        chosenAcquaintance = nil
        focus = .prompt(prompt)
    }

    private mutating func press(_ key: Key, in prompt: Prompt) -> [Request] {
        if key == .escape {
            endPrompt()
            return []
        }
        if prompt == .startChat, key == .up || key == .down {
            choose(by: key == .up ? -1 : 1)
            return []
        }
        guard key == .enter else {
            if input.edit(key) { chosenAcquaintance = nil }
            return []
        }
        if prompt == .startChat, let index = chosenAcquaintance, index < found.count {
            let username = found[index].username
            endPrompt()
            return [.startChat(with: username)]
        }
        let text = input.text.split(separator: " ").joined(separator: " ")
        endPrompt()
        guard !text.isEmpty else { return [] }
        switch prompt {
        case .startChat: return [.startChat(with: text)]
        case .makeRoom: return [.makeRoom(text)]
        case .joinRoom: return [.joinRoom(text)]
        }
    }

    private mutating func endPrompt() {
        focus = .list
        input = openThread.flatMap { drafts.removeValue(forKey: $0) } ?? InputLine()
    }

    // MARK: A thread

    private mutating func pressInConversation(_ key: Key) -> [Request] {
        guard let id = openThread else {
            focus = .list
            return pressInList(key)
        }
        switch key {
        case .escape, .tab, .backTab:
            if conversation?.chosen != nil {
                conversation?.chosen = nil
                return []
            }
            focus = .list
            return isWide ? [] : close()
        case .enter: return enter(id)
        case .control("p"):
            chooseEntry(isAbove: true)
            return []
        case .control("n"):
            chooseEntry(isAbove: false)
            return markRead()
        case .pageUp: return scroll(by: max(1, bodyRows - 2))
        case .pageDown: return scroll(by: -max(1, bodyRows - 2))
        case .up: return scroll(by: 1)
        case .down: return scroll(by: -1)
        case .control("r"): return retry(id)
        case .control("x"):
            keepingScroll { $0.outgoing.removeAll { $0.state != .pending } }
            return []
        case .control("d") where input.isEmpty: return close() + [.quit]
        case .character, .paste, .control, .backspace, .delete, .left, .right, .home, .end, .f1:
            let before = input.text
            guard input.edit(key), input.text != before else { return [] }
            return [.typing(id, !input.isEmpty && !input.text.hasPrefix("/"))]
        }
    }

    private mutating func enter(_ id: ThreadID) -> [Request] {
        let text = input.text
        guard text.contains(where: { !$0.isWhitespace }) else { return [] }
        switch Command.read(text) {
        case .wrong(let why):
            notice = why
            return []
        case .command(let command):
            // Else it would be done to the message before.
            if command.isForOwnMessage, let conversation, conversation.chosen == nil,
                conversation.unseen.contains(where: { $0.state == .pending })
            {
                notice = "your latest message waits to be sent: try again when it is"
                return []
            }
            input = InputLine()
            return run(command, in: id)
        case .text(let text):
            input = InputLine()
            return send(text, in: id, answering: conversation?.chosen)
        }
    }

    /// Says something, which may answer an entry.
    mutating func send(_ text: String, in id: ThreadID, answering key: String?) -> [Request] {
        let item = Outgoing(number: nextNumber, text: text, replyTo: key, state: .pending)
        nextNumber += 1
        conversation?.outgoing.append(item)
        conversation?.scroll = 0
        conversation?.chosen = nil
        return [.typing(id, false), .send(id, text, number: item.number, answering: key)]
            + markRead()
    }

    /// Sends a refused message again.
    private mutating func retry(_ id: ThreadID) -> [Request] {
        var requests: [Request] = []
        keepingScroll { conversation in
            for index in conversation.outgoing.indices {
                let item = conversation.outgoing[index]
                guard item.state != .pending else { continue }
                conversation.outgoing[index].state = .pending
                conversation.outgoing[index].key = nil
                requests.append(
                    .send(id, item.text, number: item.number, answering: item.replyTo)
                )
            }
        }
        return requests
    }

    /// Scrolls by `count` lines; at the top, requests earlier entries.
    private mutating func scroll(by count: Int) -> [Request] {
        guard var conversation else { return [] }
        let top = max(0, lines(conversation).count - bodyRows)
        conversation.scroll = min(max(conversation.scroll + count, 0), top)
        let isAtTop = count > 0 && conversation.scroll == top
        var requests: [Request] = []
        if isAtTop, conversation.isCaughtUp, !conversation.isComplete, !conversation.isLoading,
            let oldest = conversation.entries.first
        {
            conversation.isLoading = true
            requests.append(.loadOlder(conversation.id, before: oldest))
        }
        self.conversation = conversation
        return requests + markRead()
    }
}
