extension Node {
    /// The two shapes of JSON text.
    package enum JSONForm: Sendable {
        /// All there is: objects only, priorities as `.priority`, a leaf with one as
        /// `{".value":v,".priority":p}`. The form of the wire.
        case export
        /// Values as an app sees them: no priorities, maps with array-like keys as arrays.
        case value
    }

    /// Appends the node as JSON text without white space; `null` when absent.
    package func appendJSON(to out: inout [UInt8], _ form: JSONForm = .export) {
        if case .packed(let block, let offset) = storage {
            let place = block.start + Int(offset)
            let size = offset == 0 ? block.byteCount : place.valueSize
            if size <= Size.embedded && block.referenceCount == 0 {
                return withExtendedLifetime(block) {
                    Node.appendSmall(block, place, size, to: &out, form)
                }
            }
        }
        var stream = JSONStream(self, form)
        // In pieces, since each is copied from the writer's memory.
        while stream.next(into: &out, atLeast: 64 * 1024) {}
    }

    /// Writes a value that is bytes alone straight behind what `out` holds.
    private static func appendSmall(
        _ block: Block,
        _ place: Place,
        _ size: Int,
        to out: inout [UInt8],
        _ form: JSONForm
    ) {
        // An escaped byte takes 6 characters, the least entry with a priority 38 for its 8 bytes.
        // Should that be too little, the writer goes on in memory of its own.
        var spilled: JSONWriter?
        out.append(addingCapacity: 8 * size + 64) { span in
            unsafe span.withUnsafeMutableBufferPointer { buffer, count in
                guard let base = buffer.baseAddress else { return }
                let memory = unsafe Scratch(
                    lent: MutablePlace(base + count),
                    capacity: buffer.count - count
                )
                var writer = JSONWriter(form, into: memory)
                writer.write(block, place)
                if writer.text.ownsMemory { spilled = writer } else { count += writer.byteCount }
            }
        }
        spilled?.take(into: &out)
    }

    /// The node as JSON text without white space; `null` when absent.
    package func json(_ form: JSONForm = .export) -> [UInt8] {
        var out: [UInt8] = []
        appendJSON(to: &out, form)
        return out
    }
}

/// Writes a node as JSON text in pieces, so that a large one never stands in memory as text.
///
/// Holds the node as it was, whatever is written to the tree meanwhile. The state is O(depth).
package struct JSONStream: Sendable {
    /// A map in a block of its own, partly written.
    private struct OpenMap: Sendable {
        let priority: Node
        let isArray: Bool
        /// The index after the last element written, if this is an array.
        var nextIndex = 0
        /// From the top of the map down to a page: the place of the next entry in each.
        var levels: [Level]
    }

    private struct Level: @unchecked Sendable {
        /// Immutable while shared, and the node that is written shares it.
        let block: Block
        var index = 0
    }

    private let form: Node.JSONForm
    /// Not yet begun; nil once the first piece is written.
    private var root: Node?
    private var open: [OpenMap] = []
    /// Whether a comma is held back, since the next byte may close the map in its stead.
    private var holdsComma = false

    /// Makes a writer of `node` in `form`.
    package init(_ node: Node, _ form: Node.JSONForm) {
        self.form = form
        root = node
    }

    /// Appends at least `byteCount` bytes of text, unless it ends before.
    ///
    /// At most one leaf or small map more than asked for; a leaf is never cut. Returns whether
    /// there is more.
    package mutating func next(into out: inout [UInt8], atLeast byteCount: Int) -> Bool {
        var writer = JSONWriter(form)
        if holdsComma { writer.write(0x2C) }
        if let node = root {
            root = nil
            begin(node, &writer)
        }
        // One byte more than asked for, since a comma at the end is taken back.
        while !open.isEmpty && writer.byteCount <= byteCount { step(&writer) }
        holdsComma = !open.isEmpty && writer.dropTrailingComma()
        writer.take(into: &out)
        return !open.isEmpty
    }

    /// Writes a node whole if it has no blocks below it, else opens it.
    private mutating func begin(_ node: Node, _ writer: inout JSONWriter) {
        let isOpened: Bool? = node.withBody { block, body in
            let isMap = body[0] == Tag.map || body[0] == Tag.branch
            if !isMap || body - block.start != 0 { return false }
            if block.referenceCount == 0 && !node.hasPriority { return false }
            open(block, node.priority, &writer)
            return true
        }
        if isOpened == true { return }
        guard case .packed(let block, let offset) = node.storage else {
            return writer.write(leaf: node)
        }
        writer.write(block, block.start + Int(offset))
    }

    private mutating func open(_ block: Block, _ priority: Node, _ writer: inout JSONWriter) {
        let isArray = form == .value && ArrayRule.lastIndex(Node(block)) != nil
        writer.write(isArray ? 0x5B : 0x7B)
        open.append(
            OpenMap(
                priority: form == .export ? priority : .absent,
                isArray: isArray,
                levels: [Level(block: block)]
            )
        )
    }

    /// Writes one entry, goes down into a page, or closes a map.
    private mutating func step(_ writer: inout JSONWriter) {
        let top = open.count - 1
        guard let level = open[top].levels.last else { return close(&writer) }
        let entries = Entries(level.block.start)
        let depth = open[top].levels.count - 1
        if level.index == entries.count {
            open[top].levels.removeLast()
            return
        }
        open[top].levels[depth].index += 1
        if level.block.isBranch {
            open[top].levels.append(Level(block: level.block.reference(level.index)))
            return
        }
        let key = entries.key(level.index)
        if open[top].isArray {
            let index = ArrayRule.index(key) ?? open[top].nextIndex
            open[top].nextIndex = writer.writeHoles(from: open[top].nextIndex, before: index)
        } else {
            writer.writeString(key)
            writer.write(0x3A)
        }
        let value = entries.value(level.index)
        let body = value + value.prefixSize
        if body[0] == Tag.reference {
            let own = level.block.reference(body.load16(1))
            if own.isMap {
                let priority =
                    value[0] == Tag.priority ? Node(level.block, value + 1) : .absent
                return open(own, priority, &writer)
            }
        }
        writer.write(level.block, value)
        writer.write(0x2C)
    }

    private mutating func close(_ writer: inout JSONWriter) {
        guard let map = open.popLast() else { return }
        if !map.priority.isAbsent { writer.writeClosingPriority(map.priority) }
        writer.replaceComma(with: map.isArray ? 0x5D : 0x7D)
        if !open.isEmpty { writer.write(0x2C) }
    }
}
