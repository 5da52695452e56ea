import Foundation
import JSONTree
import Queries
import WireProtocol

/// The selection of a query so far; each step is validated.
struct QueryPlan: Hashable, Sendable {
    /// The order chosen by the app; nil for none.
    private(set) var index: QuerySpec.Index?
    private(set) var start: QuerySpec.Bound?
    private(set) var end: QuerySpec.Bound?
    private(set) var limit: Int?
    private(set) var side = QuerySpec.Side.first

    /// Everything in the order of priorities.
    static let everything = QueryPlan()

    /// Which end of the range a bound is.
    enum End {
        case start, end
    }

    var spec: QuerySpec {
        QuerySpec(index: index ?? .priority, start: start, end: end, limit: limit, side: side)
    }

    func ordered(by index: QuerySpec.Index) throws(DatabaseError) -> QueryPlan {
        guard self.index == nil else { throw .invalidQuery(why: "it is ordered twice") }
        var plan = self
        plan.index = index
        return try plan.checked()
    }

    func ordered(byChild text: String) throws(DatabaseError) -> QueryPlan {
        switch text {
        case "$key", ".key":
            throw .invalidQuery(why: "\(text) is no child: use queryOrderedByKey()")
        case "$value", ".value":
            throw .invalidQuery(why: "\(text) is no child: use queryOrderedByValue()")
        case "$priority", ".priority":
            throw .invalidQuery(why: "\(text) is no child: use queryOrderedByPriority()")
        default: break
        }
        let path: Path
        do throws(PathError) {
            path = try Path(text)
        } catch {
            throw .invalidPath(text, why: error.why)
        }
        guard !path.isRoot else {
            throw .invalidQuery(why: "the path of a child is empty: use queryOrderedByValue()")
        }
        return try ordered(by: .child(path))
    }

    /// Keeps children from one end of the range.
    func limited(to count: UInt, from side: QuerySpec.Side) throws(DatabaseError) -> QueryPlan {
        guard limit == nil else { throw .invalidQuery(why: "it is limited twice") }
        guard count > 0, count <= UInt(Int32.max) else {
            throw .invalidQuery(why: "a limit is from 1 to \(Int32.max), not \(count)")
        }
        var plan = self
        plan.limit = Int(count)
        plan.side = side
        return plan
    }

    func bounded(
        _ end: End,
        _ value: Any?,
        childKey: String?,
        isInclusive: Bool,
    ) throws(DatabaseError) -> QueryPlan {
        guard (end == .start ? start : self.end) == nil else {
            throw .invalidQuery(why: "its \(end) is set twice")
        }
        var bound = try Self.bound(value, childKey)
        bound.isInclusive = isInclusive
        if !isInclusive, bound.key == nil, index != .key {
            bound.key = end == .start ? .maximum : .minimum
        }
        var plan = self
        if end == .start { plan.start = bound } else { plan.end = bound }
        return try plan.checked(givenKey: childKey)
    }

    func equal(to value: Any?, childKey: String?) throws(DatabaseError) -> QueryPlan {
        guard start == nil, end == nil else { throw .invalidQuery(why: "its range is set twice") }
        let bound = try Self.bound(value, childKey)
        var plan = self
        plan.start = bound
        plan.end = bound
        return try plan.checked(givenKey: childKey)
    }

    private static func bound(
        _ value: Any?,
        _ childKey: String?,
    ) throws(DatabaseError) -> QuerySpec.Bound {
        let draft = try Draft(app: value)
        guard !draft.node.isMap, draft.serverValues.isEmpty, draft.node.priority.isAbsent else {
            throw .invalidQuery(why: "an end of a range is nil, a boolean, a number or a text")
        }
        guard let childKey else { return QuerySpec.Bound(value: draft.node) }
        do throws(PathError) {
            return QuerySpec.Bound(value: draft.node, key: .key(try Key(childKey).utf8))
        } catch {
            throw .invalidKey(childKey, why: error.why)
        }
    }

    /// The plan, if order and range go together.
    private func checked(givenKey: String? = nil) throws(DatabaseError) -> QueryPlan {
        switch index ?? .priority {
        case .key:
            for bound in [start, end].compactMap(\.self) {
                guard givenKey == nil, bound.key == nil else {
                    throw .invalidQuery(why: "ordered by key, its range has no child key beside it")
                }
                guard bound.value.string != nil else {
                    throw .invalidQuery(why: "ordered by key, the ends of its range are texts")
                }
            }
        case .priority:
            for bound in [start, end].compactMap(\.self) where bound.value.boolean != nil {
                throw .invalidQuery(
                    why: "ordered by priority, the ends of its range are nil, numbers or texts"
                )
            }
        case .value, .child: break
        }
        return self
    }
}

extension ListenTarget {
    init(path: Path, plan: QueryPlan) {
        let spec = plan.spec
        self.init(path: path, query: spec, queryText: spec.wireText)
    }
}
