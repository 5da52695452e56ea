/// What the log thread asks of a replicated log; what becomes of it arrives as `LogNews`.
package protocol ReplicatedLog: AnyObject {
    /// Sends an entry to be stored directly after the entry `last`, or not at all. `number` names the try in the news.
    func append(_ entry: [UInt8], number: UInt64, expecting last: UInt64)
    /// Delivers every entry from `sequence` on, own ones included, in order; replaces an earlier tail.
    func tail(from sequence: UInt64)
    /// Forgets the entries up to and including `sequence`.
    func purge(through sequence: UInt64)
    /// Sends a beat to every node, this one included; it may be lost.
    func beat(_ bytes: [UInt8])
}

/// News of a replicated log, in the order in which they came.
package enum LogNews: Sendable, Equatable {
    /// The entry at a sequence number, counted from 1. Numbers may skip only what was purged or damaged.
    case entry(sequence: UInt64, bytes: [UInt8])
    /// Append `number` was stored at `sequence`. A hint only: what counts is the entry on the tail.
    case stored(number: UInt64, sequence: UInt64)
    /// Append `number` was not stored: the log's last entry is `last`.
    case refused(number: UInt64, last: UInt64)
    /// What became of append `number` is not known: it may stand in the log, now or later.
    case unknown(number: UInt64)
    /// The connection to the engine came up or went down.
    case link(isUp: Bool)
    /// After the link came up, and after a tail was asked for: the log holds the entries `first...last`
    /// (last + 1 == first when it is empty).
    case bounds(first: UInt64, last: UInt64)
    /// A beat of a node, this one included.
    case beat([UInt8])
}
