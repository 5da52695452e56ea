public import HearthDatabase

/// An observer that is at work, or several that tell of one thing.
public struct Observation: Sendable {
    /// What `removeObserver(withHandle:)` of `query` takes.
    ///
    /// That ends an observation of a single place, of chats or of followers say. Of one that has several observers, of
    /// messages or of events say, it ends one part, and the others go on: `remove()` ends any.
    public let handle: DatabaseHandle
    /// What `handle` observes; of several places one.
    public let query: DatabaseQuery
    /// The observers of the other places.
    private let others: [Observation]
    /// What else ends with it.
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
