@testable import JSONTree

/// The blocks of a node in memory, for tests that count which structures a tree has had.
struct NodeShape {
    /// Whether the value is in a block of its own and not inside its parent's.
    let isOwnBlock: Bool
    /// Whether its priority is in a block of its own.
    let hasOwnPriorityBlock: Bool
    /// The top of a map that is in a block of its own; nil for every other value.
    let top: BlockShape?
}

/// One block of a map: a page, or a branch over pages.
///
/// Holds the block, so that writes to the tree copy it.
struct BlockShape {
    private let block: Block

    fileprivate init(_ block: Block) { self.block = block }

    /// Levels of branches from here down to the pages; 0 for a page.
    var height: Int { block.height }

    /// Bytes of the block.
    var byteCount: Int { block.byteCount }

    /// Entries of a page, or pages and branches below a branch.
    var entryCount: Int { Entries(block.start).count }

    /// Whether it refers to as many blocks as it may before it is cut.
    var isAtReferenceLimit: Bool { block.referenceCount == Size.fanOut }

    /// Bytes that a page holds before it is cut.
    static var pageByteCount: Int { Size.page }

    /// The first key that its bytes hold.
    var ownFirstKey: Key {
        withExtendedLifetime(block) { Key(Entries(block.start).key(0)) }
    }

    /// The least key below.
    var leastKey: Key { block.withFirstKey { Key($0) } }

    /// The blocks directly below a branch, in key order; none for a page.
    var below: [BlockShape] {
        if !block.isBranch { return [] }
        return (0..<block.referenceCount).map { BlockShape(block.reference($0)) }
    }

    /// The one of `below` where `key` belongs; nil for a page.
    func below(for key: Key) -> BlockShape? {
        if !block.isBranch { return nil }
        let index = key.withBytes { Entries(block.start).page(for: $0) }
        return BlockShape(block.reference(index))
    }

    /// Whether both are the same block in memory.
    func isIdentical(to other: BlockShape) -> Bool { block === other.block }
}

extension Node {
    /// The blocks of the node.
    var shape: NodeShape {
        guard case .packed(let block, let offset) = storage else {
            return NodeShape(isOwnBlock: false, hasOwnPriorityBlock: false, top: nil)
        }
        let pointer = block.start + Int(offset)
        let hasOwnPriorityBlock = withExtendedLifetime(block) {
            pointer[0] == TypeByte.priority && pointer[1] == TypeByte.reference
        }
        let top = withBody { block, body in body - block.start == 0 ? block : nil } ?? nil
        return NodeShape(
            isOwnBlock: top != nil,
            hasOwnPriorityBlock: hasOwnPriorityBlock,
            top: top.flatMap { $0.isMap ? BlockShape($0) : nil }
        )
    }
}
