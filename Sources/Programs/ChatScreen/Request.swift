package import Foundation
package import Terminal

/// An event for the screen.
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
    /// Loading takes so long that a part is shown.
    case loadingLasts(ThreadID)
    /// A page of older ones has come.
    case older(ThreadID, [Entry], isComplete: Bool)
    /// Older ones did not come.
    case olderFailed(ThreadID)
    /// The server has stored a message.
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
    /// A message to show once.
    case notice(String)
}

/// A request of the screen to its program.
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
    /// Starts a direct chat with a person, or opens the existing one.
    case startChat(with: String)
    case makeRoom(String)
    case joinRoom(String)
    case command(ThreadID, Command)
    /// A new message that the user has not muted.
    case ring
    case redraw
    case suspend
    case quit
}
