/// A moment as the wire protocol counts it.
package struct Timestamp: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01 00:00 UTC.
    package var milliseconds: Int64

    /// Makes the moment `milliseconds` after the start of 1970, UTC.
    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Whether `a` is earlier than `b`.
    package static func < (a: Timestamp, b: Timestamp) -> Bool {
        a.milliseconds < b.milliseconds
    }
}
