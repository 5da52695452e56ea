import SyncCore

struct PendingCall: Sendable {
    let route: ObserverEntry.Route
    let path: String
    /// Called exactly once.
    let finish: @Sendable (Result<Outcome, DatabaseError>) -> Void

    func result(of outcome: Outcome) -> Result<Outcome, DatabaseError> {
        switch outcome {
        case .failed(let failure): .failure(DatabaseError(failure, path: path))
        case .done, .value, .transaction: .success(outcome)
        }
    }
}
