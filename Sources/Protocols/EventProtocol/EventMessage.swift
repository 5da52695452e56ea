package import JSONTree

/// One message to a client of the plain event protocol.
///
/// Events for observers are `ObserverEvent`.
package enum EventMessage: Sendable {
    /// The first message of a session. `session` is not empty.
    case hello(now: Timestamp, session: String)
    /// The answer to the request with this id; without one when the frame had none.
    case reply(Int64?, EventReply)
    /// The credential is no longer valid; the session continues signed out.
    case authRevoked(EventError)
}

/// What a reply says.
package enum EventReply: Sendable {
    /// Done, without a value.
    case done
    /// The credential is accepted: whose it is; nil for one without a uid, such as an administrator's.
    case authenticated(uid: String?)
    /// The observer is registered, and the events that lead to the present state are sent.
    case observing(warning: EventWarning?)
    /// The answer to a `get`. Without an entity tag if a query filters the children.
    case value(Node, EntityTag?, Node.JSONForm)
    /// The write is done; with the entity tag of the new data if `ifMatch` was given.
    case written(EntityTag?)
    /// The key of a new child, or the one that was asked for; nil when there is none.
    case key(Key?)
    /// The answer to `ping`.
    case pong(now: Timestamp)
    /// Refused.
    case refused(EventError)
    /// Refused because the current data has this entity tag; sent only to clients that may read it.
    /// The value is as `val()` gives it.
    case mismatch(Node, EntityTag)
}

/// What an observer is warned of; it works all the same.
package enum EventWarning: String, CaseIterable, Sendable {
    /// The rules have no index for the query's order, so the whole node is sorted for it.
    case noIndex = "no_index"
}
