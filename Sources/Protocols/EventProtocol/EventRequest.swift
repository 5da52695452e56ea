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

    /// The action.
    package let action: EventAction
}

/// The actions of a client. Everything inside is checked: paths and keys are legal, values are
/// within the limits of the tree also when counted from the root, updates do not overlap.
package enum EventAction: Sendable {
    /// `auth`: a token or secret, undecided.
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
    case get(Path, QuerySpec, Node.JSONForm)
    /// `keyAt`: the key of the child that has so many before it in key order.
    case keyAt(Path, Int)
    /// `set`: replace a node or a priority; with `ifMatch` only if the current data has that etag.
    case set(WriteTarget, Draft, ifMatch: EntityTag?)
    /// `update`: replace several locations below a path at once.
    case update(Path, [MergeEntry])
    /// `push`: write a new child under the key that this request was given when it was read.
    case push(Path, key: Key, Draft)
    /// `remove`: as `set` with null.
    case remove(WriteTarget, ifMatch: EntityTag?)
    /// `onDisconnect` with `value`: a set for when the session ends.
    case onDisconnectSet(WriteTarget, Draft)
    /// `onDisconnect` with `update`: an update for when the session ends.
    case onDisconnectUpdate(Path, [MergeEntry])
    /// `onDisconnect` with `cancel`: cancel the writes registered at a location and below it.
    case onDisconnectCancel(WriteTarget)
    /// JSON that is not a request, or a request that cannot be executed: this is the answer.
    case refused(EventError)
}

/// The events that an observer wants.
package struct Observation: Sendable {
    /// The observer's id, which is that of its request.
    package let id: Int64

    /// The observed node.
    package let path: Path

    /// Which children of it, and in what order; `everything` for a plain one.
    package let query: QuerySpec

    /// Which events are sent; never empty.
    package let events: EventSet

    /// What of values is sent: as `val()` gives them, with priorities, or outlines.
    package let form: Node.JSONForm

    /// Creates an observation.
    package init(
        id: Int64,
        path: Path,
        query: QuerySpec,
        events: EventSet,
        form: Node.JSONForm,
    ) {
        precondition(!events.isEmpty, "an observer wants some event")
        self.id = id
        self.path = path
        self.query = query
        self.events = events
        self.form = form
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
    /// A child in sight has moved in the order.
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
