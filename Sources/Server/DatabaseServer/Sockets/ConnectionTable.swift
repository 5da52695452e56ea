import DatabaseCore
import Transport
import WireProtocol

/// One client with a session.
@LoopActor
final class ClientConnection: NumberedConnection {
    let id: ConnectionID
    /// The client's numeric address, for logs.
    let peer: String
    /// When its session began.
    let since = Clock.now()
    /// Who uses the console over it; nil for others.
    let consoleAuthor: AuditAuthor?
    /// Kept apart from its accessor: what only this file can reach needs no check of exclusive access.
    private var present: MessageChannel
    /// Joins and cuts the segments of the wire protocol's messages; nil where every message comes and
    /// goes whole: in the event protocol, and over long polling.
    var assembler: FrameAssembler?
    /// Of this node in its group, for another node whose client's session this is; nil for others.
    private let position: GroupPosition?
    /// Bytes of large messages that came since the session began to wait for an inquiry.
    var parkedByteCount = 0

    init(
        id: ConnectionID,
        peer: String,
        channel: MessageChannel,
        assembler: FrameAssembler? = nil,
        consoleAuthor: AuditAuthor? = nil,
        position: GroupPosition? = nil,
    ) {
        self.id = id
        self.peer = peer
        present = channel
        self.assembler = assembler
        self.consoleAuthor = consoleAuthor
        self.position = position
    }

    /// What messages to the client are given to.
    var channel: MessageChannel { present }

    /// The WebSocket; nil over long polling.
    var socket: WebSocketConnection? {
        if case .socket(let socket) = present { return socket }
        return nil
    }

    /// Bytes that wait for the client.
    var queuedByteCount: Int {
        switch present {
        case .socket(let socket): socket.queuedByteCount
        case .poll(let poll): poll.queuedByteCount
        }
    }

    /// Whether large messages to it are cut into segments.
    var takesSegments: Bool { assembler != nil }

    /// What it speaks, by the address: for logs.
    var door: String {
        if case .poll = present { return "/.lp" }
        return takesSegments ? "/.ws" : "/.events"
    }

    /// Queues frames. Ignored once the connection is over.
    func send(_ frame: SharedFrame) {
        if let position { present.send(position.frame) }
        present.send(frame)
    }

    /// Ends the connection behind everything queued.
    func close(code: UInt16, reason: String) { present.close(code: code, reason: reason) }

    /// Goes on at a WebSocket: what is sent from now on leaves there.
    func move(to socket: WebSocketConnection, _ assembler: FrameAssembler) {
        present = .socket(socket)
        self.assembler = assembler
    }
}

/// A connection that the engine knows by a number.
protocol NumberedConnection: AnyObject {
    nonisolated var id: ConnectionID { get }
}

extension ConnectionID {
    /// Set in the numbers of event streams.
    static let streamMark: UInt64 = 1 << 63

    /// Bits of the index in a `ConnectionTable`.
    fileprivate static let indexBits: UInt64 = 24

    /// For logs: the serial of a connection, `7`, or of an event stream, `s7`; each is given once in a process.
    var shortText: String {
        let serial = (value & ~Self.streamMark) >> Self.indexBits
        return value & Self.streamMark == 0 ? "\(serial)" : "s\(serial)"
    }
}

/// The open connections of one kind, each found by its number without hashing: a push to thousands finds
/// them one by one.
///
/// A number is a serial above the index in the table, so that a number whose connection is gone
/// finds nothing even when its slot is taken again.
///
///     number := mark | serial << 24 | index
struct ConnectionTable<Connection: NumberedConnection> {
    /// A bit beyond all serials that sets the numbers of this kind apart from those of others, or 0.
    private let mark: UInt64

    /// Slots of connections that are gone hold nil and stand in `freeIndices`.
    private var slots: [Connection?] = []
    private var freeIndices: [Int] = []
    private var lastSerial: UInt64 = 0

    init(mark: UInt64 = 0) {
        self.mark = mark
    }

    /// Open connections.
    var count: Int { slots.count - freeIndices.count }

    /// Gives a new connection its number and its slot.
    mutating func add(_ make: (ConnectionID) -> Connection) -> Connection {
        lastSerial += 1
        let index = freeIndices.popLast() ?? slots.count
        precondition(index < 1 << ConnectionID.indexBits, "a process has far fewer sockets")
        let serial = lastSerial << ConnectionID.indexBits
        let connection = make(ConnectionID(mark | serial | UInt64(index)))
        if index < slots.count {
            slots[index] = connection
        } else {
            slots.append(connection)
        }
        return connection
    }

    mutating func remove(_ id: ConnectionID) {
        guard self[id] != nil else { return }
        let index = Self.index(of: id)
        slots[index] = nil
        freeIndices.append(index)
    }

    /// The connection with this number; nil when it is gone.
    subscript(id: ConnectionID) -> Connection? {
        let index = Self.index(of: id)
        guard index < slots.count, let found = slots[index], found.id == id else { return nil }
        return found
    }

    /// Slots, taken or free.
    var slotCount: Int { slots.count }

    /// The connection in a slot; nil when the slot is free.
    subscript(slot index: Int) -> Connection? { slots[index] }

    /// The number of the open connection with this serial. O(slots).
    func id(ofSerial serial: UInt64) -> ConnectionID? {
        for case let connection? in slots
        where (connection.id.value & ~ConnectionID.streamMark) >> ConnectionID.indexBits == serial {
            return connection.id
        }
        return nil
    }

    /// The slot that a number names.
    static func index(of id: ConnectionID) -> Int {
        Int(id.value & ((1 << ConnectionID.indexBits) - 1))
    }
}
