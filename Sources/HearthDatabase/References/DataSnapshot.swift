public import Foundation
import JSONTree
import Queries

/// What is at a place, as it was when it was read; it never changes.
public final class DataSnapshot: NSObject, Sendable {
    /// The place.
    public let ref: DatabaseReference
    let node: Node
    /// What the children are ordered by; of the query that it comes from.
    private let spec: QuerySpec

    init(_ ref: DatabaseReference, _ node: Node, _ spec: QuerySpec) {
        self.ref = ref
        self.node = node
        self.spec = spec
        super.init()
    }

    /// A snapshot of nothing, to be there until a real one is.
    public override convenience init() { self.init(DatabaseReference(), .absent, .everything) }

    /// The last key of the place; empty at the root.
    public var key: String { ref.key ?? "" }

    /// The value: `NSNull` when nothing is there, `String`, `NSNumber`, `[String: Any]`, or `[Any]` for a
    /// map whose keys are those of an array.
    ///
    /// It is made each time from what the snapshot holds. Of keys that are two forms of one letter, as an accented one
    /// and the same with its accent behind it, a Swift dictionary holds one alone: `children` has both.
    public var value: Any? { node.appValue }

    /// The value with its priorities, as `.priority` and `.value`.
    public func valueInExportFormat() -> Any? { node.appExport }

    /// The priority: nil, an `NSNumber` or a `String`.
    public var priority: Any? { node.priority.isAbsent ? nil : node.priority.appValue }

    /// Whether anything is there.
    public func exists() -> Bool { !node.isAbsent }

    /// How many children there are.
    public var childrenCount: UInt { UInt(node.childCount) }

    /// Whether there are children.
    public func hasChildren() -> Bool { node.isMap }

    /// Whether anything is at a path below.
    public func hasChild(_ childPathString: String) -> Bool {
        childSnapshot(forPath: childPathString).exists()
    }

    /// What is at a path below; a snapshot of nothing for a path that cannot be.
    public func childSnapshot(forPath childPathString: String) -> DataSnapshot {
        let child = ref.child(childPathString)
        guard case .success(let place) = child.place, case .success(let own) = ref.place else {
            return DataSnapshot(child, .absent, .everything)
        }
        let path = place.path.dropFirst(own.path.keyCount)
        return DataSnapshot(child, node.descendant(at: path), .everything)
    }

    /// The children in the order of the query that the snapshot comes from, each a `DataSnapshot`.
    public var children: NSEnumerator {
        ListEnumerator(
            node.children(inOrderOf: spec).map { key, child in
                DataSnapshot(childReference(key), child, .everything)
            }
        )
    }

    private func childReference(_ key: Key) -> DatabaseReference {
        DatabaseReference(ref.owner, ref.place.map { QueryPlace($0.path.appending(key)) })
    }

    /// Key and value, for people.
    public override var description: String { "Snap (\(key)) \(node.appValue)" }
}

extension Node {
    /// The children in the order of a query that selects all of them.
    func children(inOrderOf spec: QuerySpec) -> [(key: Key, node: Node)] {
        var children: [(key: Key, node: Node)] = []
        children.reserveCapacity(childCount)
        var isInKeyOrder = spec.index == .key || spec.index == .priority
        visitChildren { key, child in
            children.append((Key(key), child))
            if spec.index == .priority, !child.priority.isAbsent { isInKeyOrder = false }
            return true
        }
        if isInKeyOrder { return children }
        return children.sorted { left, right in
            left.key.withBytes { leftKey in
                right.key.withBytes { spec.compare(leftKey, left.node, $0, right.node) < 0 }
            }
        }
    }
}

/// Goes through a list once.
final class ListEnumerator: NSEnumerator {
    private let elements: [Any]
    private var next = 0

    init(_ elements: [Any]) {
        self.elements = elements
        super.init()
    }

    override func nextObject() -> Any? {
        guard next < elements.count else { return nil }
        defer { next += 1 }
        return elements[next]
    }
}
