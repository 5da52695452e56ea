package import JSONTree

/// One message to a client of the plain event protocol.
///
/// Events for observers are `ObserverEvent`.
package enum EventMessage: Sendable {
    /// The first message of a session. `session` is not empty.
    case hello(now: Timestamp, session: String)

    /// The answer to the request with this id; without one when the frame had none.
    case reply(Int64?, EventReply)

    /// The credential is no longer good; the session goes on signed out.
    case authRevoked(EventError)
}

/// What a reply says.
package enum EventReply: Sendable {
    /// Done, with nothing to tell.
    case done

    /// The credential is accepted: whose it is; nil for one without a uid, such as an
    /// administrator's.
    case authenticated(uid: String?)

    /// The observer is in place, and the events that lead to the present state are sent.
    case observing(warning: EventWarning?)

    /// What a `get` found. The tag is there unless a query chose among the children.
    case value(Node, EntityTag?, isExport: Bool)

    /// The write is done; the tag of what it wrote if `ifMatch` was given.
    case written(EntityTag?)

    /// The new child is written under this key.
    case pushed(Key)

    /// The answer to `ping`.
    case pong(now: Timestamp)

    /// Refused.
    case refused(EventError)

    /// Refused, since this is there, with this tag; shown only to those who may read it. The value
    /// is as `val()` gives it.
    case mismatch(Node, EntityTag)
}

/// What an observer is warned of; it works all the same.
package enum EventWarning: String, CaseIterable, Sendable {
    /// The rules have no index for the query's order, so the whole node is sorted for it.
    case noIndex = "no_index"
}
