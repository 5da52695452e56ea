import Foundation

/// The open thread: its loaded part, and the position of the screen in it.
struct Conversation: Equatable, Sendable {
    let id: ThreadID
    /// In their order.
    private(set) var entries: [Entry] = []
    /// Unsent messages, in the order of writing.
    var outgoing: [Outgoing] = []
    /// Lines below the ones in sight; 0 at the newest.
    var scroll = 0
    /// Whether older entries were asked for and have not come.
    var isLoading = false
    /// Whether the first entry of the thread is loaded.
    var isComplete = false
    /// Whether all that was there at first has come.
    var isCaughtUp = false
    /// Whether that takes long.
    var isLate = false
    /// Accounts that are typing.
    var typing: [String] = []
    var attendance: Attendance?
    /// The newest entry marked as read.
    var readKey: String?
    /// Up to which entry each account has read.
    var readers: [String: String] = [:]
    /// The entry that the user has chosen.
    var chosen: String?

    init(id: ThreadID) { self.id = id }

    /// Whether entries are shown: those that trickle in at first would be seen to move.
    var isShown: Bool { isCaughtUp || isLate }

    /// Inserts or replaces an entry.
    ///
    /// - Returns: Whether it was not there.
    mutating func put(_ entry: Entry) -> Bool {
        let count = entries.count
        entries.removeAll { $0.key == entry.key }
        let isNew = entries.count == count
        // Nearly always the newest.
        var index = entries.endIndex
        while index > 0, entry.precedes(entries[index - 1]) { index -= 1 }
        entries.insert(entry, at: index)
        return isNew
    }

    /// Takes an entry away.
    mutating func remove(_ key: String) {
        entries.removeAll { $0.key == key }
        if chosen == key { chosen = nil }
    }

    /// A loaded entry.
    func entry(_ key: String) -> Entry? { entries.last { $0.key == key } }

    /// The accounts that have read the latest entry of `uid`, sorted, and its key.
    func readers(ofLatestBy uid: String) -> (key: String, readers: [String])? {
        guard let latest = entries.last(where: { $0.by == uid && $0.isSaid }) else { return nil }
        let who = readers.filter { reader, key in
            reader != uid && entry(key).map { !$0.precedes(latest) } ?? false
        }
        return who.isEmpty ? nil : (latest.key, who.keys.sorted())
    }

    /// Treats this user's entry as the result of their first unsent text.
    mutating func claim(_ entry: Entry) {
        let index = outgoing.firstIndex {
            $0.key == nil && $0.state == .pending && $0.text == entry.text
        }
        if let index { outgoing[index].key = entry.key }
    }

    /// Whether an entry is on its way to the server.
    func isPending(_ entry: Entry) -> Bool {
        outgoing.contains { $0.key == entry.key && $0.state == .pending }
    }

    /// Unsent texts: they wait for the ones before, or were refused.
    var unseen: [Outgoing] {
        outgoing.filter { item in
            item.state != .pending || !entries.contains { $0.key == item.key }
        }
    }
}
