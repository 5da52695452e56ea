/// What a push worker knows of one person.
struct Recipient {
    var isOnline = false
    /// What the database says.
    var lastOnline: Int64?
    /// When presence was seen to end, until the database says it.
    var leftAt: Int64?
    /// When they last wrote something themselves: whoever writes is there.
    var wroteAt: Int64?
    var news: [String: ThreadNews] = [:]
    /// Of each thread: when the first message came that they have not seen.
    var unseenSince: [String: Int64] = [:]
    /// Of a room: the time of the last event that they made themselves, as far as that was seen.
    var ownEvents: [String: Int64] = [:]
    var mutes: Set<String> = []
    var records: [String: PushRecord] = [:]

    /// When they were last there; nil when there is no sign that they ever were.
    var lastSeen: Int64? { [lastOnline, leftAt, wroteAt].compactMap { $0 }.max() }

    /// Whether there is something in a thread that they should hear of: they are not there, do not know it, want it.
    func misses(_ key: String, sentAt: Int64) -> Bool {
        guard !isOnline, !mutes.contains(key), let news = news[key] else { return false }
        return isUnknown(key, sentAt: sentAt, unread: news.unread)
    }

    /// Whether they may not know of a message: in a room what is not read, wherever they were meanwhile.
    ///
    /// Of a direct chat nobody says what was read. Known is what was there when they were, or came while they were; but
    /// the end of presence is told late, so what came shortly before it may have gone into a dead connection.
    private func isUnknown(_ key: String, sentAt: Int64, unread: Int?) -> Bool {
        if let unread { return unread > 0 && sentAt > ownEvents[key] ?? .min }
        let left = [lastOnline, leftAt].compactMap { $0 }.max()
        let known = [left.map { $0 - PushLimits.unnoticed }, wroteAt].compactMap { $0 }.max()
        return sentAt > known ?? .min
    }

    /// Whether this thread was pushed in this absence already, and not read since.
    func wasTold(of key: String, pushesEach: Bool) -> Bool {
        guard let record = records[key], let news = news[key] else { return false }
        // The same message is never pushed twice, nor an older one.
        if record.at >= news.at { return true }
        if pushesEach || record.claimedAt <= lastSeen ?? .min { return false }
        // Others only ever add to the count, so one that has not grown was set back.
        if let unread = news.unread, let toldUnread = record.unread { return unread > toldUnread }
        return true
    }

    /// Takes over a newer state of a thread; `isLive` when nothing was missed in between.
    mutating func hear(_ news: ThreadNews, of key: String, isLive: Bool) {
        let old = self.news[key]
        self.news[key] = news
        guard let old, old.kind == news.kind else {
            unseenSince[key] = news.at
            return
        }
        guard news.at > old.at else { return }
        let wasUnseen = isUnknown(key, sentAt: old.at, unread: old.unread)
        if isLive, let unread = news.unread, unread <= old.unread ?? 0 {
            // Everybody else adds one. It counts for this room alone, so nobody silences others by not doing so.
            ownEvents[key] = news.at
        }
        if !wasUnseen { unseenSince[key] = news.at }
    }

    mutating func lose(_ key: String) {
        news[key] = nil
        unseenSince[key] = nil
        ownEvents[key] = nil
    }
}
