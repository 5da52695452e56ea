public import Foundation
import JSONTree
import Queries

/// The data at a transaction's location, to be changed.
///
/// It is good for the run of the transaction's function that it was given to, on that thread.
public final class MutableData: NSObject {
    /// The result of the run; shared by the objects of all its locations.
    final class Run {
        var draft: Draft
        /// The first value that could not be taken.
        var fault: DatabaseError?

        init(_ node: Node) { draft = Draft(node) }
    }

    let run: Run
    /// The location, counted from the transaction's.
    private let path: Path
    /// The last key of the transaction's location; nil at the root.
    private let rootKey: String?

    init(_ run: Run, path: Path = .root, rootKey: String?) {
        self.run = run
        self.path = path
        self.rootKey = rootKey
        super.init()
    }

    /// Nothing, of no transaction.
    public override convenience init() { self.init(Run(.absent), rootKey: nil) }

    var node: Node { run.draft.node.descendant(at: path) }

    /// The value, as a `DataSnapshot` gives it; setting it replaces all that is there.
    ///
    /// A value that cannot be stored fails the transaction.
    public var value: Any? {
        get { node.appValue }
        set {
            do throws(DatabaseError) {
                let part = try Draft(app: newValue)
                try part.check(for: WriteTarget(path: path))
                run.draft.replace(WriteTarget(path: path), with: part)
            } catch {
                fail(error)
            }
        }
    }

    /// The priority: nil, an `NSNumber` or a `String`.
    public var priority: Any? {
        get { node.priority.isAbsent ? nil : node.priority.appValue }
        set {
            do throws(DatabaseError) {
                let part = try Draft(priority: newValue)
                run.draft.replace(WriteTarget(path: path, isPriority: true), with: part)
            } catch {
                fail(error)
            }
        }
    }

    /// Whether there are children.
    public func hasChildren() -> Bool { node.isMap }

    /// Whether anything is at a path below.
    public func hasChild(atPath path: String) -> Bool {
        guard case .success(let path) = location(path) else { return false }
        return !run.draft.node.descendant(at: path).isAbsent
    }

    /// The data at a path below, to be changed. An invalid path fails the transaction.
    public func childData(byAppendingPath path: String) -> MutableData {
        switch location(path) {
        case .success(let path): return MutableData(run, path: path, rootKey: rootKey)
        case .failure(let error):
            fail(error)
            return MutableData(Run(.absent), rootKey: nil)
        }
    }

    /// How many children there are.
    public var childrenCount: UInt { UInt(node.childCount) }

    /// The children in the order of priorities, each a `MutableData`.
    public var children: NSEnumerator {
        ListEnumerator(
            node.children(inOrderOf: .everything).map { key, _ in
                MutableData(run, path: path.appending(key), rootKey: rootKey)
            }
        )
    }

    /// The last key of the location; nil at the root of the database.
    public var key: String? { path.lastKey?.string ?? rootKey }

    private func location(_ text: String) -> Result<Path, DatabaseError> {
        do throws(PathError) {
            let below = try Path(text)
            let keyCount = path.keyCount + below.keyCount
            guard keyCount <= Limits.depth else { throw .tooDeep(keyCount: keyCount) }
            return .success(path.appending(below))
        } catch {
            return .failure(.invalidPath(text, why: error.why))
        }
    }

    private func fail(_ error: DatabaseError) {
        if run.fault == nil { run.fault = error }
    }

    /// The result at this location and below.
    var result: Draft {
        if path.isRoot { return run.draft }
        var draft = run.draft
        for index in 0..<path.keyCount {
            let key = path.key(at: index)
            draft = draft.split().first { $0.key == key }?.draft ?? Draft(.absent)
        }
        return draft
    }
}

/// The decision of a transaction's function.
public final class TransactionResult: NSObject {
    /// The new data; nil: nothing changes.
    let data: MutableData?

    private init(_ data: MutableData?) {
        self.data = data
        super.init()
    }

    /// Nothing shall change, as with `abort()`.
    public override convenience init() { self.init(nil) }

    /// Writes the content of `value`.
    public static func success(withValue value: MutableData) -> TransactionResult {
        TransactionResult(value)
    }

    /// Nothing shall change.
    public static func abort() -> TransactionResult { TransactionResult(nil) }
}
