extension Node: Equatable {
    /// Whether both hold the same values, priorities included.
    ///
    /// Numbers are equal when they are the same double or the same integer: 1 and 1.0 are one
    /// integer, 0 and -0 differ. O(1) for the same block, else O(size), skipping shared blocks.
    @usableFromInline
    package static func == (a: Node, b: Node) -> Bool {
        if a.isIdentical(to: b) { return true }
        guard case .packed(let block, let offset) = a.storage,
            case .packed(let other, let otherOffset) = b.storage
        else { return false }
        let p = block.start + Int(offset)
        let q = other.start + Int(otherOffset)
        if isPure(block, offset, p) && isPure(other, otherOffset, q) {
            let size = p.valueSize
            return withExtendedLifetime((block, other)) {
                size == q.valueSize && p.equals(q, count: size)
            }
        }
        if a.childCount != b.childCount || a.priority != b.priority { return false }
        if a.childCount == 0 { return equalTexts(a, b) }
        var isEqual = true
        visitDifferences(a, b) { _, _, _ in
            isEqual = false
            return false
        }
        return isEqual
    }

    /// Whether the value at `pointer` is only bytes: then equal values have equal bytes.
    private static func isPure(_ block: Block, _ offset: UInt32, _ pointer: BytePointer) -> Bool {
        offset == 0 ? block.referenceCount == 0 : pointer.referencesUsed == 0
    }

    /// Leaves with equal priorities, at least one of them outside its entry.
    private static func equalTexts(_ a: Node, _ b: Node) -> Bool {
        let (a, b) = (a.withoutPriority, b.withoutPriority)
        if a.isIdentical(to: b) { return true }
        return a.withText { first in b.withText { first == $0 } ?? false } ?? false
    }
}
