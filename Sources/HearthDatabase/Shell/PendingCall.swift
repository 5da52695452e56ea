import SyncCore

/// A call whose outcome somebody waits for.
struct PendingCall: Sendable {
    /// Where it is told.
    let route: ObserverEntry.Route
    /// The text of its path, for errors.
    let path: String
    /// Called exactly once.
    let finish: @Sendable (Result<Outcome, DatabaseError>) -> Void

    /// What the outcome means for whoever waits.
    func result(of outcome: Outcome) -> Result<Outcome, DatabaseError> {
        switch outcome {
        case .failed(let failure): .failure(DatabaseError(failure, path: path))
        case .done, .value, .transaction: .success(outcome)
        }
    }
}
