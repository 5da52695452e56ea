import DatabaseCore
import JSONTree
import WireProtocol

@testable import Simulation

/// What applications write.
extension StorageWorld {
    func newList(_ index: Int) -> StorageList {
        let isTall = seed % 2 == 1 && !happens(oneIn: 4)
        let order = isTall ? .longest : KeyOrder.allCases[number(below: KeyOrder.allCases.count)]
        let sizes: [ValueSize] = [.tiny, .short, .short, .embedded, .pages]
        // Values in blocks of their own: pages are cut for their references.
        let size = index == 1 ? .pages : sizes[number(below: sizes.count)]
        // The longest keys are two a page: three levels of branches. Large values need few.
        let count: Int
        switch (order, size) {
        case (.longest, _): count = 60 + number(below: 540)
        case (_, .pages): count = 30 + number(below: 100)
        default: count = 10 + number(below: 500)
        }
        return StorageList(
            name: "\(index)-\(order)",
            order: order,
            size: order == .longest ? .tiny : size,
            keys: isTall && happens(oneIn: 2)
                ? order.keys(count, &random).sorted() : order.keys(count, &random),
        )
    }

    /// One write of one list.
    func write() throws(SimulationFault) {
        let index = number(below: lists.count)
        if lists[index].isDone {
            try put([], .absent, in: index)
            lists[index] = newList(index)
        }
        if lists[index].phase == .growing, lists[index].isGrown {
            let draw = number(below: 3)
            lists[index].beginShrinking { live in
                switch draw {
                case 0: live.sort()
                case 1: live.sort(by: >)
                default: live.shuffle(using: &random)
                }
            }
        }
        if lists[index].next == 0, lists[index].order == .longest {
            // At once, so that the rest meets all the height.
            try merge(index, atMost: lists[index].keys.count * 3 / 4)
        }
        switch number(below: 100) {
        case 0..<62: try growOrShrink(index)
        case 62..<70: try change(index) { $0.leaf($0.lists[index].size) }
        case 70..<74: try change(index) { $0.leaf(ValueSize.allCases[$0.number(below: 4)]) }
        case 74..<82: try writeBelow(index)
        case 82..<88: try prioritize(index)
        case 88..<92: try change(index) { $0.drawnNode(depth: 3) }
        case 92..<97: try merge(index)
        case 97: try change(index) { $0.chain() }
        case 98: if happens(oneIn: 4) { try change(index) { $0.leaf(.huge) } }
        default: if happens(oneIn: 3) { try putWhole(index) }
        }
    }

    /// One write of another database.
    func writeBeside() throws(SimulationFault) {
        let database = side.databases[number(below: side.databases.count)]
        do {
            let operation = try side.next(of: database, in: server)
            guard try ask(operation, of: database) else {
                throw SimulationFault("a write of \(database) makes no commit")
            }
        } catch let fault as SimulationFault {
            throw fault
        } catch {
            throw SimulationFault("a write is not legal: \(error)")
        }
    }

    private func growOrShrink(_ index: Int) throws(SimulationFault) {
        if lists[index].phase == .growing {
            for key in lists[index].grow(1) {
                try put([key], leaf(lists[index].size), in: index)
            }
        } else if let key = lists[index].shrink() {
            try put([key], .absent, in: index)
        }
    }

    /// Overwrites a child that is there.
    private func change(
        _ index: Int,
        _ value: (StorageWorld) -> NaiveNode
    ) throws(SimulationFault) {
        guard let key = liveKey(index) else { return }
        try put([key], value(self), in: index)
    }

    private func liveKey(_ index: Int) -> String? {
        let live = lists[index].live
        return live.isEmpty ? nil : live[number(below: live.count)]
    }

    private func writeBelow(_ index: Int) throws(SimulationFault) {
        guard let key = liveKey(index) else { return }
        if happens(oneIn: 8) {
            // Out of its parent's block and back.
            for number in 0..<9 { try put([key, "c\(number)"], leaf(.short), in: index) }
            for number in 0..<8 { try put([key, "c\(number)"], .absent, in: index) }
            return
        }
        let inner = "c\(number(below: 14))"
        let gone = happens(oneIn: 3)
        try put(
            [key, inner],
            gone ? .absent : leaf(happens(oneIn: 5) ? .embedded : .short),
            in: index
        )
        // Nothing may be left of it: then it is no longer there to go.
        if twin[[lists[index].name, key]].isAbsent { lists[index].recover(twin) }
    }

    // MARK: - Values

    func leaf(_ size: ValueSize) -> NaiveNode {
        switch number(below: 8) {
        case 0 where size == .tiny: return NaiveNode(.boolean(happens(oneIn: 2)))
        case 1...3 where size == .tiny: return NaiveNode(.number(drawnNumber()))
        default: return NaiveNode(.string(size.text(&random)))
        }
    }

    private func drawnNumber() -> Double {
        Double(EdgeNumber.texts[number(below: EdgeNumber.texts.count)]) ?? 0
    }

    private func drawnPriority() -> NaiveNode.Leaf {
        switch number(below: 4) {
        case 0: .string(ValueSize.tiny.text(&random) + "p")
        case 1: .string(ValueSize.pages.text(&random))
        default: .number(drawnNumber())
        }
    }

    /// A map with members of every kind, server values among them.
    private func drawnNode(depth: Int) -> NaiveNode {
        var node = NaiveNode()
        for key in KeyOrder.unicode.keys(1 + number(below: 12), &random) {
            switch number(below: 8) {
            // Of their own: the twin's sums are exact only among small numbers.
            case 0: node.children["n"] = NaiveNode(.increment(Double(number(below: 9)) / 2))
            case 1: node.children["t"] = NaiveNode(.timestamp)
            case 2 where depth > 0: node.children[key] = drawnNode(depth: depth - 1)
            case 3: node.children[key] = leaf(.embedded)
            default: node.children[key] = leaf(.tiny)
            }
            if happens(oneIn: 6) { node.children[key]?.priority = drawnPriority() }
        }
        if happens(oneIn: 3) { node.priority = happens(oneIn: 4) ? .timestamp : drawnPriority() }
        return node
    }

    /// Maps with one child each, as deep as may be below a list's child.
    private func chain() -> NaiveNode {
        var node = leaf(.short)
        for level in 0..<1 + number(below: 30) {
            let parent = NaiveNode()
            let inner = node
            node = parent
            node.children["d\(level)"] = inner
            if happens(oneIn: 9) { node.priority = drawnPriority() }
        }
        return node
    }

    // MARK: - Requests

    /// Puts a value at keys below a list, or at the list; absent removes it.
    private func put(
        _ keys: [String],
        _ draft: NaiveNode,
        in index: Int
    ) throws(SimulationFault) {
        let target = NaiveTarget(path: [lists[index].name] + keys)
        try commit([NaiveWrite(target: target, node: draft)], isMerge: false)
    }

    private func prioritize(_ index: Int) throws(SimulationFault) {
        var path = [lists[index].name]
        if let key = liveKey(index), !happens(oneIn: 6) { path.append(key) }
        let leaf = happens(oneIn: 3) ? nil : drawnPriority()
        let target = NaiveTarget(path: path, isPriority: true)
        try commit([NaiveWrite(target: target, node: NaiveNode(leaf))], isMerge: false)
    }

    private func merge(_ index: Int, atMost limit: Int = 30) throws(SimulationFault) {
        var writes: [NaiveWrite] = []
        let name = lists[index].name
        if lists[index].phase == .growing {
            for key in lists[index].grow(limit > 30 ? limit : 1 + number(below: 30)) {
                let target = NaiveTarget(path: [name, key])
                writes.append(NaiveWrite(target: target, node: leaf(lists[index].size)))
            }
        } else {
            for _ in 0..<1 + number(below: 12) {
                guard let key = lists[index].shrink() else { break }
                writes.append(NaiveWrite(target: NaiveTarget(path: [name, key]), node: .absent))
            }
        }
        if !writes.isEmpty { try commit(writes, isMerge: true) }
    }

    /// Puts what the list holds, and some server values, as one value: its text has the members in the
    /// order of the keys, which is not theirs in the tree.
    private func putWhole(_ index: Int) throws(SimulationFault) {
        let list = lists[index]
        guard !list.live.isEmpty else { return }
        var node = NaiveNode()
        var members: [(name: String, value: JSONText)] = []
        for key in list.live {
            var value = leaf(list.size)
            if happens(oneIn: 10) {
                if case .number? = twin[[list.name, key]].leaf {
                } else {
                    value = NaiveNode(.increment(1))
                }
            }
            node.children[key] = value
            members.append((key, value.json))
        }
        let text = JSONText.object(members).text(isSorted: false)
        let write = NaiveWrite(target: NaiveTarget(path: [list.name]), node: node)
        try commit([write], isMerge: false, text: text)
    }

    /// Asks for writes and does the same to the twin.
    private func commit(
        _ writes: [NaiveWrite],
        isMerge: Bool,
        text: String? = nil
    ) throws(SimulationFault) {
        var entries: [MergeEntry] = []
        for write in writes {
            do {
                let draft = try draft(of: write.node, text)
                let keys = try write.target.path.map { try Key($0) }
                let target = WriteTarget(path: Path(keys), isPriority: write.target.isPriority)
                entries.append(MergeEntry(target: target, draft: draft))
            } catch {
                throw SimulationFault("a write is not legal: \(error)")
            }
        }
        note("\(writes.count) to \(writes[0].target.text.prefix(60)): \(writes[0].node.summary)")
        let old = root
        let isMade = try ask(
            isMerge ? .merge(.root, entries) : .put(entries[0].target, entries[0].draft)
        )
        if !isMade { return try unchanged(writes) }
        apply(writes)
        if entries.count > 1 { return }
        let states = TreeState.seen(from: old, to: root, at: entries[0].target.path)
        table.note(states)
        unproven.append((server.made.value, states))
        notBackedUp.formUnion(states)
    }

    /// The draft of a value, whose text is given if its order matters.
    private func draft(of node: NaiveNode, _ text: String?) throws -> Draft {
        if text == nil, node.priority == nil, case .string(let string)? = node.leaf {
            return Draft(Node(string: string))
        }
        let text = text ?? node.json.text
        return try happens(oneIn: 3) ? assembled(text) : Draft(json: Array(text.utf8))
    }

    /// The draft as the reader of large bodies makes it.
    private func assembled(_ text: String) throws(JSONError) -> Draft {
        var assembly = JSONAssembly(windowByteCount: 512)
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: 700) {
            try assembly.append(Array(bytes[start..<min(start + 700, bytes.count)]))
        }
        return try assembly.finish()
    }

    /// Resolves and writes to the twin, and keeps what takes it back.
    private func apply(_ writes: [NaiveWrite]) {
        let time = commitTime
        var changes: [NaiveUndo] = []
        var resolved: [NaiveWrite] = []
        for write in writes {
            let path = write.target.path
            let place = twin[path]
            let existing = write.target.isPriority ? NaiveNode(place.priority) : place
            resolved.append(
                NaiveWrite(
                    target: write.target,
                    node: write.node.resolved(existing: existing, now: time)
                )
            )
            let top = Array(path.prefix(2))
            let priority = twin.children[path[0]]?.priority
            changes.append(NaiveUndo(path: top, old: twin[top], listPriority: priority))
        }
        let isRemoval = { (write: NaiveWrite) in write.node.isAbsent && !write.target.isPriority }
        let ordered = resolved.filter { !isRemoval($0) } + resolved.filter(isRemoval)
        for write in ordered { twin.write(write) }
        undo.append((server.made.value, changes))
        history.append((server.made.value, ordered))
    }

    /// The engine made no commit of it, so it must change nothing.
    private func unchanged(_ writes: [NaiveWrite]) throws(SimulationFault) {
        for write in writes {
            let node = root
            var after = node
            do {
                let path = Path(try write.target.path.map { try Key($0) })
                let draft = try Draft(json: Array(write.node.json.text.utf8))
                if write.target.isPriority {
                    after.setPriority(draft.node, at: path)
                } else {
                    after.set(
                        draft.resolved(existing: .absent, now: Timestamp(milliseconds: 0)),
                        at: path
                    )
                }
            } catch {
                throw SimulationFault("a write is not legal: \(error)")
            }
            if after != node {
                throw SimulationFault("a write to \(write.target.text) was dropped")
            }
        }
    }
}

extension NaiveNode {
    /// A few words for the journal.
    fileprivate var summary: String {
        if !children.isEmpty { return "\(children.count) members" }
        guard case .string(let text)? = leaf else { return json.text }
        return "\(text.utf8.count) bytes of \(text.first.map { $0.debugDescription } ?? "")"
    }
}
