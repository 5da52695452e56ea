package import JSONTree
package import Queries
package import WireProtocol

/// One frame of a client of the plain event protocol; exactly one reply is due.
///
///     {"id":2,"do":"observe","path":"/messages/c1","events":["childAdded"]}
package struct EventRequest: Sendable {
    /// What the client calls the request; the reply repeats it. Nil only when the action is
    /// `refused`, since nothing says what the client calls it.
    package let id: Int64?

    /// What is asked.
    package let action: EventAction

    /// Creates a request.
    package init(id: Int64, action: EventAction) {
        self.id = id
        self.action = action
    }

    /// Creates a request that cannot be carried out.
    package init(id: Int64?, refused error: EventError) {
        self.id = id
        action = .refused(error)
    }
}

/// What a client can ask. Everything inside is checked: paths and keys are legal, values are within
/// the limits of the tree also when counted from the root, updates do not overlap.
package enum EventAction: Sendable {
    /// `auth`: a token or secret, unjudged.
    case auth(token: String)
    /// `unauth`: forget the credential.
    case unauth
    /// `ping`: answer at once.
    case ping
    /// `observe`: send events from now on, first those that lead to the present state.
    case observe(Observation)
    /// `unobserve`: forget the observer with this id.
    case unobserve(observer: Int64)
    /// `get`: read once.
    case get(Path, QuerySpec, isExport: Bool)
    /// `set`: replace a node or a priority; with `ifMatch` only if what is there has that etag.
    case set(WriteTarget, Draft, ifMatch: EntityTag?)
    /// `update`: replace several places below a path at once.
    case update(Path, [MergeEntry])
    /// `push`: write a new child under the key that this request was given when it was read.
    case push(Path, key: Key, Draft)
    /// `remove`: as `set` with null.
    case remove(WriteTarget, ifMatch: EntityTag?)
    /// `onDisconnect` with `value`: a set for when the session ends.
    case onDisconnectSet(WriteTarget, Draft)
    /// `onDisconnect` with `update`: an update for when the session ends.
    case onDisconnectUpdate(Path, [MergeEntry])
    /// `onDisconnect` with `cancel`: forget what is registered at a place and below it.
    case onDisconnectCancel(WriteTarget)
    /// JSON that is no request, or one that cannot be carried out: this is the answer.
    case refused(EventError)
}

/// What an observer wants to be told.
package struct Observation: Sendable {
    /// The observer's id, which is that of its request.
    package let id: Int64

    /// The observed node.
    package let path: Path

    /// Which children of it, and in what order; `everything` for a plain one.
    package let query: QuerySpec

    /// Which events are sent; never empty.
    package let events: EventSet

    /// Whether values carry priorities (export form) or are as `val()` gives them.
    package let isExport: Bool

    /// Creates an observation.
    package init(id: Int64, path: Path, query: QuerySpec, events: EventSet, isExport: Bool) {
        precondition(!events.isEmpty, "an observer wants some event")
        self.id = id
        self.path = path
        self.query = query
        self.events = events
        self.isExport = isExport
    }
}

/// Which events an observer wants.
package struct EventSet: OptionSet, Hashable, Sendable {
    /// One bit an event.
    package let rawValue: UInt8

    /// Makes the set of the bits.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The whole of what the query selects, after each change.
    package static let value = EventSet(rawValue: 1)
    /// A child came into sight.
    package static let childAdded = EventSet(rawValue: 2)
    /// A child in sight has another value.
    package static let childChanged = EventSet(rawValue: 4)
    /// A child in sight has another place in the order.
    package static let childMoved = EventSet(rawValue: 8)
    /// A child went out of sight.
    package static let childRemoved = EventSet(rawValue: 16)

    /// All events about single children.
    package static let children: EventSet = [
        .childAdded, .childChanged, .childMoved, .childRemoved,
    ]

    /// The names that requests use, in the order in which events of one commit are sent.
    package static let names: [(name: String, event: EventSet)] = [
        ("childRemoved", .childRemoved), ("childAdded", .childAdded),
        ("childMoved", .childMoved), ("childChanged", .childChanged), ("value", .value),
    ]
}
