public import HearthDatabase

/// An observer that is at work.
public struct Observation: Sendable {
    /// What `removeObserver(withHandle:)` of `query` takes.
    public let handle: DatabaseHandle
    /// What is observed; of several places the first.
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
