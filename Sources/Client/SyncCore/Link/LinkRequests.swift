import JSONTree
import Queries
import WireProtocol

/// The purpose of a request sent on the present connection.
enum SentRequest {
    case stats
    /// A credential, or that there is none any more.
    case authentication
    case listen(LinkListen)
    case unlisten(ListenTarget, tag: Int64?)
    case write(WriteID)
    case get(CallID)
    case onDisconnect(OnDisconnectID)
}

/// A write that the server has not answered.
struct PendingWrite {
    let write: LinkWrite
    let sequence: Int64
    /// Whether it was sent on the connection in use.
    var isSent = false
}

struct PendingOnDisconnect {
    let action: ClientRequest.Action
    let sequence: Int64
}

struct PendingGet {
    let target: ListenTarget
    let sequence: Int64
}

/// A query that has no index, as the developer sees it: limits and bounds do not matter.
struct MissingIndex: Hashable {
    let path: Path
    let index: QuerySpec.Index
}

/// Deadlines of reads that wait for a connection; each is set as late as the one before, or later.
struct GetDeadlines {
    private var entries: [(time: Timestamp, call: CallID)] = []
    private var first = 0

    /// The earliest.
    var next: Timestamp? { first < entries.count ? entries[first].time : nil }

    mutating func append(_ call: CallID, at time: Timestamp) { entries.append((time, call)) }

    mutating func removeAll() {
        entries.removeAll()
        first = 0
    }

    /// Removes and gives the earliest read if its deadline has come; it was set at most `span` milliseconds ahead.
    mutating func popDue(now: Timestamp, span: Int64) -> CallID? {
        guard first < entries.count, entries[first].time.isDue(at: now, span: span)
        else { return nil }
        let call = entries[first].call
        first += 1
        if first == entries.count { removeAll() }
        return call
    }
}
