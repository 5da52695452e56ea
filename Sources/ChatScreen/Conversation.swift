import Foundation

/// The thread that is open: what is held of it, and where in it the screen is.
struct Conversation: Equatable, Sendable {
    let id: ThreadID
    /// In their order.
    private(set) var entries: [Entry] = []
    /// What was said here and is not sent yet, in the order in which it was.
    var outgoing: [Outgoing] = []
    /// Lines below the ones in sight; 0 at the newest.
    var scroll = 0
    /// Whether older entries were asked for and have not come.
    var isLoading = false
    /// Whether the first entry of the thread is held.
    var isComplete = false
    /// Whether all that was there at first has come.
    var isCaughtUp = false
    /// Whether that takes long.
    var isLate = false
    /// Accounts that are typing.
    var typing: [String] = []
    var attendance: Attendance?
    /// The newest entry that was told to be read.
    var readKey: String?
    /// Up to which entry each account has read.
    var readers: [String: String] = [:]
    /// The entry that the user has chosen.
    var chosen: String?

    init(id: ThreadID) { self.id = id }

    /// Whether entries are shown: those that trickle in at first would be seen to move.
    var isShown: Bool { isCaughtUp || isLate }

    /// Takes an entry, or another state of one, to its place.
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

    /// An entry that is held.
    func entry(_ key: String) -> Entry? { entries.last { $0.key == key } }

    /// The accounts that have read the latest entry of `uid`, sorted, and its key.
    func readers(ofLatestBy uid: String) -> (key: String, readers: [String])? {
        guard let latest = entries.last(where: { $0.by == uid && $0.isSaid }) else { return nil }
        let who = readers.filter { reader, key in
            reader != uid && entry(key).map { !$0.precedes(latest) } ?? false
        }
        return who.isEmpty ? nil : (latest.key, who.keys.sorted())
    }

    /// Takes an entry of this user's as what becomes of the first of their texts that has none yet.
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

    /// What was said and is no entry: it waits for the ones before it, or was refused.
    var unseen: [Outgoing] {
        outgoing.filter { item in
            item.state != .pending || !entries.contains { $0.key == item.key }
        }
    }
}
