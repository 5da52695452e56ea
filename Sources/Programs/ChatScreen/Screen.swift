package import Foundation
package import Terminal

/// The chat as its user sees it: the loaded data, their position in it, and their input.
///
/// Pure: events and keys in, requests out. `frame` draws it.
package struct Screen: Sendable {
    /// Where keys go.
    enum Focus: Equatable {
        case list
        case conversation
        case prompt(Prompt)
        /// The help, and where keys went before.
        case help(isOverConversation: Bool)
    }

    /// A question at the foot of the screen.
    enum Prompt: Equatable {
        case startChat
        case makeRoom
        case joinRoom
    }

    let me: String
    let timeZone: TimeZone
    var names: [String: String]
    var size: Size
    var rows: [ThreadRow] = []
    var hasRows = false
    var now = Date(timeIntervalSince1970: 0)
    /// The thread at which the list is.
    var selected: ThreadID?
    var focus = Focus.list
    var conversation: Conversation?
    /// The title of the open thread, if the list does not have it.
    var openTitle = ""
    var input = InputLine()
    /// Unsent input of other threads.
    var drafts: [ThreadID: InputLine] = [:]
    /// Unsent and refused messages of threads that are not open.
    var outgoing: [ThreadID: [Outgoing]] = [:]
    /// Whom the user follows.
    var acquaintances: [Acquaintance] = []
    /// The one that is chosen of those who are shown.
    var chosenAcquaintance: Int?
    /// Whether new messages ring.
    var hasBell = true
    var isConnected = true
    var notice = ""
    var nextNumber = 1

    /// Creates an empty screen for a user.
    package init(
        uid: String,
        username: String,
        size: Size,
        timeZone: TimeZone,
        hasBell: Bool = true,
    ) {
        me = uid
        self.hasBell = hasBell
        names = [uid: username]
        self.size = size
        self.timeZone = timeZone
    }

    /// Messages under way, in the order of writing, with the titles of their threads.
    package var unsent: [(title: String, text: String)] {
        var threads = outgoing
        if let conversation { threads[conversation.id, default: []] += conversation.outgoing }
        let items = threads.flatMap { id, items in
            items.filter { $0.state == .pending }.map { (id, $0) }
        }
        return items.sorted { $0.1.number < $1.1.number }.map { (title(of: $0), $1.text) }
    }

    /// The thread that is open.
    package var openThread: ThreadID? { conversation?.id }

    /// Takes an event.
    ///
    /// - Returns: The requests that follow, in order.
    package mutating func apply(_ event: Event) -> [Request] {
        switch event {
        case .key(let key): return press(key)
        case .resized(let size):
            self.size = size
            limitScroll()
        case .threads(let rows, let now): return take(rows, now)
        case .acquaintances(let people): acquaintances = people
        case .start(let row): return open(row.id, title: row.title)
        case .names(let new): names.merge(new) { $1 }
        case .connection(let isConnected): self.isConnected = isConnected
        case .notice(let text): notice = text
        case .sent(let id, let number): settle(id, number, nil)
        case .refused(let id, let number, let why): settle(id, number, why)
        case .entry(let id, _), .removed(let id, _), .caughtUp(let id, _), .loadingLasts(let id),
            .older(let id, _, _), .olderFailed(let id), .typing(let id, _), .attendance(let id, _),
            .read(let id, _), .lost(let id, _):
            guard openThread == id else { return [] }
            return applyToOpen(event)
        }
        return []
    }

    /// Something about the thread that is open.
    private mutating func applyToOpen(_ event: Event) -> [Request] {
        switch event {
        case .entry(_, let entry):
            let isOwn = entry.by == me
            keepingScroll { conversation in
                let isNew = conversation.put(entry)
                if isNew, isOwn { conversation.claim(entry) }
            }
        case .removed(_, let key): keepingScroll { $0.remove(key) }
        case .caughtUp(_, let isComplete):
            conversation?.isCaughtUp = true
            conversation?.isComplete = isComplete
        case .loadingLasts: conversation?.isLate = true
        case .older(_, let entries, let isComplete):
            for entry in entries { _ = conversation?.put(entry) }
            conversation?.isLoading = false
            conversation?.isComplete = isComplete
        case .olderFailed: conversation?.isLoading = false
        case .typing(_, let uids): conversation?.typing = uids
        case .attendance(_, let attendance): conversation?.attendance = attendance
        case .read(_, let readers): keepingScroll { $0.readers = readers }
        case .lost(let id, let why):
            notice = why
            return leaveThread(id)
        case .key, .resized, .threads, .start, .names, .connection, .notice, .sent, .refused,
            .acquaintances:
            break
        }
        return markRead()
    }

    private mutating func take(_ rows: [ThreadRow], _ now: Date) -> [Request] {
        let before = Dictionary(self.rows.map { ($0.id, $0.unread) }) { $1 }
        let isNews = rows.contains { $0.unread > before[$0.id] ?? 0 }
        let requests: [Request] = hasRows && hasBell && isNews ? [.ring] : []
        let index = self.rows.firstIndex { $0.id == selected }
        self.rows = rows
        self.now = now
        hasRows = true
        if rows.contains(where: { $0.id == selected }) { return requests }
        // The selected row is gone: select the one in its position.
        selected = rows.isEmpty ? nil : rows[min(index ?? 0, rows.count - 1)].id
        return requests
    }

    private mutating func settle(_ id: ThreadID, _ number: Int, _ why: String?) {
        func settled(_ items: [Outgoing]) -> [Outgoing] {
            items.compactMap { item in
                guard item.number == number else { return item }
                guard let why else { return nil }
                var item = item
                item.state = .refused(why)
                return item
            }
        }
        if openThread == id {
            keepingScroll { $0.outgoing = settled($0.outgoing) }
        } else {
            outgoing[id] = settled(outgoing[id] ?? [])
            if why != nil { notice = "something was not sent; it waits in its chat" }
        }
    }

    /// Changes the end of the conversation and keeps the visible part.
    mutating func keepingScroll(_ change: (inout Conversation) -> Void) {
        guard var conversation else { return }
        let before = conversation.scroll > 0 ? lines(conversation).count : 0
        change(&conversation)
        if conversation.scroll > 0 {
            conversation.scroll = max(0, conversation.scroll + lines(conversation).count - before)
        }
        self.conversation = conversation
        limitScroll()
    }

    /// Marks the visible end of the open thread as read.
    mutating func markRead() -> [Request] {
        guard let conversation, conversation.isCaughtUp, conversation.scroll == 0,
            let newest = conversation.entries.last, newest.key != conversation.readKey,
            !conversation.isPending(newest),
            // A user who has left has nothing to mark.
            newest.body != .went(me)
        else { return [] }
        self.conversation?.readKey = newest.key
        return [.markRead(conversation.id, upTo: newest)]
    }
}

// MARK: Threads

extension Screen {
    /// Opens a thread instead of the open one.
    mutating func open(_ id: ThreadID, title: String = "") -> [Request] {
        focus = .conversation
        notice = ""
        guard openThread != id else { return [] }
        var requests = close()
        var conversation = Conversation(id: id)
        conversation.outgoing = outgoing.removeValue(forKey: id) ?? []
        // A message under way may have become an entry that is no longer loaded.
        for index in conversation.outgoing.indices { conversation.outgoing[index].key = nil }
        self.conversation = conversation
        selected = id
        openTitle = title
        input = drafts.removeValue(forKey: id) ?? InputLine()
        requests.append(.open(id))
        return requests
    }

    /// Closes the open thread; keeps its input.
    mutating func close() -> [Request] {
        guard let conversation else { return [] }
        var requests: [Request] = []
        if !input.isEmpty {
            drafts[conversation.id] = input
            requests.append(.typing(conversation.id, false))
        }
        if !conversation.outgoing.isEmpty { outgoing[conversation.id] = conversation.outgoing }
        input = InputLine()
        self.conversation = nil
        requests.append(.close(conversation.id))
        return requests
    }

    /// Closes a thread that the user has left.
    mutating func leaveThread(_ id: ThreadID) -> [Request] {
        guard openThread == id else { return [] }
        let requests = close()
        drafts[id] = nil
        outgoing[id] = nil
        if focus != .help(isOverConversation: false) { focus = .list }
        return requests
    }

    /// The title of the open thread.
    var title: String { openThread.map { title(of: $0) } ?? openTitle }

    private func title(of id: ThreadID) -> String {
        if let row = rows.first(where: { $0.id == id }) { return row.title }
        if id == openThread { return openTitle }
        return if case .person(let uid) = id { names[uid] ?? "someone" } else { "a chat" }
    }
}
