/// Writes a node as JSON text in pieces, so that the text of a large node is never whole in memory.
///
/// Holds the node: later writes to the tree do not change it. The state is O(depth).
package struct JSONStream: Sendable {
    /// A map in a block of its own, partly written.
    private struct OpenMap: Sendable {
        let priority: Node
        let isArray: Bool
        /// The index after the last element written, if this is an array.
        var nextIndex = 0
        /// From the top of the map down to a page: the index of the next entry in each.
        var levels: [Level]
    }

    private struct Level: @unchecked Sendable {
        /// Immutable while shared, and the node that is written shares it.
        let block: Block
        var index = 0
    }

    /// A long text, partly written.
    private struct OpenText: @unchecked Sendable {
        /// Immutable while shared, and the node that is written shares it.
        let block: Block
        /// The bytes of the block that are still to be written.
        var rest: Range<Int>
        let priority: Node
    }

    /// Bytes of a text that are written in one go; whole scalars.
    private static let textByteCount = 16 * 1024

    private let form: Node.JSONForm
    private var layout: Node.JSONLayout
    /// Not yet begun; nil once the first piece is written.
    private var root: Node?
    private var openMaps: [OpenMap] = []
    /// It is in the last of the open maps.
    private var openText: OpenText?
    /// Whether a comma is left out so far, since the next byte may close the map instead.
    private var isCommaDue = false

    private var isOpen: Bool { openText != nil || !openMaps.isEmpty }

    /// Makes a writer of `node` in `form`, laid out as `layout` says.
    package init(_ node: Node, _ form: Node.JSONForm, _ layout: Node.JSONLayout = .compact) {
        self.form = form == .outline ? .export : form
        self.layout = layout
        root = form == .outline ? node.outline : node
    }

    /// Appends at least `byteCount` bytes of text, unless it ends before.
    ///
    /// At most one small map, one priority, or 16 KiB of a string before escapes, more than
    /// requested; pieces end between two scalars. Returns whether there is more.
    package mutating func next(into out: inout [UInt8], atLeast byteCount: Int) -> Bool {
        var writer = JSONWriter(form, layout)
        if isCommaDue { writer.write(0x2C) }
        if let node = root {
            root = nil
            begin(node, &writer)
        }
        // One byte more than requested, since a trailing comma is removed again.
        while isOpen && writer.byteCount <= byteCount { step(&writer) }
        // Inside a string it may be text; it is put back in both cases.
        isCommaDue = isOpen && writer.dropTrailingComma()
        layout = writer.layout
        writer.take(into: &out)
        return isOpen
    }

    /// Writes a node whole if it is small, else opens it.
    private mutating func begin(_ node: Node, _ writer: inout JSONWriter) {
        let isOpened: Bool? = node.withBody { block, body in
            let isMap = body[0] == TypeByte.map || body[0] == TypeByte.branch
            if !isMap { return open(text: block, body, node.priority, &writer) }
            if body - block.start != 0 { return false }
            if block.referenceCount == 0 && !node.hasPriority { return false }
            open(map: block, node.priority, &writer)
            return true
        }
        if isOpened == true { return }
        guard case .packed(let block, let offset) = node.storage else {
            return writer.write(leaf: node)
        }
        writer.write(block, block.start + Int(offset))
    }

    private mutating func open(map block: Block, _ priority: Node, _ writer: inout JSONWriter) {
        let isArray = form == .value && ArrayRule.lastIndex(Node(block)) != nil
        writer.openMap(isArray: isArray)
        openMaps.append(
            OpenMap(
                priority: form == .export ? priority : .absent,
                isArray: isArray,
                levels: [Level(block: block)]
            )
        )
    }

    /// Begins a text that is too long for one go; false for any other value.
    private mutating func open(
        text block: Block,
        _ value: BytePointer,
        _ priority: Node,
        _ writer: inout JSONWriter
    ) -> Bool {
        guard value[0] == TypeByte.longText else { return false }
        let byteCount = Int(value.load32(1))
        if byteCount <= JSONStream.textByteCount { return false }
        let start = value - block.start + 5
        let shown = form == .export ? priority : .absent
        if !shown.isAbsent { writer.openLeaf() }
        writer.write(0x22)
        openText = OpenText(block: block, rest: start..<start + byteCount, priority: shown)
        return true
    }

    /// Writes one entry or a part of a text, goes down into a page, or closes a map.
    private mutating func step(_ writer: inout JSONWriter) {
        if let text = openText { return step(text, &writer) }
        let top = openMaps.count - 1
        guard let level = openMaps[top].levels.last else { return close(&writer) }
        let entries = Entries(level.block.start)
        let depth = openMaps[top].levels.count - 1
        if level.index == entries.count {
            openMaps[top].levels.removeLast()
            return
        }
        openMaps[top].levels[depth].index += 1
        if level.block.isBranch {
            openMaps[top].levels.append(Level(block: level.block.reference(level.index)))
            return
        }
        let key = entries.key(level.index)
        if openMaps[top].isArray {
            let next = openMaps[top].nextIndex
            openMaps[top].nextIndex = writer.beginElement(ArrayRule.index(key) ?? next, from: next)
        } else {
            writer.beginMember(key)
        }
        if form == .keys { return writer.write("true,") }
        write(level.block, entries.value(level.index), &writer)
    }

    /// Writes the value of an entry, or opens it.
    private mutating func write(_ block: Block, _ value: BytePointer, _ writer: inout JSONWriter) {
        let body = value + value.prefixSize
        if body[0] == TypeByte.reference {
            let own = block.reference(body.load16(1))
            let priority = value[0] == TypeByte.priority ? Node(block, value + 1) : .absent
            if own.isMap { return open(map: own, priority, &writer) }
            if open(text: own, own.start, priority, &writer) { return }
        }
        writer.write(block, value)
        writer.write(0x2C)
    }

    private mutating func step(_ text: OpenText, _ writer: inout JSONWriter) {
        let start = text.block.start
        var end = text.rest.lowerBound + JSONStream.textByteCount
        if end < text.rest.upperBound {
            while start[end] & 0xC0 == 0x80 { end -= 1 }
        } else {
            end = text.rest.upperBound
        }
        withExtendedLifetime(text.block) {
            writer.writeStringPart((start + text.rest.lowerBound).bytes(end - text.rest.lowerBound))
        }
        if end < text.rest.upperBound {
            openText?.rest = end..<text.rest.upperBound
            return
        }
        openText = nil
        writer.write(0x22)
        if !text.priority.isAbsent { writer.closeLeaf(text.priority) }
        if !openMaps.isEmpty { writer.write(0x2C) }
    }

    private mutating func close(_ writer: inout JSONWriter) {
        guard let map = openMaps.popLast() else { return }
        if !map.priority.isAbsent { writer.writeLastPriority(map.priority) }
        writer.closeMap(isArray: map.isArray)
        if !openMaps.isEmpty { writer.write(0x2C) }
    }
}
