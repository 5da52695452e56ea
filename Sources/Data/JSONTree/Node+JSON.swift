extension Node {
    /// What of a node its JSON text shows.
    package enum JSONForm: Sendable {
        /// Everything: objects only, priorities as `.priority`, a leaf with one as
        /// `{".value":v,".priority":p}`. The form of the wire.
        case export
        /// Values as an app sees them: no priorities, maps with array-like keys as arrays.
        case value
        /// Of each child the key and `true`, always as an object; a leaf without its priority.
        case keys
        /// What can be shown of a node of any size (`Node.outline`), in the form of the wire.
        case outline
    }

    /// How JSON text is laid out.
    package enum JSONLayout: Sendable {
        /// Without white space.
        case compact
        /// For people: two spaces a level, ` : ` between name and value, arrays on one line
        /// `[ 1, 2 ]`, as the hosted service does it under `print=pretty`.
        ///
        /// The lines after the first are indented by `level` levels more. No line break at the end.
        case pretty(level: Int = 0)
    }

    /// Appends the node as JSON text; `null` when absent.
    package func appendJSON(
        to out: inout [UInt8],
        _ form: JSONForm = .export,
        _ layout: JSONLayout = .compact
    ) {
        if form == .outline { return outline.appendJSON(to: &out, .export, layout) }
        if case .packed(let block, let offset) = storage {
            let pointer = block.start + Int(offset)
            let size = offset == 0 ? block.byteCount : pointer.valueSize
            if size <= Size.embedded && block.referenceCount == 0 {
                return withExtendedLifetime(block) {
                    Node.appendSmall(block, pointer, size, to: &out, form, layout)
                }
            }
        }
        var stream = JSONStream(self, form, layout)
        // In pieces, since each is copied from the writer's memory.
        while stream.next(into: &out, atLeast: 64 * 1024) {}
    }

    /// Appends a value that is only bytes directly to `out`.
    private static func appendSmall(
        _ block: Block,
        _ pointer: BytePointer,
        _ size: Int,
        to out: inout [UInt8],
        _ form: JSONForm,
        _ layout: JSONLayout
    ) {
        // An escaped byte takes 6 characters, the least entry with a priority 38 for its 8 bytes, more where lines are
        // indented. If that is too little, the writer continues in memory of its own.
        var spilled: JSONWriter?
        out.append(addingCapacity: 8 * size + 64) { span in
            unsafe span.withUnsafeMutableBufferPointer { buffer, count in
                guard let base = buffer.baseAddress else { return }
                let memory = unsafe Scratch(
                    borrowed: MutableBytePointer(base + count),
                    capacity: buffer.count - count
                )
                var writer = JSONWriter(form, layout, into: memory)
                writer.write(block, pointer)
                if writer.text.ownsMemory { spilled = writer } else { count += writer.byteCount }
            }
        }
        spilled?.take(into: &out)
    }

    /// The node as JSON text; `null` when absent.
    package func json(_ form: JSONForm = .export, _ layout: JSONLayout = .compact) -> [UInt8] {
        var out: [UInt8] = []
        appendJSON(to: &out, form, layout)
        return out
    }
}
