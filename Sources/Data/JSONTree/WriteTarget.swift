/// What a write names: a node, or the priority of a node.
///
/// In text the priority of `/a` is `/a/.priority`; it may only be the last piece.
package struct WriteTarget: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The node.
    package let path: Path

    /// Whether only the node's priority is meant.
    package let isPriority: Bool

    /// Names the node at `path`, or its priority.
    package init(path: Path, isPriority: Bool = false) {
        self.path = path
        self.isPriority = isPriority
    }

    /// Reads a path whose last piece may be `.priority`.
    ///
    /// - Throws: `PathError` as `Path` does.
    package init(_ text: String) throws(PathError) {
        try self.init(utf8: Array(text.utf8))
    }

    /// Reads the UTF-8 of a path whose last piece may be `.priority`.
    ///
    /// - Throws: `PathError` as `Path` does.
    package init(utf8: [UInt8]) throws(PathError) {
        self = try utf8.withBytes { (bytes) throws(PathError) in
            var pieces = Path.pieces(of: bytes)[...]
            var isPriority = false
            if let last = pieces.last, bytes.slice(last).elementsEqual(".priority".utf8) {
                isPriority = true
                pieces = pieces.dropLast()
            }
            let path = try Path(checking: bytes, pieces: pieces)
            return WriteTarget(path: path, isPriority: isPriority)
        }
    }

    /// `/a/b` or `/a/b/.priority`.
    package var description: String {
        if !isPriority { return path.description }
        return path.isRoot ? "/.priority" : path.description + "/.priority"
    }

    /// `a/b` or `a/b/.priority`: the form that pushes carry.
    package var wireText: String { String(description.dropFirst()) }

    /// Appends the bytes of `wireText`.
    package func appendWireText(to out: inout [UInt8]) {
        path.appendWireText(to: &out)
        if !isPriority { return }
        out.append(contentsOf: (path.isRoot ? ".priority" : "/.priority").utf8)
    }

    /// Whether a write of this target covers `other`: the same target, or one below it.
    ///
    /// A node covers its own priority; a priority covers nothing but itself.
    package func isAncestorOrEqual(of other: WriteTarget) -> Bool {
        if isPriority { return self == other }
        return path.isPrefix(of: other.path)
    }

    /// By path; a node before its priority.
    package static func < (a: WriteTarget, b: WriteTarget) -> Bool {
        if a.path != b.path { return a.path < b.path }
        return !a.isPriority && b.isPriority
    }
}

/// The phase in which a write of an update is applied, so that writes applied one by one act as one.
///
/// Removals come after sets: otherwise a map with a priority could vanish in between. Priorities
/// come after the writes that create their nodes. The order of an update's members does not matter.
package enum WritePhase: CaseIterable, Sendable {
    case set, removal, priority

    /// The phase of writing `node` at `target`.
    package init(writing node: Node, at target: WriteTarget) {
        self = target.isPriority ? .priority : node.isAbsent ? .removal : .set
    }
}
