/// Every `error` that the plain event protocol knows; `docs/reference/EVENTS.md` says what to do about each.
package enum EventErrorCode: String, CaseIterable, Sendable {
    /// The frame is JSON and no request: no `id`, no `do`, a member missing, unknown, given twice or of the wrong type.
    case badRequest = "bad_request"
    /// `do` names no request.
    case unknownRequest = "unknown_request"
    /// A path is none, or two paths of an update exclude each other.
    case badPath = "bad_path"
    /// A query contradicts itself, or a bound or limit of it is none.
    case badQuery = "bad_query"
    /// A value cannot be stored.
    case badValue = "bad_value"
    /// A path or value reaches more than `Limits.depth` keys down from the root.
    case tooDeep = "too_deep"
    /// An observer with this id exists already.
    case idInUse = "id_in_use"
    /// No observer has this id.
    case unknownObserver = "unknown_observer"
    /// The session has as many observers as it may.
    case tooManyObservers = "too_many_observers"
    /// An update has more paths, or a session more on-disconnect writes, than it may.
    case tooManyWrites = "too_many_writes"
    /// The rules, or the lack of a credential, forbid it.
    case permissionDenied = "permission_denied"
    /// A `get` orders by something the rules have no index for.
    case indexNotDefined = "index_not_defined"
    /// `ifMatch` is not the etag of the current data.
    case etagMismatch = "etag_mismatch"
    /// This server does not accept the token.
    case invalidToken = "invalid_token"
    /// The token was valid once.
    case expiredToken = "expired_token"
    /// A value is larger than can be sent, or written, at once.
    case tooBig = "too_big"
    /// The server cannot do it now.
    case unavailable
}

/// Why a request is refused.
package struct EventError: Error, Equatable, Sendable {
    /// For programs.
    package let code: EventErrorCode

    /// For people; never empty, one line.
    package let message: String

    /// Creates an error.
    package init(_ code: EventErrorCode, _ message: String) {
        precondition(!message.isEmpty, "an error says what is wrong")
        self.code = code
        self.message = message
    }
}
