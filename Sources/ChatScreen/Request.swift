package import Foundation
package import Terminal

/// What the screen is told.
package enum Event: Sendable {
    case key(Key)
    case resized(Size)
    /// All threads, newest first, and the time by the server's clock.
    case threads([ThreadRow], now: Date)
    /// A thread is to be opened: one that was just started.
    case start(ThreadRow)
    /// An entry is there, or is another.
    case entry(ThreadID, Entry)
    /// An entry is not there: it was refused.
    case removed(ThreadID, key: String)
    /// All that was there at first has come.
    case caughtUp(ThreadID, isComplete: Bool)
    /// It has not come for so long that a part of it is better than nothing.
    case loadingLasts(ThreadID)
    /// A page of older ones has come.
    case older(ThreadID, [Entry], isComplete: Bool)
    /// Older ones did not come.
    case olderFailed(ThreadID)
    /// The server has what was said.
    case sent(ThreadID, number: Int)
    case refused(ThreadID, number: Int, why: String)
    /// Who is typing.
    case typing(ThreadID, [String])
    case attendance(ThreadID, Attendance)
    /// Up to which entry each account has read.
    case read(ThreadID, [String: String])
    /// Whom the user follows, sorted.
    case acquaintances([Acquaintance])
    /// The thread cannot be seen any more.
    case lost(ThreadID, why: String)
    /// Usernames by account, as they become known.
    case names([String: String])
    case connection(Bool)
    /// Something to be said once.
    case notice(String)
}

/// What the screen asks of whoever runs it.
package enum Request: Equatable, Sendable {
    case open(ThreadID)
    case close(ThreadID)
    case loadOlder(ThreadID, before: Entry)
    case send(ThreadID, String, number: Int, answering: String? = nil)
    case edit(ThreadID, key: String, String)
    case unsend(ThreadID, key: String)
    case flag(ThreadID, key: String, Bool)
    case markRead(ThreadID, upTo: Entry)
    case typing(ThreadID, Bool)
    /// Starts a direct chat, or opens the one that there is, with somebody.
    case startChat(with: String)
    case makeRoom(String)
    case joinRoom(String)
    case command(ThreadID, Command)
    /// Something new has come, of which the user wants to hear.
    case ring
    case redraw
    case suspend
    case quit
}
