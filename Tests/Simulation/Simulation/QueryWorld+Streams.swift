import DatabaseCore
import JSONTree
import Queries
import WireProtocol

/// Readers of event streams, which put and patch what they receive into what they have.
extension QueryWorld {
    /// Asks for a stream, on a connection of its own, whose number the request has too.
    func stream(_ watcher: Watcher, isExport: Bool) throws(SimulationFault) {
        let parameters = watcher.query?.restParameters ?? []
        note("\(watcher.connection) streams /\(watcher.path.joined(separator: "/")) \(parameters)")
        let path: Path
        let query: QuerySpec
        do {
            path = try Path(watcher.path.joined(separator: "/"))
            query = try RESTQuery.parse(parameters).spec ?? .everything
        } catch {
            throw SimulationFault("the server cannot read \(parameters): \(error)")
        }
        let operation = Request.Operation.stream(
            ConnectionID(watcher.connection),
            path,
            query,
            isExport: isExport,
        )
        let request = Request(
            database: SimulatedServer.database,
            credential: .none,
            operation: operation,
        )
        try input(.requested(request, id: RequestID(watcher.connection)))
    }

    /// Ends a stream as its reader does, begun or not.
    func leave(_ watcher: Watcher) throws(SimulationFault) {
        note("\(watcher.connection) leaves")
        watchers.removeAll { $0.number == watcher.number }
        left.insert(ConnectionID(watcher.connection))
        try input(.disconnected(ConnectionID(watcher.connection)))
    }

    /// What becomes of the request for a stream.
    func responded(_ id: RequestID, _ response: Response) throws(SimulationFault) {
        let index = watchers.firstIndex { $0.connection == id.value }
        switch response {
        case .streaming(let connection):
            guard connection.value == id.value else {
                throw SimulationFault("the stream \(id.value) is another's")
            }
            guard let index else {
                guard left.contains(connection) else {
                    throw SimulationFault("no client asked for the stream \(id.value)")
                }
                leaving.append(connection)
                return
            }
            if watchers[index].isConfirmed { throw SimulationFault("a stream begins twice") }
            watchers[index].isConfirmed = true
            counts.streams += 1
        case .notIndexed:
            guard let index else { return }
            let order = watchers[index].query?.index
            if watchers[index].path == ["list"] || order == .key || order == .priority {
                throw SimulationFault("what is indexed is not: \(String(describing: order))")
            }
            watchers.remove(at: index)
        case .refused(.busy):
            watchers.removeAll { $0.connection == id.value }
        default: throw SimulationFault("a stream is answered \(response)")
        }
    }

    /// Hands the events of a text to the reader of a stream.
    func streamed(_ text: [UInt8], to receivers: [ConnectionID]) throws(SimulationFault) {
        let events = try ServerSentText.events(text)
        for receiver in receivers where !left.contains(receiver) {
            guard let index = watchers.firstIndex(where: { $0.connection == receiver.value }),
                watchers[index].isConfirmed
            else { throw SimulationFault("no client reads the stream \(receiver.value)") }
            for (name, data) in events {
                note("stream \(receiver.value) receives \(name) \(data)")
                counts.streamEvents += 1
                try watchers[index].take(name, data)
            }
        }
    }
}

/// A reader of the text of an event stream, after the standard and not after the server.
enum ServerSentText {
    /// The events of whole texts: names and data.
    static func events(
        _ text: [UInt8]
    ) throws(SimulationFault) -> [(name: String, data: String)] {
        var events: [(name: String, data: String)] = []
        var name = ""
        var data: [String] = []
        for line in text.split(separator: 0x0a, omittingEmptySubsequences: false).dropLast() {
            let line = String(decoding: line, as: UTF8.self)
            if line.isEmpty {
                if data.count != 1 {
                    throw SimulationFault("an event has \(data.count) data lines")
                }
                events.append((name, data[0]))
                (name, data) = ("", [])
            } else if line.hasPrefix("event: ") {
                name = String(line.dropFirst("event: ".count))
            } else if line.hasPrefix("data: ") {
                data.append(String(line.dropFirst("data: ".count)))
            } else {
                throw SimulationFault("a stream says \(line)")
            }
        }
        if !name.isEmpty || !data.isEmpty { throw SimulationFault("an event is cut short") }
        return events
    }
}

extension NaiveQuery {
    /// The query as REST writes it.
    var restParameters: [(name: String, value: String)] {
        let order =
            switch index {
            case .key: "$key"
            case .value: "$value"
            case .priority: "$priority"
            case .child(let path): path.joined(separator: "/")
            }
        var parameters = [(name: "orderBy", value: JSONText.string(order).text)]
        if let start, start == end, start.isInclusive {
            parameters.append((name: "equalTo", value: start.restText))
        } else {
            if let start {
                let name = start.isInclusive ? "startAt" : "startAfter"
                parameters.append((name: name, value: start.restText))
            }
            if let end {
                let name = end.isInclusive ? "endAt" : "endBefore"
                parameters.append((name: name, value: end.restText))
            }
        }
        if let limit {
            parameters.append((name: keepsLast ? "limitToLast" : "limitToFirst", value: "\(limit)"))
        }
        return parameters
    }
}

extension NaiveQuery.Bound {
    fileprivate var restText: String {
        let text = (value?.json ?? .null).text
        return key.map { text + "," + JSONText.string($0).text } ?? text
    }
}

extension NaiveNode {
    /// The same without any priority.
    var withoutPriorities: NaiveNode {
        var node = NaiveNode(leaf)
        node.children = children.mapValues(\.withoutPriorities)
        return node
    }
}
