public import Foundation
import JSONTree
import Queries
import SyncCore
import WireProtocol

/// A location in a database with an order, a range and a limit.
///
/// A query never changes: each step returns a new one. An invalid step returns a query that reports the error when
/// used: completions, cancel blocks and async forms receive it, and nothing is sent.
///
/// `Sendable` although it can be inherited from: all it holds is immutable, and its only subclass,
/// `DatabaseReference`, adds nothing.
public class DatabaseQuery: NSObject, @unchecked Sendable {
    let owner: Database
    /// The location and selection, or the fault in them.
    let location: Result<QueryLocation, DatabaseError>

    init(_ owner: Database, _ location: Result<QueryLocation, DatabaseError>) {
        self.owner = owner
        self.location = location
        super.init()
    }

    /// A query of no database, as a placeholder for the real one. Every use fails with `DatabaseError.invalidQuery`.
    public override init() {
        owner = .nowhere
        location = .failure(Database.fromNothing)
        super.init()
    }

    /// The location without order, range and limit.
    public var ref: DatabaseReference {
        DatabaseReference(owner, location.map { QueryLocation($0.path) })
    }

    /// The query as readable text.
    public override var description: String {
        switch location {
        case .success(let location):
            let text = location.plan.spec.wireText.map { String(decoding: $0, as: UTF8.self) }
            return "(\(location.path) \(text ?? "{}"))"
        case .failure(let error): return "(\(error.localizedDescription))"
        }
    }

    /// Whether the other one looks at the same of the same database.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? DatabaseQuery else { return false }
        return owner === other.owner && location == other.location
    }

    /// A number that is the same for equal queries.
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(ObjectIdentifier(owner))
        if case .success(let location) = location { hasher.combine(location) }
        return hasher.finalize()
    }
}

/// A valid path and the selection there.
struct QueryLocation: Hashable, Sendable {
    let path: Path
    let plan: QueryPlan

    init(_ path: Path, _ plan: QueryPlan = .everything) {
        self.path = path
        self.plan = plan
    }

    var target: ListenTarget { ListenTarget(path: path, plan: plan) }
}

// MARK: Building

extension DatabaseQuery {
    private func with(_ step: (QueryPlan) throws(DatabaseError) -> QueryPlan) -> DatabaseQuery {
        guard case .success(let location) = location else { return self }
        do throws(DatabaseError) {
            return DatabaseQuery(
                owner,
                .success(QueryLocation(location.path, try step(location.plan)))
            )
        } catch {
            owner.warn("a query cannot be used: \(error.localizedDescription)")
            return DatabaseQuery(owner, .failure(error))
        }
    }

    /// The first children of the selection, at most `limit`.
    public func queryLimited(toFirst limit: UInt) -> DatabaseQuery {
        with { plan throws(DatabaseError) in try plan.limited(to: limit, from: .first) }
    }

    /// The last children of the selection, at most `limit`.
    public func queryLimited(toLast limit: UInt) -> DatabaseQuery {
        with { plan throws(DatabaseError) in try plan.limited(to: limit, from: .last) }
    }

    /// Orders children by the value at a path below each.
    public func queryOrdered(byChild key: String) -> DatabaseQuery {
        with { plan throws(DatabaseError) in try plan.ordered(byChild: key) }
    }

    /// Orders children by their keys.
    public func queryOrderedByKey() -> DatabaseQuery {
        with { plan throws(DatabaseError) in try plan.ordered(by: .key) }
    }

    /// Orders children by their values.
    public func queryOrderedByValue() -> DatabaseQuery {
        with { plan throws(DatabaseError) in try plan.ordered(by: .value) }
    }

    /// Orders children by priority: the default.
    public func queryOrderedByPriority() -> DatabaseQuery {
        with { plan throws(DatabaseError) in try plan.ordered(by: .priority) }
    }

    /// Children from this value on.
    public func queryStarting(atValue startValue: Any?) -> DatabaseQuery {
        bounded(.start, startValue, nil, isInclusive: true)
    }

    /// Children from this value on; of those with this very value, from this key on.
    public func queryStarting(atValue startValue: Any?, childKey: String?) -> DatabaseQuery {
        bounded(.start, startValue, childKey, isInclusive: true)
    }

    /// Children behind this value.
    public func queryStarting(afterValue startAfterValue: Any?) -> DatabaseQuery {
        bounded(.start, startAfterValue, nil, isInclusive: false)
    }

    /// Children behind this value; of those with this very value, behind this key.
    public func queryStarting(
        afterValue startAfterValue: Any?,
        childKey: String?,
    ) -> DatabaseQuery {
        bounded(.start, startAfterValue, childKey, isInclusive: false)
    }

    /// Children up to this value.
    public func queryEnding(atValue endValue: Any?) -> DatabaseQuery {
        bounded(.end, endValue, nil, isInclusive: true)
    }

    /// Children up to this value; of those with this very value, up to this key.
    public func queryEnding(atValue endValue: Any?, childKey: String?) -> DatabaseQuery {
        bounded(.end, endValue, childKey, isInclusive: true)
    }

    /// Children before this value.
    public func queryEnding(beforeValue endValue: Any?) -> DatabaseQuery {
        bounded(.end, endValue, nil, isInclusive: false)
    }

    /// Children before this value; of those with this very value, before this key.
    public func queryEnding(beforeValue endValue: Any?, childKey: String?) -> DatabaseQuery {
        bounded(.end, endValue, childKey, isInclusive: false)
    }

    /// Children with this value.
    public func queryEqual(toValue value: Any?) -> DatabaseQuery {
        with { plan throws(DatabaseError) in try plan.equal(to: value, childKey: nil) }
    }

    /// The child with this value and key.
    public func queryEqual(toValue value: Any?, childKey: String?) -> DatabaseQuery {
        with { plan throws(DatabaseError) in try plan.equal(to: value, childKey: childKey) }
    }

    private func bounded(
        _ end: QueryPlan.End,
        _ value: Any?,
        _ childKey: String?,
        isInclusive: Bool,
    ) -> DatabaseQuery {
        with { plan throws(DatabaseError) in
            try plan.bounded(end, value, childKey: childKey, isInclusive: isInclusive)
        }
    }
}

// MARK: Keeping

extension DatabaseQuery {
    /// Keeps the selection current, and in the disk cache, without an observer; or stops that.
    public func keepSynced(_ keepSynced: Bool) {
        guard case .success(let location) = location else { return }
        if location.path.isInfo { return }
        owner.sync.call(.keepSynced(location.target, keepSynced))
    }
}
