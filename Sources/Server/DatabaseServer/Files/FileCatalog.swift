import BlobStore
import FileRecords

/// What is known of all records together. A value, made of the records alone.
struct FileCatalog: Sendable {
    /// The names of each bucket that has objects.
    private(set) var names: [BucketName: NameIndex] = [:]
    /// How many records refer to each blob.
    private var references: [BlobHash: Int] = [:]
    /// Objects and bytes of each bucket that has objects.
    private(set) var usage: [BucketName: FileUsage] = [:]
    /// The last one that was given.
    private(set) var lastGeneration: Int64 = 0

    /// No records.
    init() {}

    /// No records, after these were there: generations go on.
    init(after catalog: FileCatalog) { lastGeneration = catalog.lastGeneration }

    /// Objects and bytes of all buckets.
    var total: FileUsage { usage.values.reduce(FileUsage(), +) }

    /// How many blobs are referred to.
    var blobCount: Int { references.count }

    func isReferred(_ blob: BlobHash) -> Bool { references[blob] != nil }

    /// Takes a record in that was not there.
    mutating func add(_ record: FileRecord) { apply([FileChange(old: nil, new: record)]) }

    /// Follows changes that were made of records.
    mutating func apply(_ changes: [FileChange]) {
        for change in changes {
            switch (change.old, change.new) {
            case (nil, let new?): names[new.bucket, default: NameIndex()].insert(new.name)
            case (let old?, nil): names[old.bucket]?.remove(old.name)
            case (_?, _?), (nil, nil): break
            }
            lastGeneration = max(lastGeneration, change.new?.generation ?? 0)
        }
        for change in FileChange.references(of: changes) {
            guard let blob = BlobHash(hex: change.blob) else { continue }
            let count = change.count(after: references[blob] ?? 0) ?? 0
            references[blob] = count > 0 ? count : nil
        }
        for change in FileChange.usage(of: changes) {
            guard case .bucket(let bucket) = change.owner else { continue }
            let sum = (usage[bucket] ?? FileUsage()) + change.difference
            usage[bucket] = sum.objectCount > 0 ? sum : nil
            if sum.objectCount <= 0 { names[bucket] = nil }
        }
    }
}
