/// When a write of an update is applied, so that writes applied one by one act as one.
///
/// Removals come after what is set, or a map with a priority could vanish in between; priorities
/// come after what makes their nodes. The order of the members of an update means nothing.
package enum WriteTurn: CaseIterable, Sendable {
    case set, removal, priority

    /// The turn of writing `node` at `target`.
    package init(writing node: Node, at target: WriteTarget) {
        self = target.isPriority ? .priority : node.isAbsent ? .removal : .set
    }
}
