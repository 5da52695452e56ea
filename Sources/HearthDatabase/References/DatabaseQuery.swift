public import Foundation
import JSONTree
import Queries
import SyncCore
import WireProtocol

/// A place in a database and what of it is looked at: an order, a range, a limit.
///
/// A query never changes: each step gives a new one. A step that makes no sense gives a query that says
/// so to whoever uses it: completions, cancel blocks and async forms get the error, and nothing is sent.
///
/// `Sendable` although it can be inherited from: all it holds is immutable, and its only subclass,
/// `DatabaseReference`, adds nothing.
public class DatabaseQuery: NSObject, @unchecked Sendable {
    /// The database.
    let owner: Database
    /// What is looked at, or what is wrong with it.
    let place: Result<QueryPlace, DatabaseError>

    init(_ owner: Database, _ place: Result<QueryPlace, DatabaseError>) {
        self.owner = owner
        self.place = place
        super.init()
    }

    /// A query of no database, to be there until the real one is: whatever it is used for fails with
    /// `DatabaseError.invalidQuery`.
    public override init() {
        owner = .nowhere
        place = .failure(Database.fromNothing)
        super.init()
    }

    /// The place without order, range and limit.
    public var ref: DatabaseReference {
        DatabaseReference(owner, place.map { QueryPlace($0.path) })
    }

    /// What is looked at, for people.
    public override var description: String {
        switch place {
        case .success(let place):
            let text = place.plan.spec.wireText.map { String(decoding: $0, as: UTF8.self) }
            return "(\(place.path) \(text ?? "{}"))"
        case .failure(let error): return "(\(error.localizedDescription))"
        }
    }

    /// Whether the other one looks at the same of the same database.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? DatabaseQuery else { return false }
        return owner === other.owner && place == other.place
    }

    /// A number that is the same for equal queries.
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(ObjectIdentifier(owner))
        if case .success(let place) = place { hasher.combine(place) }
        return hasher.finalize()
    }
}

/// A legal place and what of it is looked at.
struct QueryPlace: Hashable, Sendable {
    let path: Path
    let plan: QueryPlan

    init(_ path: Path, _ plan: QueryPlan = .everything) {
        self.path = path
        self.plan = plan
    }

    /// What an observer of it looks at.
    var target: ListenTarget { ListenTarget(path: path, plan: plan) }
}

// MARK: Building

extension DatabaseQuery {
    private func with(
        _ step: (QueryPlan) throws(DatabaseError) -> QueryPlan
    ) -> DatabaseQuery {
        guard case .success(let place) = place else { return self }
        do throws(DatabaseError) {
            return DatabaseQuery(owner, .success(QueryPlace(place.path, try step(place.plan))))
        } catch {
            owner.warn("a query cannot be used: \(error.localizedDescription)")
            return DatabaseQuery(owner, .failure(error))
        }
    }

    /// The first children of what is selected, at most `limit`.
    public func queryLimited(toFirst limit: UInt) -> DatabaseQuery {
        with { plan throws(DatabaseError) in try plan.limited(to: limit, from: .first) }
    }

    /// The last children of what is selected, at most `limit`.
    public func queryLimited(toLast limit: UInt) -> DatabaseQuery {
        with { plan throws(DatabaseError) in try plan.limited(to: limit, from: .last) }
    }

    /// Orders children by what each holds at a path below it.
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

    /// Orders children by their priorities, as is done when nothing else is said.
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
    /// Keeps what is selected up to date, and in the disk cache, without an observer; or no longer.
    public func keepSynced(_ keepSynced: Bool) {
        guard case .success(let place) = place else { return }
        if place.path.isInfo { return }
        owner.sync.call(.keepSynced(place.target, keepSynced))
    }
}
