import DatabaseCore
import Transport
import WireProtocol

/// One client with a session.
@LoopActor
final class ClientConnection: NumberedConnection {
    let id: ConnectionID
    /// Kept apart from its accessor: what only this file can reach needs no check of exclusive access.
    private var present: Carrier
    /// Joins and cuts the segments of the wire protocol's messages; nil where every message comes and
    /// goes whole: in the event protocol, and over long polling.
    var assembler: FrameAssembler?
    /// Bytes of large messages that came since the session began to wait for an inquiry.
    var parkedByteCount = 0

    init(id: ConnectionID, carrier: Carrier, assembler: FrameAssembler? = nil) {
        self.id = id
        present = carrier
        self.assembler = assembler
    }

    /// What messages to the client are given to.
    var carrier: Carrier { present }

    /// The WebSocket; nil over long polling.
    var socket: WebSocketConnection? {
        if case .socket(let socket) = present { return socket }
        return nil
    }

    /// Whether large messages to it are cut into segments.
    var takesSegments: Bool { assembler != nil }

    /// Queues frames. Ignored once the connection is over.
    func send(_ frame: SharedFrame) { present.send(frame) }

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

    /// Bits of the place in a `ConnectionTable`.
    fileprivate static let placeBits: UInt64 = 24

    /// For logs: the serial of a connection, `7`, or of an event stream, `s7`; each is given once in a process.
    var shortText: String {
        let serial = (value & ~Self.streamMark) >> Self.placeBits
        return value & Self.streamMark == 0 ? "\(serial)" : "s\(serial)"
    }
}

/// The open connections of one kind, each found by its number without hashing: a push to thousands finds
/// them one by one.
///
/// A number is a serial above the place in the table, so that a number whose connection is gone
/// finds nothing even when its place is taken again.
///
///     number := mark | serial << 24 | place
struct ConnectionTable<Connection: NumberedConnection> {
    /// A bit beyond all serials that sets the numbers of this kind apart from those of others, or 0.
    private let mark: UInt64

    /// Places of connections that are gone hold nil and stand in `freePlaces`.
    private var places: [Connection?] = []
    private var freePlaces: [Int] = []
    private var lastSerial: UInt64 = 0

    init(mark: UInt64 = 0) {
        self.mark = mark
    }

    /// Open connections.
    var count: Int { places.count - freePlaces.count }

    /// Gives a new connection its number and its place.
    mutating func add(_ make: (ConnectionID) -> Connection) -> Connection {
        lastSerial += 1
        let place = freePlaces.popLast() ?? places.count
        precondition(place < 1 << ConnectionID.placeBits, "a process has far fewer sockets")
        let serial = lastSerial << ConnectionID.placeBits
        let connection = make(ConnectionID(mark | serial | UInt64(place)))
        if place < places.count {
            places[place] = connection
        } else {
            places.append(connection)
        }
        return connection
    }

    mutating func remove(_ id: ConnectionID) {
        guard self[id] != nil else { return }
        let place = Self.place(of: id)
        places[place] = nil
        freePlaces.append(place)
    }

    /// The connection with this number; nil when it is gone.
    subscript(id: ConnectionID) -> Connection? {
        let place = Self.place(of: id)
        guard place < places.count, let found = places[place], found.id == id else { return nil }
        return found
    }

    /// The place in the table that a number names.
    static func place(of id: ConnectionID) -> Int {
        Int(id.value & ((1 << ConnectionID.placeBits) - 1))
    }
}
