/// How much of a tick one connection, or one kind of work, may take before others are served. The rest waits for the
/// next tick, which then does not wait for the network, and keeps its position.
///
///     one tick, in this order                      share                           the rest
///       │
///       ├─ accept, read and write to sockets       64 accepts, 64 sockets, of      stays in the kernel
///       │    │                                     each 64 KiB in and 64 KiB out
///       │    └─ take messages                      16 of a connection, 1 of a      the connection resumes below,
///       │                                          flood; 10 ms of all             in the next tick
///       ├─ jobs of other threads, timers           10 ms                           first in the next tick
///       ├─ resume connections that had to wait     10 ms, the same 16 of each      before those that asked later
///       ├─ destroy sockets                         64                              in the next tick
///       ├─ wake the log thread                     once: the batch of this tick
///       └─ send                                    8 that just got something,      in the order in which they
///                                                  24 that wait, 64 KiB each,      began to wait
///                                                  one large value, 16 KiB, or
///                                                  files, 128 KiB each and of
///                                                  all
///
/// `EventLoop` has the order, `Flusher` the queues, and `Connection` takes the messages of a connection.
///
/// Counts keep a tick short if each item is cheap; `share` does if one is not. C has its own limits: 64 accepts, 64
/// sockets, and as many with a TLS handshake to make (`CTransport/serving.c`).
enum TickLimits {
    /// Messages or requests taken from one connection: some 5 to 12 µs each.
    static let messagesPerConnection = 16
    /// The same for a connection that had more than its share tick after tick while others had messages too: its
    /// share halves each time, down to this.
    static let messagesPerFlood = 1
    /// How long after a message its connection counts as active.
    static let contention = Duration.milliseconds(10)
    /// How long sockets, waiting input and jobs of other threads may each take in total.
    static let share = Duration.milliseconds(10)
    /// Connections of the backlog sent to: a send costs some 3 µs. Few, so that new requests interleave, and their
    /// output for the same receivers leaves in the same sends.
    static let flushedConnections = 24
    /// Up to this many connections with new output go before the backlog: an answer does not wait behind a push to
    /// thousands.
    static let promptConnections = 8
    /// Bytes sent to one connection: the most that one send takes.
    static let flushedByteCount = 64 * 1024
    /// Bytes of streams made in one tick, for the one that waited longest: text is made at some 300 MB/s, and many
    /// large values may be under way.
    static let pulledByteCount = 16 * 1024
    /// Bytes copied for one connection before others' are, in one go where they are at hand: a file of some 100 KB leaves at once.
    static let copiedByteCount = 128 * 1024
    /// Bytes copied in one tick, or up to twice as many: they leave at some 2 GB/s.
    static let tickByteCount = 128 * 1024
    /// What a stream counts as that sends less: to ask it takes time too.
    static let pullByteCount = 4 * 1024
    static let destroyedConnections = 64
}
