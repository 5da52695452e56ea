public import Foundation

/// A task at one moment.
public final class StorageTaskSnapshot: NSObject, Sendable {
    /// The task.
    public let task: StorageTask
    /// The object that it is about.
    public let reference: StorageReference
    /// What was uploaded, once it is; nil for downloads.
    public let metadata: StorageMetadata?
    /// Why it failed; nil when it has not.
    public let error: (any Error)?
    /// What the task does.
    public let status: StorageTaskStatus

    private let completed: Int64
    private let total: Int64

    init(
        _ task: StorageTask,
        _ status: StorageTaskStatus,
        completed: Int64,
        total: Int64,
        metadata: StorageMetadata?,
        error: StorageError?,
    ) {
        self.task = task
        reference = task.reference
        self.status = status
        self.completed = completed
        self.total = total
        self.metadata = metadata
        self.error = error
        super.init()
    }

    /// Bytes that are there and bytes of the whole, which is negative as long as it is not known. Behind a cut the first
    /// number may be smaller than before.
    public var progress: Progress? {
        let progress = Progress(totalUnitCount: total)
        progress.completedUnitCount = completed
        return progress
    }

    /// Status and numbers.
    public override var description: String {
        "StorageTaskSnapshot(\(status), \(completed) of \(total) bytes)"
    }
}
