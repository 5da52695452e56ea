/// One change of one object: what was there, and what is there after it.
package struct FileChange: Sendable {
    package let old: FileRecord?
    package let new: FileRecord?

    package init(old: FileRecord?, new: FileRecord?) {
        self.old = old
        self.new = new
    }

    /// By how much the references of blobs change with all of `changes`, by the names of the blobs; none stay out.
    package static func references(of changes: [FileChange]) -> [ReferenceChange] {
        var sums: [String: ReferenceChange] = [:]
        for change in changes {
            for (record, step) in [(change.old, -1), (change.new, 1)] {
                guard let content = record?.content else { continue }
                let empty = ReferenceChange(
                    blob: content.blob,
                    byteCount: content.byteCount,
                    difference: 0
                )
                sums[content.blob, default: empty].difference += step
            }
        }
        return sums.values.filter { $0.difference != 0 }.sorted { $0.blob < $1.blob }
    }

    /// By how much the usage of buckets and users changes with all of `changes`, sorted; zeros stay out.
    package static func usage(of changes: [FileChange]) -> [UsageChange] {
        var sums: [UsageChange.Owner: FileUsage] = [:]
        for change in changes {
            for (record, sign) in [(change.old, Int64(-1)), (change.new, 1)] {
                guard let record else { continue }
                var owners = [UsageChange.Owner.bucket(record.bucket)]
                if let uid = record.uid { owners.append(.user(uid)) }
                for owner in owners {
                    sums[owner, default: FileUsage()].objectCount += sign
                    sums[owner, default: FileUsage()].byteCount += sign * record.content.byteCount
                }
            }
        }
        return sums.filter { $0.value != FileUsage() }
            .map { UsageChange(owner: $0.key, difference: $0.value) }
            .sorted { $0.owner.sortText.utf8.lexicographicallyPrecedes($1.owner.sortText.utf8) }
    }
}

/// By how much the count of a blob's references changes.
package struct ReferenceChange: Sendable, Equatable {
    package let blob: String
    package let byteCount: Int64
    package var difference: Int

    package init(blob: String, byteCount: Int64, difference: Int) {
        self.blob = blob
        self.byteCount = byteCount
        self.difference = difference
    }

    /// The count after it; nil when it would go below 0, which says that counts and records disagree.
    package func count(after count: Int) -> Int? {
        let (sum, isTooFar) = count.addingReportingOverflow(difference)
        return isTooFar || sum < 0 ? nil : sum
    }
}

/// Objects and bytes.
package struct FileUsage: Sendable, Equatable {
    package var objectCount: Int64 = 0
    package var byteCount: Int64 = 0

    package init(objectCount: Int64 = 0, byteCount: Int64 = 0) {
        self.objectCount = objectCount
        self.byteCount = byteCount
    }

    /// Both added.
    package static func + (a: FileUsage, b: FileUsage) -> FileUsage {
        FileUsage(
            objectCount: a.objectCount &+ b.objectCount,
            byteCount: a.byteCount &+ b.byteCount
        )
    }
}

/// By how much the usage of a bucket or a user changes.
package struct UsageChange: Sendable, Equatable {
    package enum Owner: Sendable, Hashable {
        case bucket(BucketName)
        case user(String)

        fileprivate var sortText: String {
            switch self {
            case .bucket(let bucket): "bucket/\(bucket.text)"
            case .user(let uid): "user/\(uid)"
            }
        }
    }

    package let owner: Owner
    package let difference: FileUsage
}
