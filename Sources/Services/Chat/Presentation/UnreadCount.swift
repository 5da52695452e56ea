/// The number of unread messages, and its text.
public enum UnreadCount {
    /// How many messages of others, in any order, are after the last one that the user has read; all when none was
    /// read.
    public static func of(_ messages: [Message], after last: Message?, for uid: String) -> Int {
        messages.count { message in
            message.sender.uid != uid && last.map { $0.precedes(message) } ?? true
        }
    }

    /// Of all threads that are not muted.
    public static func total(_ threads: [ChatThread]) -> Int {
        threads.reduce(0) { sum, thread in
            let unread = thread.isMuted ? 0 : max(thread.unread, 0)
            let (next, isTooLarge) = sum.addingReportingOverflow(unread)
            return isTooLarge ? .max : next
        }
    }

    /// `3`, `99+`; nothing when nothing is new.
    public static func text(_ count: Int) -> String {
        if count <= 0 { return "" }
        return count > 99 ? "99+" : "\(count)"
    }

    /// `3 unread messages`, `1 unread message`; nothing when nothing is new.
    public static func sentence(_ count: Int) -> String {
        if count <= 0 { return "" }
        return "\(text(count)) unread message\(count == 1 ? "" : "s")"
    }
}
