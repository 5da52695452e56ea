package import JSONTree
package import Queries

/// One operation as it was done, for the profiler.
///
/// Made only between `Input.profile` on and off; what it costs to learn its bytes is left to the
/// shell. Names and members are those of the Realtime Database's profiler.
package struct OperationRecord: Sendable {
    package enum Name: String, Sendable {
        case connect = "concurrent-connect"
        case disconnect = "concurrent-disconnect"
        case read = "realtime-read"
        case write = "realtime-write"
        /// A put that is done only if the client saw the present data.
        case transaction = "realtime-transaction"
        case update = "realtime-update"
        case listen = "listener-listen"
        /// What one commit sent to the listeners of one path.
        case broadcast = "listener-broadcast"
        case unlisten = "listener-unlisten"
        case restRead = "rest-read"
        case restWrite = "rest-write"
        case restUpdate = "rest-update"
    }

    /// A value that was read or written, and how often.
    package struct Value: Sendable {
        package let node: Node
        package let count: Int
    }

    package let name: Name
    package let path: Path
    /// Whether the rules allowed it.
    package var isAllowed = true
    /// Bytes of the texts that were sent.
    package var textByteCount = 0
    /// Values whose JSON counts as well.
    package var values: [Value] = []
    /// What a query orders by that the rules do not index.
    package var missingIndex: QuerySpec.Index?
}
