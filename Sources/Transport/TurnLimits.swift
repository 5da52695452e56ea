/// How much of a turn of the loop one connection, or one kind of work, may take before others are
/// served; what is left waits for the next turn and loses no place.
///
/// Counts make a turn short where each item is cheap; `share` does where one is not. Beside them in
/// C: 64 accepts, 64 plain sockets and one read of 64 KiB from each (`CTransport/internal.h`).
enum TurnLimits {
    /// Messages or requests taken from one connection: some 5 to 12 µs each.
    static let messagesPerConnection = 16
    /// The same from one that had more than its share turn after turn while others had messages too:
    /// its share is halved each time, down to this.
    static let messagesPerFlood = 1
    /// For how long after a message others count as having some.
    static let contention = Duration.milliseconds(10)
    /// How long sockets, waiting input and jobs of other threads may each take together.
    static let share = Duration.milliseconds(10)
    /// Connections sent to, of those that wait for others: a send costs some 3 µs. Few, so that new
    /// requests interleave, and so that what they bring for the same receivers leaves in the same
    /// sends.
    static let flushedConnections = 24
    /// Connections that have something to send since the turn began, up to which they go before
    /// those that wait: an answer does not stand in line behind a push to thousands.
    static let promptConnections = 8
    /// Bytes sent to one connection, as much as one send takes.
    static let flushedByteCount = 64 * 1024
    /// Bytes of streams made in one turn, for whichever has waited longest: text is made at some
    /// 300 MB/s, and many large values may be on their way.
    static let pulledByteCount = 16 * 1024
    /// Connections cut.
    static let destroyedConnections = 64
}
