import DatabaseCore
import Transport

/// One event stream: a request whose answer goes on.
@LoopActor
final class StreamConnection: NumberedConnection {
    let id: ConnectionID
    /// The client's numeric address.
    let peer: String
    /// When it was asked for.
    let since = Clock.now()
    /// Where events go; nil until the engine has let the stream begin, and when it is over.
    var response: PushedResponse?
    /// Index in its group, once open.
    fileprivate var index = 0

    init(id: ConnectionID, peer: String) {
        self.id = id
        self.peer = peer
    }

    /// Bytes that wait for the client.
    var queuedByteCount: Int { response?.queuedByteCount ?? 0 }
}

/// The event streams, asked for and open.
///
/// Open ones are in groups that get their keep-alive event one after the other, so that many streams neither need a
/// timer each nor are all written to at once.
///
/// Invariant: an open stream stands in `groups[group(of: id)]` at its `index`, and in the table.
@LoopActor
final class StreamConnections {
    /// Groups, each of which gets its keep-alive once in a period.
    static let groupCount = 16

    private var table = ConnectionTable<StreamConnection>(mark: ConnectionID.streamMark)
    private var groups = [[StreamConnection]](repeating: [], count: groupCount)
    private var nextGroup = 0
    /// Streams that have begun and not ended.
    private(set) var openCount = 0

    /// Gives a stream that is asked for its number.
    func add(from peer: String) -> StreamConnection {
        table.add { StreamConnection(id: $0, peer: peer) }
    }

    /// Slots, taken or free.
    var slotCount: Int { table.slotCount }

    /// The open stream in a slot; nil for none.
    func open(slot: Int) -> StreamConnection? {
        table[slot: slot].flatMap { $0.response == nil ? nil : $0 }
    }

    /// The number of the stream with this serial; nil when it is gone.
    func id(ofSerial serial: UInt64) -> ConnectionID? { table.id(ofSerial: serial) }

    /// The stream with this number; nil when it is gone.
    subscript(id: ConnectionID) -> StreamConnection? { table[id] }

    /// Notes that a stream has begun.
    func open(_ stream: StreamConnection, _ response: PushedResponse) {
        precondition(stream.response == nil, "a stream begins once")
        stream.response = response
        let group = Self.group(of: stream.id)
        stream.index = groups[group].count
        groups[group].append(stream)
        openCount += 1
    }

    /// Forgets a stream, open or not. O(1): the last of its group moves to its index.
    func remove(_ stream: StreamConnection) {
        guard table[stream.id] != nil else { return }
        table.remove(stream.id)
        guard stream.response != nil else { return }
        stream.response = nil
        openCount -= 1
        let group = Self.group(of: stream.id)
        let last = groups[group].removeLast()
        if last === stream { return }
        groups[group][stream.index] = last
        last.index = stream.index
    }

    /// Queues a chunk for all streams of the next group that have nothing queued.
    func keepAlive(with chunk: SharedChunk) {
        for stream in groups[nextGroup] {
            guard let response = stream.response, response.isIdle else { continue }
            response.send(chunk)
        }
        nextGroup = (nextGroup + 1) % Self.groupCount
    }

    private static func group(of id: ConnectionID) -> Int {
        Int(ConnectionTable<StreamConnection>.index(of: id)) % groupCount
    }
}
