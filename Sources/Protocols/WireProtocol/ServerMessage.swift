package import JSONTree

/// One message to a client.
///
/// Paths carry no leading slash, the root is empty. Nodes go out in export form: objects only,
/// priorities included, absent as null.
package enum ServerMessage: Sendable {
    /// The first message of a session. `host` is where the client connects from now on, so it must
    /// be dialable; `session` is not empty and comes back in URLs unencoded.
    case hello(now: Timestamp, host: String, session: String)
    /// The answer to a ping.
    case pong
    /// A session over long polling may move to the WebSocket that this is sent on.
    case upgradeAck
    /// The last message here: the session continues on the WebSocket that it has moved to.
    case endOfTransmission
    /// The client closes and never reconnects by itself: only for permanent refusals.
    case shutdown(String)
    /// The client connects to this host instead.
    case reset(host: String)
    /// The answer to the request with this number.
    case reply(Int64, ReplyBody)
    /// The new node (or priority) at a location. The tag is that of the listen.
    case put(WriteTarget, Node, tag: Int64?)
    /// The new nodes at these locations, relative to `base`. Never empty; no location is `base` itself.
    case merge(base: Path, [(target: WriteTarget, node: Node)], tag: Int64?)
    /// The leaves of these intervals, counted from the path, are now exactly those of their nodes.
    ///
    /// Never empty. Only for clients that sent a compound hash: JavaScript does not know it.
    case rangeMerge(Path, [RangeMerge], tag: Int64?)
    /// A listen is no longer allowed; the client forgets it without a reply.
    case cancel(ListenTarget)
    /// The credential is no longer valid; the client reconnects.
    case authRevoked(Status, String)
    /// A text that clients print.
    case securityDebug(String)
}

/// What a reply says.
package enum ReplyBody: Sendable {
    /// Done, without a value.
    case ok
    /// Done, with a text (`unauth` says `unauthenticated`).
    case text(String)
    /// The listen is registered. Android wants an object here, so this is never empty text.
    case listening(warnings: [String])
    /// What a `get` found.
    case value(Node)
    /// The credential is accepted. The claims are free-form; nil is null, absent the empty object.
    case authenticated(Node?)
    /// Done, with this JSON text (`echo`).
    case json([UInt8])
    /// Refused; the status is not `ok`.
    case refused(Status, String)
}
