import EventProtocol
import JSONTree
import Queries
import Transport
import WireProtocol

extension FuzzTarget {
    /// The parameters of a REST read: their order does not matter, and the query goes over the wire as it is.
    static let restQuery = FuzzTarget(name: "rest-query") { bytes in
        let line = Array("GET /x.json?".utf8) + bytes + Array(" HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
        guard let query = RESTParameters.read(line) else { return }
        // Of this one the last counts, as the others may not be repeated.
        guard query.filter({ $0.name == "shallow" }).count < 2 else { return }
        let read = RESTParameters.query(query)
        let reversed = RESTParameters.query(query.reversed())
        try check((read == nil) == (reversed == nil), "its order decides whether it is refused")
        if read != nil { try check(read == reversed, "its order decides what is read") }
        guard let spec = read?.spec, !spec.loadsEverything else { return }
        let target = ListenTarget(spec, at: .root)
        let request = ClientRequest(number: 1, action: .get(target))
        guard case .request(let again) = try ClientMessage.parse(request.encoded()),
            case .get(let received) = again.action
        else { throw BrokenProperty(description: "no wire text: \(shown(request.encoded()))") }
        try check(received == target, "it has another wire text: \(shown(request.encoded()))")
        try check(received.query == spec, "on the wire it is another: \(shown(request.encoded()))")
        try checkView(spec)
    }

    /// What a query selects is a part of all, in the order of all.
    private static func checkView(_ spec: QuerySpec) throws {
        let text =
            #"{"a":1,"b":{"a":2,"b":"x"},"c":{".value":"x",".priority":3},"d":true,"1":2.5,"e":{"a":2}}"#
        let root = try Node(json: text)
        let all = try selected(QuerySpec(index: spec.index, limit: 100), root)
        let some = try selected(spec, root)
        let indexes = some.compactMap { all.firstIndex(of: $0) }
        try check(indexes.count == some.count, "it selects what is not there: \(some)")
        try check(indexes == indexes.sorted(), "it has another order: \(some), not \(all)")
        let isInRow = zip(indexes, indexes.dropFirst()).allSatisfy { $0 + 1 == $1 }
        try check(isInRow, "it leaves out some between: \(some) of \(all)")
        try check(some.count <= spec.limit ?? .max, "it passes its limit: \(some)")
    }

    private static func selected(_ spec: QuerySpec, _ root: Node) throws -> [String] {
        let index = spec.index == .key ? nil : ChildIndex(spec.index, of: root)
        let children = OrderedChildren(root, index: index)
        var walk = QueryView(spec, children).walk(in: children)
        var keys: [String] = []
        while let step = walk.next() { keys.append(step.key.string) }
        return keys
    }

    /// Frames of the event protocol: JSON is refused or done, and only what is none closes the connection.
    static let eventRequests = FuzzTarget(name: "event-requests") { text in
        let key = try Key("-key")
        do {
            let request = try EventRequest.parse(text) { key }
            switch request.action {
            case .refused: break
            case .observe(let observation):
                try check(!observation.events.isEmpty, "an observer of nothing")
                try check(observation.id == request.id, "an observer of another id")
                try checkView(observation.query)
            case .update(let base, let entries), .onDisconnectUpdate(let base, let entries):
                let isBelow = entries.allSatisfy { base.isPrefix(of: $0.target.path) }
                try check(isBelow, "an update writes above its base")
            default: try check(request.id != nil, "an action without an id")
            }
        } catch let error as EventFrameError {
            try check((0...text.count).contains(error.fault.offset), "a fault outside: \(error)")
            do {
                _ = try Node.readingAnyJSON(text)
                throw BrokenProperty(description: "JSON closes the connection: \(error)")
            } catch is JSONError {
                // It is none for other readers either.
            }
        }
    }
}

private enum RESTParameters {
    static func read(_ head: [UInt8]) -> [(name: String, value: String)]? {
        let count = head.count
        do throws(RequestFault) {
            guard try RequestHeadParser.findEnd(of: head, start: 0, from: 0) == count else {
                return nil
            }
            let parts = try RequestHeadParser.parse(head, limits: TransportConfiguration().limits)
            let endpoint = Endpoint(address: "192.0.2.1", port: 1, network: 1)
            return RequestHead(parts, peer: endpoint, isTLS: false).query
        } catch {
            return nil
        }
    }

    static func query(_ parameters: [(name: String, value: String)]) -> RESTQuery? {
        do throws(RESTQueryError) { return try RESTQuery.parse(parameters) } catch { return nil }
    }
}
