/// Blocks made of checked bytes.
extension Block {
    /// The block of `bytes`, which `check` found sound, over `references`.
    static func copy(
        of bytes: Bytes,
        _ check: BlockCheck,
        _ references: ArraySlice<Block>
    ) -> Block {
        let block = Block.make(
            byteCount: bytes.count,
            childCount: check.childCount,
            referenceCount: references.count
        )
        for (index, reference) in references.enumerated() { block.setReference(index, reference) }
        block.mutableStart.copy(from: bytes.pointer, count: bytes.count)
        block.height = check.height
        return block
    }

    /// A small block with the facts that `BlockCheck` needs of a block that others refer to: the
    /// kind of its value, its height, the number of its children, its first key and its last.
    ///
    ///     page of k1 ... k12       page of k1 and k12
    ///     branch over 16 pages     branch over the outlines of the first and the last
    ///     anything else            its first byte
    static func outline(
        of start: BytePointer,
        _ check: BlockCheck,
        _ references: ArraySlice<Block>
    ) -> Block {
        let outline: Block
        switch start[0] {
        case TypeByte.map: outline = Block.outline(ofMap: Entries(start))
        case TypeByte.branch:
            outline = branch(Array(references.prefix(1) + references.dropFirst().suffix(1)))
        default:
            outline = Block.make(byteCount: 1, childCount: 0)
            outline.mutableStart[0] = start[0]
        }
        outline.childCount = check.childCount
        outline.height = check.height
        return outline
    }

    private static func outline(ofMap entries: Entries) -> Block {
        var page = emptyMap()
        let last = entries.count - 1
        for index in last == 0 ? [0] : [0, last] {
            let slot = (index: index == 0 ? 0 : 1, found: false)
            Node.put(Node(true), entries.key(index), at: slot, &page)
        }
        return page
    }
}
