import FileProtocol
import FileRecords
import JSONTree
import Transport

/// Buckets. In production there are those that are configured; in development any, and those that were made are listed.
extension FileService {
    func answerBuckets(_ context: FileContext, _ then: @escaping @LoopActor (Outcome) -> Void) {
        let all = buckets.map { (name: $0, created: created($0)) }
        answerWhenDurable(.buckets(all, base: context.base), then)
    }

    /// One that was not made by a call has no time.
    private func created(_ bucket: BucketName) -> Timestamp {
        store.tree.time(madeBucket: bucket) ?? Timestamp(milliseconds: 0)
    }

    func answerBucket(
        _ bucket: BucketName,
        _ context: FileContext,
        _ then: @escaping @LoopActor (Outcome) -> Void
    ) throws(FileFault) {
        guard isKnown(bucket) else { throw Self.noBucket }
        let answer = FileAnswer.bucket(bucket, created: created(bucket), base: context.base)
        answerWhenDurable(answer, then)
    }

    private static let noBucket = FileFault(404, "The specified bucket does not exist.")

    func createBucket(
        _ bucket: BucketName,
        _ context: FileContext,
        _ then: @escaping @LoopActor (Outcome) -> Void
    ) throws(FileFault) {
        guard configuration.mode == .development else {
            throw FileFault(501, "Buckets are those of --files-bucket; none can be made.")
        }
        guard !isKnown(bucket) else {
            throw FileFault(409, "The bucket '\(bucket.text)' exists already.")
        }
        let now = Clock.now()
        let write = (
            path: FileTree.path(madeBucket: bucket), node: Node(integer: now.milliseconds)
        )
        store.commit([], [write]) { fault in
            let answer = FileAnswer.bucket(bucket, created: now, base: context.base)
            then(fault.map { .failure($0) } ?? .success(FileDeed(answer: answer)))
        }
    }

    func deleteBucket(
        _ bucket: BucketName,
        _ then: @escaping @LoopActor (Outcome) -> Void
    ) throws(FileFault) {
        guard configuration.mode == .development else {
            throw FileFault(501, "Buckets are those of --files-bucket; none can be removed.")
        }
        guard isKnown(bucket) else { throw Self.noBucket }
        guard store.catalog.usage[bucket] == nil else {
            throw FileFault(409, "The bucket you tried to delete is not empty.")
        }
        store.commit([], [(FileTree.path(madeBucket: bucket), .absent)]) { fault in
            then(fault.map { .failure($0) } ?? .success(FileDeed(answer: FileAnswer(204))))
        }
    }

    // MARK: - Quotas

    /// Whether changes keep each bucket within its quota. One that shrinks, or stays as it is, may be above it.
    ///
    /// What it says holds when they are committed in the same tick.
    ///
    /// - Throws: `overQuota`.
    func checkQuota(_ changes: [FileChange]) throws(FileFault) {
        for change in FileChange.usage(of: changes) {
            guard case .bucket(let bucket) = change.owner, change.difference.byteCount > 0,
                let quota = configuration.files.quota(of: bucket)
            else { continue }
            let used = store.catalog.usage[bucket]?.byteCount ?? 0
            guard used + change.difference.byteCount <= quota else { throw .overQuota }
        }
    }
}
