/// What a task does, and what it can be observed for.
public enum StorageTaskStatus: Int, Sendable {
    /// Nothing that has a name.
    case unknown
    /// It runs, for the first time or again.
    case resume
    /// Bytes have come or gone.
    case progress
    /// It waits until the app lets it go on.
    case pause
    /// It has succeeded.
    case success
    /// It has failed, or was cancelled.
    case failure
}
