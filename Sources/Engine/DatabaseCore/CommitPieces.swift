import JSONTree

/// The payload of a commit that only writes nodes, made piece by piece while it is written to the log.
///
/// Keeps the nodes as they were, whatever is written to the tree meanwhile. Memory: one piece. A copy continues
/// where the copied one is, so the same payload can be made again.
package struct CommitPieces: Sendable {
    /// Bytes after which a piece ends; one page or one string may go beyond it.
    private static let pieceByteCount = 1024 * 1024

    /// Bytes of all pieces together.
    package let byteCount: Int
    private let operations: [CommitOperation]
    private var hasBegun = false
    /// The operation after those begun.
    private var nextOperation = 0
    /// The rest of the node of the last operation begun.
    private var node: NodeEncoder?

    /// Nil when the operations include others than those that clients make large.
    ///
    /// Counting takes one look at each page of the nodes.
    init?(_ operations: [CommitOperation]) {
        // The version.
        var sum = 1
        for operation in operations {
            switch operation {
            case .write(let target, let node):
                sum += CommitPieces.byteCount(target, node)
            case .endSession(let session):
                let count = session.text.utf8.count
                sum += 1 + CommitEncoder.varintByteCount(count) + count
            case .setRules, .detachRules, .identify, .onDisconnect, .cancelOnDisconnect, .setting:
                return nil
            }
        }
        byteCount = sum
        self.operations = operations
    }

    /// Appends the next piece; returns whether there is more to ask for.
    package mutating func next(into piece: inout [UInt8]) -> Bool {
        let end = piece.count + CommitPieces.pieceByteCount
        if !hasBegun {
            piece.append(CommitEncoder.version)
            hasBegun = true
        }
        while piece.count < end {
            if let hasMore = node?.next(into: &piece, atLeast: end - piece.count) {
                if !hasMore { node = nil }
            } else if nextOperation < operations.count {
                begin(operations[nextOperation], &piece)
                nextOperation += 1
            } else {
                return false
            }
        }
        return true
    }

    /// Appends an operation, but for the bytes of its node.
    private mutating func begin(_ operation: CommitOperation, _ piece: inout [UInt8]) {
        var encoder = CommitEncoder(continuing: &piece)
        if case .write(let target, let node) = operation {
            encoder.appendWrite(target, nodeByteCount: CommitEncoder.byteCount(of: node))
            if !node.isAbsent { self.node = NodeEncoder(node) }
        } else {
            encoder.append(operation)
        }
        encoder.giveBack(to: &piece)
    }

    private static func byteCount(_ target: WriteTarget, _ node: Node) -> Int {
        let path = target.path.wireByteCount
        let body = CommitEncoder.byteCount(of: node)
        // Number of the operation, kind of target.
        return 2 + CommitEncoder.varintByteCount(path) + path
            + CommitEncoder.varintByteCount(body) + body
    }
}
