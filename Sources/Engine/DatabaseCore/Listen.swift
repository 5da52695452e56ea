import JSONTree
import Queries
import WireProtocol

/// A session's registration on a path and query: a listen of the wire protocol, an observer of the
/// plain event protocol, or an event stream.
final class Listen {
    /// Its name within its session.
    enum Name: Hashable {
        case target(ListenTarget)
        case observer(Int64)
        /// The one listen of its session.
        case stream
    }

    let id: ListenID
    let name: Name
    let path: Path
    let query: QuerySpec
    /// The tag or the observer's id, repeated in all that is sent for it; plain listens have none.
    let number: Int64?
    /// The session owns its listens and outlives them.
    unowned let session: Session
    let view: View
    /// Its index among the view's receivers; nil while it awaits a decision and receives nothing.
    var index: Int?
    /// The state that it was last sent, while it awaits a decision.
    var notified: NotifiedState?
    /// The paths that its read rule looked at when last decided.
    var lookedAt: [Path] = []

    init(id: ListenID, name: Name, number: Int64?, session: Session, view: View) {
        self.id = id
        self.name = name
        self.number = number
        self.session = session
        self.view = view
        path = view.node.path
        query = view.query
    }
}

/// What an observer can see of one state of a node; O(1) to keep.
struct ShownChildren {
    let view: QueryView
    let children: OrderedChildren
}
