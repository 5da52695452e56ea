import SimulatedStorage

/// A client that follows a node by its events: a listen, an observer of the plain event protocol that
/// keeps the children in order by the events alone, or the reader of an event stream.
struct Watcher: Sendable {
    enum Kind: Sendable {
        /// A listen of the wire protocol: tagged, or a default one without a query.
        case listen
        /// An observer of all child events, of `value`, or of both.
        case observer(children: Bool, value: Bool)
        /// The reader of an event stream, with priorities or without.
        case stream(isExport: Bool)
    }

    let connection: UInt64
    /// The tag of the listen, or the id of the observer.
    let number: Int
    let kind: Kind
    let path: NaivePath
    /// Nil for an observer or a stream of everything and for a default listen.
    let query: NaiveQuery?
    /// What a listen says to have when it begins; nil for nothing it could tell of.
    let having: NaiveNode?
    /// Whether the request was answered with success; only then what is shown must be right.
    var isConfirmed = false
    /// Whether the end of it was asked for.
    var isEnding = false
    /// What a listen or a stream shows, or the last `value` of an observer; nil before the first.
    private(set) var node: NaiveNode?
    /// What an observer of children shows, in order.
    private(set) var children: [(key: String, node: NaiveNode)] = []

    init(
        connection: UInt64,
        number: Int,
        kind: Kind,
        path: NaivePath,
        query: NaiveQuery?,
        having: NaiveNode? = nil,
    ) {
        self.connection = connection
        self.number = number
        self.kind = kind
        self.path = path
        self.query = query
        self.having = having
        node = having
    }

    /// The request that begins it.
    func request(_ id: Int) -> JSONText {
        let path = JSONText.string("/" + path.joined(separator: "/"))
        switch kind {
        case .listen:
            var body: [(name: String, value: JSONText)] = [("p", path)]
            body.append(("h", .string(having.map(SimulatedRequest.hash) ?? "none")))
            if let having, !having.isAbsent {
                let compound = NaiveCompoundHash(
                    of: having,
                    splitLength: 10 * (number % 6),
                    noticesAllPriorities: true
                )
                body.append(("ch", compound.json))
            }
            if let query {
                body.append(("q", query.json))
                body.append(("t", .number(Double(number))))
            }
            return .object([("r", .number(Double(id))), ("a", .string("q")), ("b", .object(body))])
        case .observer(let hasChildren, let hasValue):
            var events: [JSONText] = []
            if hasChildren {
                events = ["childAdded", "childChanged", "childMoved", "childRemoved"].map {
                    .string($0)
                }
            }
            if hasValue { events.append(.string("value")) }
            var members: [(name: String, value: JSONText)] = [
                ("id", .number(Double(id))), ("do", .string("observe")), ("path", path),
                ("events", .array(events)), ("export", .boolean(true)),
            ]
            if let query { members.append(("query", query.eventJSON)) }
            return .object(members)
        case .stream: preconditionFailure("a stream is no request of a session")
        }
    }

    /// The request that ends it.
    func endRequest(_ id: Int) -> JSONText {
        switch kind {
        case .observer:
            return .object([
                ("id", .number(Double(id))), ("do", .string("unobserve")),
                ("observer", .number(Double(number))),
            ])
        case .listen:
            var body: [(name: String, value: JSONText)] = [
                ("p", .string("/" + path.joined(separator: "/")))
            ]
            if let query {
                body.append(("q", query.json))
                body.append(("t", .number(Double(number))))
            }
            return .object([("r", .number(Double(id))), ("a", .string("n")), ("b", .object(body))])
        case .stream: preconditionFailure("a stream is no request of a session")
        }
    }

    /// Whether it ends by leaving, answered or not.
    var canEndAnyTime: Bool {
        if case .stream = kind { return true }
        return false
    }

    /// Whether an observer has asked for events of this name.
    func wants(_ event: String) -> Bool {
        guard case .observer(let hasChildren, let hasValue) = kind else { return false }
        return event == "value" ? hasValue : hasChildren
    }

    // MARK: Listens

    /// Takes a push of the wire protocol.
    mutating func push(
        _ action: String,
        _ body: JSONText,
        _ random: inout SplitMix64
    ) throws(SimulationFault) {
        var shown = node ?? .absent
        var place = NaiveTarget(text: body["p"]?.string ?? "")
        guard place.path.starts(with: path) else { throw fault("is pushed \(body.text)") }
        place.path.removeFirst(path.count)
        switch (action, body["d"]) {
        case ("d", let data?): shown.write(NaiveWrite(target: place, node: NaiveNode(data)))
        case ("m", .object(let members)?):
            for member in members {
                var target = NaiveTarget(text: member.name)
                target.path = place.path + target.path
                // Of a query, a client drops what lies below a child that it does not have.
                let isBelow = query != nil && target.path.count > 1
                if isBelow, shown.children[target.path[0]] == nil {
                    throw fault("is pushed a part of a child that it was never shown: \(body.text)")
                }
                shown.write(NaiveWrite(target: target, node: NaiveNode(member.value)))
            }
        case ("rm", .array(let ranges)?):
            for range in ranges { shown = NaiveRangeMerge(range).applied(to: shown, &random) }
        default: throw fault("is pushed \(action) \(body.text)")
        }
        node = shown
    }

    // MARK: Event streams

    /// Takes an event of a stream.
    mutating func take(_ name: String, _ data: String) throws(SimulationFault) {
        let body: JSONText
        do throws(JSONTextError) { body = try JSONText(Array(data.utf8)) } catch {
            throw fault("receives no JSON: \(data)")
        }
        guard let place = body["path"]?.string, place.hasPrefix("/"), let value = body["data"]
        else {
            throw fault("receives \(name) \(data)")
        }
        let path = NaiveTarget(text: place).path
        if node == nil, name != "put" || place != "/" { throw fault("begins with \(name) \(data)") }
        var shown = node ?? .absent
        switch (name, value) {
        case ("put", _): shown.set(NaiveNode(value), at: path)
        case ("patch", .object(let members)) where !members.isEmpty:
            for member in members {
                let below = NaiveTarget(text: member.name)
                if below.path.isEmpty || below.isPriority { throw fault("receives \(data)") }
                shown.set(NaiveNode(member.value), at: path + below.path)
            }
        default: throw fault("receives \(name) \(data)")
        }
        let limit = query?.limit ?? .max
        if name == "put", shown.children.count > limit { throw fault("shows more than \(limit)") }
        node = shown
    }

    // MARK: Events

    /// Takes the events of one change, or those that lead to the present.
    ///
    /// Removed children go. What was added or moved then stands right behind the child that it names,
    /// in whichever order these came.
    mutating func take(_ events: [JSONText]) throws(SimulationFault) {
        var lastRank = 0
        var placed: [(key: String, previous: String?, node: NaiveNode)] = []
        for event in events {
            let name = event["event"]?.string ?? ""
            guard let rank = Self.ranks[name], rank >= lastRank else {
                throw fault("receives \(event.text) too late")
            }
            lastRank = rank
            let key = event["key"]?.string ?? ""
            let value = NaiveNode(event["value"] ?? .null)
            let previous = event["previousKey"]?.string
            let index = children.firstIndex { $0.key == key }
            switch name {
            case "value": node = value
            case "childRemoved":
                guard let index else { throw fault("never had what is removed: \(event.text)") }
                if children[index].node != value { throw fault("had another: \(event.text)") }
                children.remove(at: index)
            case "childAdded":
                if index != nil { throw fault("has already what is added: \(event.text)") }
                placed.append((key, previous, value))
            case "childMoved":
                guard let index else { throw fault("never had what moves: \(event.text)") }
                children.remove(at: index)
                placed.append((key, previous, value))
            default:
                try place(&placed)
                try change(key, previous, value)
            }
        }
        try place(&placed)
    }

    private static let ranks = [
        "childRemoved": 0, "childAdded": 1, "childMoved": 2, "childChanged": 3, "value": 4,
    ]

    private mutating func place(
        _ placed: inout [(key: String, previous: String?, node: NaiveNode)]
    ) throws(SimulationFault) {
        while !placed.isEmpty {
            let next = placed.firstIndex { entry in
                entry.previous.map { key in children.contains { $0.key == key } } ?? true
            }
            guard let next else { throw fault("receives previous keys that are not there") }
            let entry = placed.remove(at: next)
            let before = entry.previous.flatMap { key in children.firstIndex { $0.key == key } }
            children.insert((entry.key, entry.node), at: before.map { $0 + 1 } ?? 0)
        }
    }

    private mutating func change(
        _ key: String,
        _ previous: String?,
        _ value: NaiveNode
    ) throws(SimulationFault) {
        guard let index = children.firstIndex(where: { $0.key == key }) else {
            throw fault("never had what changes: \(key)")
        }
        if previous != (index == 0 ? nil : children[index - 1].key) {
            throw fault("has \(key) behind another than \(previous ?? "none")")
        }
        children[index].node = value
    }

    // MARK: Checks

    /// Compares what is shown with what there is.
    func check(_ root: NaiveNode) throws(SimulationFault) {
        let whole = root[path]
        let order = query ?? NaiveQuery(index: .priority)
        switch kind {
        case .listen:
            try compare(node ?? .absent, query?.result(in: whole) ?? whole)
        case .stream(let isExport):
            guard let node else { throw fault("never received a value") }
            let right = query?.result(in: whole) ?? whole
            try compare(node, isExport ? right : right.withoutPriorities)
        case .observer(let hasChildren, let hasValue):
            if hasChildren {
                let keys = order.keys(in: whole)
                guard children.map(\.key) == keys else {
                    throw fault("shows \(children.map(\.key)), not \(keys)")
                }
                for (key, child) in children {
                    try compare(child, whole.children[key] ?? .absent)
                }
            }
            if hasValue {
                guard let node else { throw fault("never received a value") }
                try compare(node, order.result(in: whole))
            }
        }
    }

    private func compare(_ shown: NaiveNode, _ right: NaiveNode) throws(SimulationFault) {
        guard let difference = shown.difference(from: right) else { return }
        throw fault("sees that \(difference)")
    }

    private func fault(_ text: String) -> SimulationFault {
        let place = "/\(path.joined(separator: "/")) \(query?.json.text ?? "")"
        return SimulationFault("\(kind) \(number) of \(connection) at \(place) \(text)")
    }
}
