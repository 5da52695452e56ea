/// Names an observer: a handle that the app gets from `observe`.
package struct ObserverID: Hashable, Comparable, Sendable {
    /// Unique in one client, counted up; below 2^63, from where on the client names its own.
    package let value: UInt64

    /// Names the observer with this number.
    package init(_ value: UInt64) { self.value = value }

    /// Whether the left was made earlier.
    package static func < (left: ObserverID, right: ObserverID) -> Bool { left.value < right.value }
}

/// Names a call of the app; its outcome is reported exactly once.
package struct CallID: Hashable, Sendable {
    /// Unique in one client, counted up.
    package let value: UInt64

    /// Names the call with this number.
    package init(_ value: UInt64) { self.value = value }
}

/// Names one socket; a client opens one after the other.
package struct SocketID: Hashable, Sendable {
    /// Counted up from 1.
    package let value: UInt64

    /// Names the socket with this number.
    package init(_ value: UInt64) { self.value = value }
}

/// Names a pending write; later writes have greater numbers and lie over earlier ones.
package struct WriteID: Hashable, Comparable, Sendable {
    /// Counted up from 1, over restarts too.
    package let value: Int64

    /// Names the write with this number.
    package init(_ value: Int64) { self.value = value }

    /// Whether the left was made earlier.
    package static func < (left: WriteID, right: WriteID) -> Bool { left.value < right.value }
}
