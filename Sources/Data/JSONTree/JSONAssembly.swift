/// Makes a draft, or the entries of an update, of JSON text while it arrives.
///
/// Gives what reading the whole text would give, errors included (see `JSONCutter`), but keeps only a window of the
/// text. Members that come in key order, as exports have them, cost one copy of their pages' addresses; others are
/// written one by one.
package struct JSONAssembly {
    /// An object or array whose end has not arrived.
    fileprivate struct Open {
        let container: JSONCutter.Container
        /// Its pages so far, in key order, while all members came in key order.
        var pages: [Block] = []
        /// All of it, once a member came out of order.
        var node: Node?
        /// The greatest key so far, null members included.
        var lastKey: [UInt8]?
        /// Whether some member had a value, also one that was replaced later.
        var isAlive = false
        /// Its server values are those of the draft from here on.
        let firstServerValue: Int
        /// Where those of a member are.
        var serverValues: [[UInt8]: Range<Int>] = [:]
    }

    private var cutter: JSONCutter
    private var open: [Open] = []
    private var serverValues: [RecordedServerValue] = []
    private var deepest = 0
    private var draft: Draft?
    private var entries: [(path: String, draft: Draft)] = []

    /// Approximate memory of the data read so far, in bytes; includes replaced members.
    package private(set) var treeByteCount = 0

    /// Memory of an entry of an update without its path and its nodes.
    private static let entryByteCount = 128

    /// Makes a reader of one value; of an object of relative paths and values when `isUpdate`.
    ///
    /// About `windowByteCount` bytes of text are kept and read at a time.
    package init(windowByteCount: Int, isUpdate: Bool = false) {
        cutter = JSONCutter(windowByteCount: windowByteCount, isUpdate: isUpdate)
    }

    /// The position of the last thrown error: line, and byte in the line, both from 1.
    package var faultPosition: (line: Int, column: Int)? {
        cutter.fault.map { ($0.line, $0.column) }
    }

    /// Reads the next part of the text; after a throw the reader is of no use.
    package mutating func append(_ text: [UInt8]) throws(JSONError) {
        text.withBytes { cutter.append($0) }
        try read()
    }

    /// Says that the text is complete, and hands over the draft.
    package mutating func finish() throws(JSONError) -> Draft {
        cutter.end()
        try read()
        guard let draft else { preconditionFailure("a text that ends without error is a value") }
        return draft
    }

    /// Says that the text is complete, and hands over the entries of the update.
    package mutating func finishUpdate() throws(JSONError) -> [(path: String, draft: Draft)] {
        cutter.end()
        try read()
        return entries
    }

    private mutating func read() throws(JSONError) {
        while let event = try cutter.next() {
            switch event {
            case .whole(let whole, _): draft = whole
            case .entries(let more):
                for (path, draft) in more {
                    treeByteCount +=
                        Self.entryByteCount + path.utf8.count + draft.node.memoryByteCount
                }
                entries += more
            case .opened(let container):
                open.append(Open(container: container, firstServerValue: serverValues.count))
            case .run(let run): add(run)
            case .closed(let container): try close(container)
            }
        }
    }

    // MARK: Members

    private mutating func add(_ run: MemberRun) {
        treeByteCount += run.node.memoryByteCount
        let last = open.count - 1
        let isLater = open[last].lastKey.map { isKey($0, before: run.firstKey) } ?? true
        if !isLater { forget(run) }
        let offset = serverValues.count
        serverValues += run.serverValues
        for absence in run.absences where !absence.serverValues.isEmpty {
            let range = absence.serverValues
            open[last].serverValues[absence.key] =
                range.lowerBound + offset..<range.upperBound + offset
        }
        if run.isAlive { open[last].isAlive = true }
        open[last].note(run.lastKey)
        open[last].add(run.node, isLater: isLater)
        deepest = max(deepest, run.deepest)
    }

    /// Removes the values of earlier members that the run replaces.
    private mutating func forget(_ run: MemberRun) {
        let last = open.count - 1
        for absence in run.absences where absence.isAbsent {
            open[last].set(.absent, at: absence.key)
        }
        if open[last].serverValues.isEmpty { return }
        for absence in run.absences { dropServerValues(of: absence.key) }
        run.node.visitChildren { key, _ in
            dropServerValues(of: key.array)
            return true
        }
    }

    private mutating func dropServerValues(of key: [UInt8]) {
        guard let range = open[open.count - 1].serverValues.removeValue(forKey: key) else { return }
        for index in range { serverValues[index].isDropped = true }
    }

    // MARK: Ends

    private mutating func close(_ container: JSONCutter.Container) throws(JSONError) {
        var ended = open.removeLast()
        if container.isUpdate { return }
        let first = ended.firstServerValue
        let node = try ended.finish(container, &serverValues, &cutter)
        if container.depth == 0 {
            let whole = Draft(node: node, depth: deepest, recorded: serverValues)
            serverValues = []
            deepest = 0
            if cutter.isUpdate {
                treeByteCount += Self.entryByteCount + container.key.count
                entries.append((String(decoding: container.key, as: UTF8.self), whole))
            } else {
                draft = whole
            }
            return
        }
        add(node, container, serverValues: first..<serverValues.count)
    }

    /// Adds a member that was read in runs.
    private mutating func add(
        _ node: Node,
        _ container: JSONCutter.Container,
        serverValues range: Range<Int>
    ) {
        let last = open.count - 1
        let key = container.key
        let isLater = open[last].lastKey.map { isKey($0, before: key) } ?? true
        if !isLater {
            dropServerValues(of: key)
            if node.isAbsent { open[last].set(.absent, at: key) }
        }
        for index in range { serverValues[index].reversedKeys.append(key) }
        if !range.isEmpty { open[last].serverValues[key] = range }
        open[last].note(key)
        if !node.isAbsent {
            open[last].isAlive = true
            var map = Node.absent
            map.set(node, at: Path([Key(unchecked: key)]))
            open[last].add(map, isLater: isLater)
        }
        if !node.isAbsent || !range.isEmpty { deepest = max(deepest, container.depth) }
    }
}

extension JSONAssembly.Open {
    mutating func note(_ key: [UInt8]) {
        if lastKey.map({ isKey($0, before: key) }) ?? true { lastKey = key }
    }

    mutating func add(_ map: Node, isLater: Bool) {
        guard case .packed(let block, 0) = map.storage else { return }
        if isLater, node == nil { return addPages(block) }
        gather()
        map.visitChildren { key, child in
            node?.set(child, at: Path([Key(key)]))
            return true
        }
    }

    /// Writes a member where it may be one of those before.
    mutating func set(_ child: Node, at key: [UInt8]) {
        gather()
        node?.set(child, at: Path([Key(unchecked: key)]))
    }

    /// From now on members are written one by one.
    private mutating func gather() {
        if node == nil { node = JSONAssembly.map(of: &pages) }
    }

    private mutating func addPages(_ block: Block) {
        if block.isBranch {
            for index in 0..<block.referenceCount { addPages(block.reference(index)) }
            return
        }
        if let left = pages.last, left.byteCount + block.byteCount <= Size.page,
            left.referenceCount + block.referenceCount <= Size.fanOut
        {
            let separator = Entries(block.start).key(0)
            pages[pages.count - 1] = Block.joined(left, block, separator: separator)
            return
        }
        pages.append(block)
    }

    /// What the object or array is, given the members whose names start with a dot.
    mutating func finish(
        _ container: JSONCutter.Container,
        _ serverValues: inout [RecordedServerValue],
        _ cutter: inout JSONCutter
    ) throws(JSONError) -> Node {
        let dots = container.dots
        let hasServerValues = serverValues.count > firstServerValue
        let fault = dots.fault(
            memberCount: container.memberCount,
            isAlive: isAlive || hasServerValues
        )
        if let fault { throw cutter.refuse(fault, container) }
        if let value = dots.serverValue {
            serverValues.append(RecordedServerValue(value: value))
            return .absent
        }
        let priority = dots.priority?.node ?? .absent
        var whole: Node
        if let value = dots.value, !value.isNull {
            whole = value.node.settingPriority(priority)
            if let serverValue = value.serverValue {
                serverValues.append(RecordedServerValue(value: serverValue, priority: priority))
            }
        } else {
            whole = node ?? JSONAssembly.map(of: &pages)
            if !priority.isAbsent, whole.isAbsent, hasServerValues {
                serverValues.append(
                    RecordedServerValue(value: nil, priority: priority, isPriority: true)
                )
            } else if !priority.isAbsent {
                whole = whole.settingPriority(priority)
            }
        }
        if let serverValue = dots.priority?.serverValue {
            serverValues.append(RecordedServerValue(value: serverValue, isPriority: true))
        }
        return whole
    }
}

extension JSONAssembly {
    /// The map of the pages; releases them.
    fileprivate static func map(of pages: inout [Block]) -> Node {
        var blocks = pages
        pages = []
        while blocks.count > 1 { blocks = Block.branches(over: blocks) }
        return blocks.first.map { Node($0) } ?? .absent
    }
}
