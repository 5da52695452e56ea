public import HearthDatabase

/// A running observer, or several for one purpose.
public struct Observation: Sendable {
    /// The argument for `removeObserver(withHandle:)` of `query`.
    ///
    /// Ends an observation of a single location, such as chats or followers. Of an observation with several
    /// observers, such as messages or events, it ends one part and the others continue: `remove()` ends all.
    public let handle: DatabaseHandle
    /// The query of `handle`; one of several.
    public let query: DatabaseQuery
    private let others: [Observation]
    private let ending: (@Sendable () -> Void)?

    package init(
        _ query: DatabaseQuery,
        _ handle: DatabaseHandle,
        and others: [Observation] = [],
        ending: (@Sendable () -> Void)? = nil,
    ) {
        self.query = query
        self.handle = handle
        self.others = others
        self.ending = ending
    }

    /// Ends it: nothing arrives afterwards.
    public func remove() {
        query.removeObserver(withHandle: handle)
        for other in others { other.remove() }
        ending?()
    }
}

extension DatabaseQuery {
    /// Observes the value here. A denial by the rules reaches `cancel` as the refusal of `purpose`, which is part of a
    /// sentence: `see this room`.
    package func observe(
        to purpose: String,
        with block: @escaping @Sendable (DataSnapshot) -> Void,
        withCancel cancel: (@Sendable (ServiceError) -> Void)?,
    ) -> Observation {
        let handle = observe(.value, with: block) { cancel?(ServiceError($0, purpose: purpose)) }
        return Observation(self, handle)
    }
}
