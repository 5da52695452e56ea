import DatabaseCore
import Transport
import WireProtocol

/// One open WebSocket with a session on it.
@LoopActor
final class ClientConnection {
    let id: ConnectionID
    let socket: WebSocketConnection
    /// Joins and cuts the segments of the wire protocol's messages; nil where every WebSocket
    /// message is a whole one, as in the event protocol.
    var assembler: FrameAssembler?
    /// Bytes of large messages that came since the session began to wait for an inquiry.
    var parkedByteCount = 0

    init(id: ConnectionID, socket: WebSocketConnection, assembler: FrameAssembler?) {
        self.id = id
        self.socket = socket
        self.assembler = assembler
    }

    /// Whether large messages to it are cut into segments.
    var takesSegments: Bool { assembler != nil }
}

/// The open connections, each found by its number without hashing: a push to thousands finds them
/// one by one.
///
/// A number is a serial above the place in the table, so that a number whose connection is gone
/// finds nothing even when its place is taken again.
///
///     number := serial << 24 | place
struct ConnectionTable {
    private static let placeBits: UInt64 = 24

    /// Places of connections that are gone hold nil and stand in `freePlaces`.
    private var places: [ClientConnection?] = []
    private var freePlaces: [Int] = []
    private var lastSerial: UInt64 = 0

    /// Open connections.
    var count: Int { places.count - freePlaces.count }

    /// Gives a new connection its number and its place.
    mutating func add(_ make: (ConnectionID) -> ClientConnection) -> ClientConnection {
        lastSerial += 1
        let place = freePlaces.popLast() ?? places.count
        precondition(place < 1 << Self.placeBits, "a process has far fewer sockets")
        let connection = make(ConnectionID(lastSerial << Self.placeBits | UInt64(place)))
        if place < places.count {
            places[place] = connection
        } else {
            places.append(connection)
        }
        return connection
    }

    mutating func remove(_ id: ConnectionID) {
        guard self[id] != nil else { return }
        let place = ConnectionTable.place(of: id)
        places[place] = nil
        freePlaces.append(place)
    }

    /// The connection with this number; nil when it is gone.
    subscript(id: ConnectionID) -> ClientConnection? {
        let place = ConnectionTable.place(of: id)
        guard place < places.count, let found = places[place], found.id == id else { return nil }
        return found
    }

    private static func place(of id: ConnectionID) -> Int {
        Int(id.value & ((1 << placeBits) - 1))
    }
}
