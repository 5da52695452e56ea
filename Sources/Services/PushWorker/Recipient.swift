/// A push worker's knowledge of one person.
struct Recipient {
    var isOnline = false
    var lastOnline: Int64?
    /// When presence was seen to end, until the database says it.
    var leftAt: Int64?
    /// When they last wrote something: a writer is present.
    var wroteAt: Int64?
    var news: [String: ThreadNews] = [:]
    /// Of each thread: when the first message came that they have not seen.
    var unseenSince: [String: Int64] = [:]
    /// For a room: the time of their own latest event, as far as it was seen.
    var ownEvents: [String: Int64] = [:]
    /// For a direct chat: the time of the last uncounted message, as far as it was seen. They wrote it themselves, or
    /// a client did that keeps no count.
    var uncounted: [String: Int64] = [:]
    var mutes: Set<String> = []
    var records: [String: PushRecord] = [:]

    /// When they were last present; nil without any sign of it.
    var lastSeen: Int64? { [lastOnline, leftAt, wroteAt].compactMap { $0 }.max() }

    /// Whether they should get a push for a thread: they are absent, have not seen it, and have not muted it.
    func misses(_ key: String, sentAt: Int64) -> Bool {
        guard !isOnline, !mutes.contains(key), let news = news[key] else { return false }
        return isUnknown(key, sentAt: sentAt, unread: news.unread)
    }

    /// The newest message of a thread, with the unread count only if that includes it.
    func countedNews(of key: String) -> ThreadNews? {
        guard var news = news[key] else { return nil }
        if uncounted[key] == news.at { news.unread = nil }
        return news
    }

    /// Whether they may not know a message. If messages are counted: whether it is unread, wherever they were.
    /// Otherwise reading is not recorded. They know messages from before and during their presence. But the end of
    /// presence is noticed late, so a message shortly before it may have gone into a dead connection.
    private func isUnknown(_ key: String, sentAt: Int64, unread: Int?) -> Bool {
        if let unread, uncounted[key] != sentAt {
            return unread > 0 && sentAt > ownEvents[key] ?? .min
        }
        let left = [lastOnline, leftAt].compactMap { $0 }.max()
        let known = [left.map { $0 - PushLimits.unnoticed }, wroteAt].compactMap { $0 }.max()
        return sentAt > known ?? .min
    }

    /// Whether this thread was pushed in this absence already, and not read since.
    func wasNotified(of key: String, pushesEach: Bool) -> Bool {
        guard let record = records[key], let news = countedNews(of: key) else { return false }
        // The same message is never pushed twice, nor an older one.
        if record.at >= news.at { return true }
        if pushesEach || record.claimedAt <= lastSeen ?? .min { return false }
        // Others only ever add to the count, so one that has not grown was set back.
        if let unread = news.unread, let notifiedUnread = record.unread {
            return unread > notifiedUnread
        }
        return true
    }

    /// Takes over a newer state of a thread; `isLive` when nothing was missed in between.
    mutating func receive(_ news: ThreadNews, of key: String, isLive: Bool) {
        let old = self.news[key]
        self.news[key] = news
        guard let old, old.kind == news.kind else {
            unseenSince[key] = news.at
            return
        }
        guard news.at > old.at else { return }
        let wasUnseen = isUnknown(key, sentAt: old.at, unread: old.unread)
        if isLive, let unread = news.unread, unread <= old.unread ?? 0 {
            // In a room, every other member adds one. It counts only for this room, so omitting it silences no other.
            switch news.kind {
            case .room: ownEvents[key] = news.at
            case .direct: uncounted[key] = news.at
            }
        }
        if !wasUnseen { unseenSince[key] = news.at }
    }

    mutating func lose(_ key: String) {
        news[key] = nil
        unseenSince[key] = nil
        ownEvents[key] = nil
        uncounted[key] = nil
    }
}
