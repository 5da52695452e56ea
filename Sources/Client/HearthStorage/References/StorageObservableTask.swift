public import Foundation

/// A task that notifies the app of what happens to it. Unchecked as its base is: all that it has is the base's own.
public class StorageObservableTask: StorageTask, @unchecked Sendable {
    /// Calls `handler` on the callback queue each time that the task comes to `status`, at once when it is there
    /// already. Several steps of progress may come as one.
    ///
    /// - Returns: What removes the observer. All go when the task has ended.
    @discardableResult
    public func observe(
        _ status: StorageTaskStatus,
        handler: @escaping (StorageTaskSnapshot) -> Void,
    ) -> String {
        addObserver(status, handler)
    }

    /// Removes one observer.
    public func removeObserver(withHandle handle: String) {
        removeObservers { each, _ in each == handle }
    }

    /// Removes the observers of a status.
    public func removeAllObservers(for status: StorageTaskStatus) {
        removeObservers { _, each in each == status }
    }

    /// Removes all observers.
    public func removeAllObservers() { removeObservers { _, _ in true } }
}

/// What an app may do with a task.
public protocol StorageTaskManagement: NSObjectProtocol {
    /// Lets the task begin; tasks of this SDK have begun already.
    func enqueue()
    /// Breaks the task off until `resume`.
    func pause()
    /// Lets the task go on where it was.
    func resume()
    /// Ends the task with `StorageError.cancelled`.
    func cancel()
}

/// An upload.
public final class StorageUploadTask: StorageObservableTask, StorageTaskManagement,
    @unchecked Sendable
{
    /// Nothing: it has begun already.
    public func enqueue() {}
    /// Breaks the upload off until `resume`; the server keeps what it has.
    public func pause() { pauseRun() }
    /// Lets the upload go on where it was.
    public func resume() { resumeRun() }
    /// Ends the upload with `StorageError.cancelled`; the server forgets what it has.
    public func cancel() { cancelRun() }
}

/// A download.
public final class StorageDownloadTask: StorageObservableTask, StorageTaskManagement,
    @unchecked Sendable
{
    /// Nothing: it has begun already.
    public func enqueue() {}
    /// Breaks the download off until `resume`; what has come stays.
    public func pause() { pauseRun() }
    /// Lets the download go on where it was.
    public func resume() { resumeRun() }
    /// Ends the download with `StorageError.cancelled`; what has come goes.
    public func cancel() { cancelRun() }
}
