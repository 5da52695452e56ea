import SimulatedStorage

/// What a client must know of the server's data, by what it has asked for and received: copies of
/// listens in the plainest form, and the pending writes to lay over them.
struct SyncTwin {
    /// The data of one listen.
    struct Copy {
        var node = NaiveNode.absent
        /// Whether all of it is there; until then nothing is known.
        var isComplete = false
        /// Whether the client has asked for it and the server has not answered.
        var isAsked = true
        /// Whether its data is that of another listen. Until the answer, more of it may be known than that.
        var isBorrowed = false
        /// The number of the request; an answer to an earlier one is of a listen that has ended.
        var request = 0
        /// What it was when the request was sent: an answer without data says that it is just this.
        var sent = NaiveNode.absent
        /// Whether data came in answer.
        var isAnswered = false
    }

    /// A write that has no answer.
    struct Pending {
        /// The call that gets the outcome, or the number of the write in the disk cache.
        enum Name: Equatable {
            case call(UInt64)
            case stored(Int64)
        }

        var name: Name
        var writes: [NaiveWrite]
        /// Whether what it writes is the client's guess, which the twin does not make.
        var isGuess: Bool
    }

    /// Listens that the server knows, or will once the request arrives.
    private(set) var live: [NaiveListen: Copy] = [:]
    /// Data of listens that have ended or died with their connection.
    private var kept: [NaiveListen: Copy] = [:]
    /// The same as they were when they ended: what a disk cache has of them.
    private var frozen: [NaiveListen: [Copy]] = [:]
    /// What the client has made of nothing, by what was promised for the ends of connections. An empty
    /// hash does not say whether nothing is known or that there is nothing.
    private var madeOfNothing = NaiveNode.absent
    /// Listens that wait for their answer, by the number of the request.
    private var asked: [Int: NaiveListen] = [:]
    /// The number of the last request, and of the last one with a reply. Replies come in order.
    private var lastSent = 0
    private var lastReplied = 0
    var pending: [Pending] = []
    /// Whether requests can be sent.
    private(set) var isConnected = false
    /// Whether the client has a disk cache.
    let isStored: Bool
    /// Data that the disk cache held when the client started.
    var restored: [NaiveListen: NaiveNode] = [:]

    init(isStored: Bool) {
        self.isStored = isStored
    }

    // MARK: The connection

    /// The server has greeted the client, which asks for everything again.
    mutating func connected() {
        isConnected = true
        lastReplied = lastSent
        for (listen, copy) in live { keep(listen, copy) }
        live = [:]
        asked = [:]
    }

    /// The connection is gone; what was promised for then is written.
    mutating func disconnected(_ writes: [NaiveWrite]) {
        isConnected = false
        asked = [:]
        for write in writes {
            madeOfNothing.write(write)
            for (listen, copy) in live where listen.query == nil {
                live[listen]?.node = Self.applied(write, to: copy, at: listen.path).node
            }
        }
    }

    private mutating func keep(_ listen: NaiveListen, _ copy: Copy) {
        var plain = listen
        plain.tag = nil
        kept[plain] = copy
        frozen[plain] = (frozen[plain] ?? []).suffix(2) + [copy]
    }

    // MARK: Requests

    /// Takes a request that the client sends.
    mutating func sent(_ message: JSONText) throws(SimulationFault) {
        guard let payload = message["d"], let number = payload["r"]?.number,
            let action = payload["a"]?.string, let body = payload["b"]
        else { return }
        lastSent = Int(number)
        let path = NaiveTarget(text: body["p"]?.string ?? "").path
        let query = body["q"].flatMap(NaiveQuery.init(wire:))
        let listen = NaiveListen(path: path, query: query, tag: body["t"]?.number.map { Int($0) })
        switch action {
        case "q":
            if live[listen] != nil { throw SimulationFault("listens twice: \(message.text)") }
            var copy = try copy(listen, hash: body["h"]?.string ?? "", message)
            copy.request = Int(number)
            copy.sent = copy.node
            live[listen] = copy
            asked[Int(number)] = listen
        case "n":
            guard let copy = live.removeValue(forKey: listen) else {
                throw SimulationFault("ends what is no listen: \(message.text)")
            }
            keep(listen, copy)
        default: break
        }
    }

    /// What the client has of a listen that it starts, by the hash that it sends.
    private func copy(
        _ listen: NaiveListen,
        hash: String,
        _ message: JSONText
    ) throws(SimulationFault) -> Copy {
        if hash.isEmpty { return Copy() }
        var candidates: [(node: NaiveNode, isBorrowed: Bool)] = []
        var copies = live.map { ($0.key, $0.value) }
        copies += kept.map { ($0.key, $0.value) }
        copies += frozen.flatMap { entry in entry.value.map { (entry.key, $0) } }
        for (other, copy) in copies
        where copy.isComplete && listen.path.starts(with: other.path) {
            let isSame = other.path == listen.path && other.query == listen.query
            let below = Array(listen.path.dropFirst(other.path.count))
            if other.query != nil, !isSame {
                // Of a query, the children that it shows are known whole.
                guard let key = below.first, copy.node.children[key] != nil else { continue }
            }
            let node = copy.node[below]
            candidates.append((listen.query?.result(in: node) ?? node, !isSame))
            // A query that receives all of its node, as the answer to a listen that has ended since, keeps all of it.
            if let query = listen.query, other.query == nil, below.isEmpty,
                SimulatedRequest.hash(of: node) == hash
            {
                return Copy(node: query.result(in: node), isComplete: true, isBorrowed: true)
            }
        }
        for (other, node) in restored where listen.path.starts(with: other.path) {
            if other.query != nil && other.query != listen.query { continue }
            let node = node[Array(listen.path.dropFirst(other.path.count))]
            candidates.append((listen.query?.result(in: node) ?? node, true))
        }
        let made = madeOfNothing[listen.path]
        candidates.append((listen.query?.result(in: made) ?? made, true))
        for (node, isBorrowed) in candidates where SimulatedRequest.hash(of: node) == hash {
            return Copy(node: node, isComplete: true, isBorrowed: isBorrowed)
        }
        throw SimulationFault("says to have what it never received: \(message.text)")
    }

    // MARK: Messages

    /// Takes a message that reaches the client.
    mutating func received(
        _ message: JSONText,
        _ random: inout SplitMix64
    ) throws(SimulationFault) {
        guard let payload = message["d"], message["t"] == .string("d") else { return }
        if let number = payload["r"]?.number, let body = payload["b"] {
            lastReplied = Int(number)
            guard let listen = asked.removeValue(forKey: Int(number)) else { return }
            if live[listen]?.request != Int(number) { return }
            if body["s"] == .string("ok") {
                if let copy = live[listen], !copy.isAnswered { live[listen]?.node = copy.sent }
                live[listen]?.isComplete = true
                live[listen]?.isAsked = false
            } else {
                live[listen] = nil
            }
        } else if let action = payload["a"]?.string, let body = payload["b"] {
            pushed(action, body, &random)
        }
    }

    private mutating func pushed(_ action: String, _ body: JSONText, _ random: inout SplitMix64) {
        let base = NaiveTarget(text: body["p"]?.string ?? "")
        let tag = body["t"]?.number.map { Int($0) }
        if action == "c" {
            var queries: [NaiveQuery?] = [nil]
            if case .array(let items)? = body["q"] { queries = items.map(NaiveQuery.init(wire:)) }
            for listen in live.keys where listen.path == base.path {
                if queries.contains(listen.query) { live[listen] = nil }
            }
            return
        }
        var writes: [NaiveWrite] = []
        switch (action, body["d"]) {
        case ("d", let data?): writes = [NaiveWrite(target: base, node: NaiveNode(data))]
        case ("m", .object(let members)?):
            for member in members {
                var target = NaiveTarget(text: member.name)
                target.path = base.path + target.path
                writes.append(NaiveWrite(target: target, node: NaiveNode(member.value)))
            }
        case ("rm", .array(let ranges)?):
            for (listen, copy) in live where listen.path == base.path && listen.tag == tag {
                var node = copy.node
                for range in ranges { node = NaiveRangeMerge(range).applied(to: node, &random) }
                live[listen]?.node = node
            }
        default: break
        }
        for (listen, copy) in live where listen.tag == tag {
            let isOwn = tag != nil || listen.path == base.path && !base.isPriority
            if isOwn, copy.request == lastReplied + 1 { live[listen]?.isAnswered = true }
        }
        for (listen, copy) in live where tag == nil || listen.tag == tag {
            let copy = live[listen] ?? copy
            live[listen] = Self.applied(writes, to: copy, of: listen, isTagged: tag != nil)
        }
        // A view outlives its listen while another covers it, and hears what is still on its way.
        for (listen, copy) in kept where tag == nil {
            kept[listen] = Self.applied(writes, to: copy, of: listen, isTagged: false)
        }
    }

    private static func applied(
        _ writes: [NaiveWrite],
        to copy: Copy,
        of listen: NaiveListen,
        isTagged: Bool
    ) -> Copy {
        var copy = copy
        for write in writes {
            if !isTagged, listen.query != nil, !concerns(write.target, copy, of: listen.path) {
                continue
            }
            copy = applied(write, to: copy, at: listen.path)
        }
        if let query = listen.query { copy.node = query.result(in: copy.node) }
        return copy
    }

    /// Whether data for another listen tells something of a query: all of it, whole children, and parts
    /// of those that are in its window.
    private static func concerns(
        _ target: NaiveTarget,
        _ copy: Copy,
        of path: NaivePath
    ) -> Bool {
        if path.starts(with: target.path) { return !target.isPriority }
        guard copy.isComplete, target.path.starts(with: path) else { return false }
        guard let key = target.path.dropFirst(path.count).first else { return false }
        let isWhole = target.path.count == path.count + 1 && !target.isPriority
        return isWhole || copy.node.children[key] != nil
    }

    private static func applied(
        _ write: NaiveWrite,
        to copy: Copy,
        at path: NaivePath
    ) -> Copy {
        var copy = copy
        if write.target.path.starts(with: path),
            write.target.path.count > path.count
                || write.target.isPriority
        {
            if !copy.isComplete { return copy }
            let below = Array(write.target.path.dropFirst(path.count))
            let target = NaiveTarget(path: below, isPriority: write.target.isPriority)
            copy.node.write(NaiveWrite(target: target, node: write.node))
        } else if path.starts(with: write.target.path), !write.target.isPriority {
            copy.node = write.node[Array(path.dropFirst(write.target.path.count))]
            copy.isComplete = true
        }
        return copy
    }

    // MARK: What must be shown

    /// Whether each listen was answered since the connection began.
    var isSettled: Bool { isConnected && live.values.allSatisfy { !$0.isAsked } }

    /// Whether all that is known of a place came by one listen, and so each commit as a whole.
    func hasOneListen(around path: NaivePath) -> Bool {
        let count = live.keys.count { $0.path.starts(with: path) || path.starts(with: $0.path) }
        return count == 1
    }

    /// What is known at a place for a query, pending writes included; nil when the twin cannot say.
    func known(_ path: NaivePath, _ query: NaiveQuery?) -> NaiveNode? {
        for pending in pending where pending.isGuess {
            let isNear = pending.writes.contains {
                $0.target.path.starts(with: path) || path.starts(with: $0.target.path)
            }
            if isNear { return nil }
        }
        let own = live.first { $0.key.query != nil && $0.key.path == path && $0.key.query == query }
        if let own {
            if own.value.isAsked { return nil }
            return own.value.isComplete ? laid(over: own.value.node, at: path, isWhole: false) : nil
        }
        // Without a connection a plain listen may end unseen, and leave its queries with their windows.
        if !isConnected, query.map({ !$0.loadsEverything }) ?? false { return nil }
        let covering = live.filter { $0.key.query == nil && path.starts(with: $0.key.path) }
        // Data from the disk may be older than what a view shows of another listen, until the answer.
        let isUnsure = covering.values.contains { $0.isAsked && (isStored || $0.isBorrowed) }
        if isUnsure { return nil }
        guard covering.allSatisfy({ $0.value.isComplete }),
            let listen = covering.keys.min(by: { $0.path.count < $1.path.count }),
            let copy = covering[listen]
        else { return nil }
        let node = copy.node[Array(path.dropFirst(listen.path.count))]
        return laid(over: node, at: path, isWhole: true)
    }

    /// Pending writes over data. Below a child of which nothing is known they show nothing.
    private func laid(over node: NaiveNode, at path: NaivePath, isWhole: Bool) -> NaiveNode? {
        var node = node
        var isWhole = isWhole
        var seen: Set<String> = []
        var emptied: [NaivePath] = []
        for write in pending.flatMap(\.writes) {
            let target = write.target
            if path.starts(with: target.path), !target.isPriority {
                node = write.node[Array(path.dropFirst(target.path.count))]
                isWhole = true
                emptied = []
            } else if target.path.starts(with: path) {
                let below = Array(target.path.dropFirst(path.count))
                if let key = below.first, !isWhole, below.count > 1 || target.isPriority,
                    node.children[key] == nil, !seen.contains(key)
                {
                    continue
                }
                if let key = below.first { seen.insert(key) }
                // A later write may fill the place; whether it then has the priority is the client's guess.
                if target.isPriority, node[below].isAbsent, write.node.leaf != nil { return nil }
                // So it is of a node that lost its last child and is given another.
                emptied.removeAll { !target.isPriority && $0.starts(with: below) }
                let isFilled = emptied.contains { below.starts(with: $0) }
                if isFilled, !target.isPriority, !write.node.isAbsent { return nil }
                let above = below.indices.map { Array(below[..<$0]) }
                let weighed = above.filter { node[$0].priority != nil }
                let inner = NaiveTarget(path: below, isPriority: target.isPriority)
                node.write(NaiveWrite(target: inner, node: write.node))
                emptied += weighed.filter { node[$0].isAbsent }
            }
        }
        return node
    }
}

extension NaiveQuery {
    /// Reads the query object of a request; nil for one that selects everything.
    init?(wire json: JSONText) {
        guard case .object(let members) = json, !members.isEmpty else { return nil }
        switch json["i"]?.string {
        case ".key": self.init(index: .key)
        case ".value": self.init(index: .value)
        case nil, ".priority": self.init(index: .priority)
        case let path?:
            self.init(index: .child(path.split(separator: "/").map(String.init)))
        }
        start = Self.bound(json, "s", index)
        end = Self.bound(json, "e", index)
        limit = json["l"]?.number.map { Int($0) }
        keepsLast = json["vf"] == .string("r")
    }

    private static func bound(_ json: JSONText, _ prefix: String, _ index: Index) -> Bound? {
        guard let value = json[prefix + "p"] else { return nil }
        var bound = Bound(value: NaiveNode(value).leaf)
        if let key = json[prefix + "n"]?.string, key != "[MIN_NAME]", key != "[MAX_NAME]",
            index != .key
        {
            bound.key = key
        }
        bound.isInclusive = json[prefix + "in"] != .boolean(false)
        return bound
    }
}
