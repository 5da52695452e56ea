package import JSONTree

/// Makes a text of fixed pieces and nodes bit by bit, however large the nodes are.
package struct TextStream: Sendable {
    /// What the text is made of.
    package enum Piece: Sendable {
        case text([UInt8])
        case node(Node)
    }

    private let pieces: [Piece]
    private let form: Node.JSONForm
    private var nextPiece = 0

    /// The node that is partly written.
    private var open: JSONStream?

    /// Begins before the first piece.
    package init(_ pieces: [Piece], _ form: Node.JSONForm = .export) {
        self.pieces = pieces
        self.form = form
    }

    /// Appends at least `byteCount` bytes, unless the text ends before; returns whether there are more.
    ///
    /// At most one piece of text, or one leaf or small map, more than requested.
    package mutating func next(into out: inout [UInt8], atLeast byteCount: Int) -> Bool {
        let end = out.count + byteCount
        while out.count < end {
            if var stream = open {
                let isMore = stream.next(into: &out, atLeast: end - out.count)
                open = isMore ? stream : nil
                continue
            }
            if nextPiece == pieces.count { return false }
            switch pieces[nextPiece] {
            case .text(let text): out.append(contentsOf: text)
            case .node(let node): open = JSONStream(node, form)
            }
            nextPiece += 1
        }
        return open != nil || nextPiece < pieces.count
    }
}
