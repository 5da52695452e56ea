import DatabaseCore
import JSONTree
import Logging
import Queries
import SecurityRules
import Transport

/// The open connections, for administrators: who they are, what they listen to, and the end of one.
///
///     GET    /.inspect/connections.json?text=&limit=&after=   a page of them
///     DELETE /.inspect/connections/ID.json                    ends one
extension SocketService {
    /// A page of the connections.
    func answerConnections(_ pending: PendingExchange) throws(BadRequest) {
        let wanted = try ConnectionFilter(pending.exchange.head.query)
        server.requests.asAdministrator(pending) { [self] in
            finish(pending, .json(of: page(wanted)))
        }
    }

    /// Ends the connection that the address names.
    func answerEnd(_ pending: PendingExchange) {
        server.requests.asAdministrator(pending) { [self] in
            let text = pending.request.name
            guard let id = connection(named: text) else {
                return finish(
                    pending,
                    .error(404, "There is no connection '\(text)' now; list them for their ids.")
                )
            }
            end(id, on: pending.exchange)
            finish(pending, .statusOK)
        }
    }

    /// Ends a connection for an administrator, with a word why where its protocol has room for one.
    ///
    /// On-disconnect writes run. The client may connect again.
    private func end(_ id: ConnectionID, on exchange: HTTPExchange) {
        var details: Logger.Metadata = ["connection": "\(id.shortText)"]
        if let owner = engine.owner(of: id) { details["database"] = "\(owner.database)" }
        log(deed("a connection is ended", exchange), details, on: exchange)
        if engine.owner(of: id) == nil { return close(id, .ended) }
        step(.end(id))
    }

    /// The open connection with this id, as logs and the list have it.
    private func connection(named text: String) -> ConnectionID? {
        let isStream = text.hasPrefix("s")
        guard let serial = UInt64(isStream ? String(text.dropFirst()) : text) else { return nil }
        return isStream
            ? server.data.streams.id(ofSerial: serial) : connections.id(ofSerial: serial)
    }

    // MARK: - The list

    /// Looks at connections from the position on that the request names, until the page is full or enough were looked at.
    private func page(_ wanted: ConnectionFilter) -> JSONValue {
        let streams = server.data.streams
        var found: [JSONValue] = []
        var position = wanted.position
        var left = ConnectionFilter.workLimit
        while left > 0, found.count < wanted.limit {
            let isStream = position >= ConnectionFilter.firstStream
            let slot = isStream ? position - ConnectionFilter.firstStream : position
            if slot >= (isStream ? streams.slotCount : connections.slotCount) {
                if isStream { break }
                position = ConnectionFilter.firstStream
                continue
            }
            position += 1
            left -= 1
            if isStream {
                guard let stream = streams.open(slot: slot) else { continue }
                add(
                    stream.id,
                    "event stream",
                    stream.peer,
                    stream.since,
                    stream.queuedByteCount,
                    wanted,
                    &left,
                    &found
                )
            } else if let connection = connections[slot: slot] {
                add(
                    connection.id,
                    connection.door,
                    connection.peer,
                    connection.since,
                    connection.queuedByteCount,
                    wanted,
                    &left,
                    &found
                )
            }
        }
        let isOver =
            position >= ConnectionFilter.firstStream
            && position - ConnectionFilter.firstStream >= streams.slotCount
        return [
            "connections": .list(found), "total": .number(connections.count + streams.openCount),
            "now": .integer(Clock.now().milliseconds),
            "next": isOver ? nil : .number(position),
        ]
    }

    private func add(
        _ id: ConnectionID,
        _ door: String,
        _ peer: String,
        _ since: Timestamp,
        _ queuedByteCount: Int,
        _ wanted: ConnectionFilter,
        _ left: inout Int,
        _ found: inout [JSONValue]
    ) {
        guard wanted.accepts(id, peer, engine, &left) else { return }
        let figures = engine.figures(of: id, listenLimit: ConnectionFilter.shownListenCount)
        left -= figures?.listenCount ?? 0
        found.append([
            "id": .string(id.shortText), "door": .string(door), "peer": .string(peer),
            "since": .integer(since.milliseconds),
            "database": figures.map { .string($0.database.name) },
            "who": .string(figures?.identity.kind ?? "signedOut"),
            "uid": figures?.identity.uid.map { .string($0) },
            "listenCount": .number(figures?.listenCount ?? 0),
            "listens": .list(
                (figures?.listens ?? []).map { listen in
                    [
                        "path": .string(listen.path.description),
                        "query": listen.query.loadsEverything ? nil : listen.query.json,
                    ]
                }
            ),
            "queuedBytes": .number(queuedByteCount),
            "waiting": .number(figures?.parkedCount ?? 0),
        ])
    }
}

/// Which connections are asked for: `text=ann&limit=50&after=200`.
struct ConnectionFilter: Equatable {
    /// In the uid, the address, the database, the id or a path of a listen; lower case.
    var text: String?
    var limit = standardLimit
    /// Where to begin: a slot of the sessions, or `firstStream` and a slot of the event streams.
    var position = 0

    static let standardLimit = 100
    static let limits = 1...500
    /// Listens of one connection that are shown.
    static let shownListenCount = 20
    /// Connections and listens that one request looks at, some milliseconds; then it says where to go on.
    static let workLimit = 20_000
    /// Positions of event streams begin here.
    static let firstStream = 1 << 24

    init() {}

    init(_ query: [(name: String, value: String)]) throws(BadRequest) {
        for (name, value) in query where !value.isEmpty {
            switch name {
            case "text": text = value.lowercased()
            case "limit":
                guard let number = Int(value), Self.limits.contains(number) else {
                    throw BadRequest("'limit' must be a number from 1 to \(Self.limits.upperBound)")
                }
                limit = number
            case "after":
                guard let number = Int(value), (0..<2 * Self.firstStream).contains(number) else {
                    throw BadRequest("'after' must be the 'next' of the page before")
                }
                position = number
            default: break
            }
        }
    }

    /// Whether a connection is asked for. Takes the listens that it looks at off `left`.
    func accepts(
        _ id: ConnectionID,
        _ peer: String,
        _ engine: DatabaseEngine,
        _ left: inout Int
    ) -> Bool {
        guard let text else { return true }
        let owner = engine.owner(of: id)
        let words = [id.shortText, peer, owner?.database.name, owner?.identity.uid].compactMap(
            \.self
        )
        if words.contains(where: { $0.lowercased().contains(text) }) { return true }
        if owner?.identity.kind.contains(text) == true { return true }
        left -= owner?.listenCount ?? 0
        return engine.listens(id) { $0.description.lowercased().contains(text) }
    }
}

extension Identity {
    /// `administrator`, `user` or `signedOut`.
    var kind: String {
        switch self {
        case .admin: "administrator"
        case .user(let auth): auth == nil ? "signedOut" : "user"
        }
    }

    /// The text of `auth.uid`.
    var uid: String? { auth?.value.child(Self.uidKey).string }

    private static let uidKey = Key(unchecked: Array("uid".utf8))
}
