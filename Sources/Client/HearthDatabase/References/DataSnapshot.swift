public import Foundation
import JSONTree
import Queries

/// The data of a location at the time it was read; it never changes.
public final class DataSnapshot: NSObject, Sendable {
    /// The location.
    public let ref: DatabaseReference
    let node: Node
    /// The order of the children, from the query.
    private let spec: QuerySpec

    init(_ ref: DatabaseReference, _ node: Node, _ spec: QuerySpec) {
        self.ref = ref
        self.node = node
        self.spec = spec
        super.init()
    }

    /// A snapshot of nothing, to be there until a real one is.
    public override convenience init() { self.init(DatabaseReference(), .absent, .everything) }

    /// The last key of the location; empty at the root.
    public var key: String { ref.key ?? "" }

    /// The value: `NSNull` when nothing is there, `String`, `NSNumber`, `[String: Any]`, or `[Any]` for a
    /// map whose keys are those of an array.
    ///
    /// Converted anew at each call. If two keys are forms of one character, such as `é` in one scalar and in two, a
    /// Swift dictionary holds only one; `children` has both.
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

    /// The data at a path below; an empty snapshot for an invalid path.
    public func childSnapshot(forPath childPathString: String) -> DataSnapshot {
        let child = ref.child(childPathString)
        guard case .success(let location) = child.location, case .success(let own) = ref.location
        else { return DataSnapshot(child, .absent, .everything) }
        let path = location.path.dropFirst(own.path.keyCount)
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
        DatabaseReference(ref.owner, ref.location.map { QueryLocation($0.path.appending(key)) })
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
