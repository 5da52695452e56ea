package import JSONTree

/// One pass over all blobs that removes those to which nothing refers.
///
///     worker: list ──► loop: claim ──► worker: remove ──► … until isDone
///
/// The caller waits between slices: at most `BlobLimits.sliceCount` blobs a second.
package struct OrphanSweep: Sendable {
    private let pins: BlobPins
    private let sliceCount: Int
    private var last: BlobHash?
    /// Whether every blob was looked at.
    package private(set) var isDone = false

    package init(_ pins: BlobPins, sliceCount: Int = BlobLimits.sliceCount) {
        self.pins = pins
        self.sliceCount = sliceCount
    }

    /// The next slice of blobs. On a worker: blocks.
    ///
    /// - Throws: as `Blobs.list`.
    package func list(in blobs: any Blobs) throws(BlobError) -> BlobPage {
        try blobs.list(after: last, limit: sliceCount)
    }

    /// Decides which blobs of a slice to remove, and ends it. On the loop: no call to the disk, and nothing may be
    /// committed between `isReferenced` and here.
    ///
    /// `isReferenced` must also hold for a blob whose last reference went by a commit that is not durable yet: after a
    /// power cut it would be there again, and the blob would not.
    ///
    /// - Returns: Hashes to give to `remove`, which must be called with them, for until then no upload can pin them.
    package mutating func claim(
        _ page: BlobPage,
        now: Timestamp,
        isReferenced: (BlobHash) -> Bool
    ) -> [BlobHash] {
        last = page.entries.last?.hash ?? last
        isDone = page.isLast
        return pins.claim(Self.orphans(page, now: now, isReferenced: isReferenced))
    }

    /// The blobs that nothing refers to and that are old enough.
    static func orphans(
        _ page: BlobPage,
        now: Timestamp,
        isReferenced: (BlobHash) -> Bool
    ) -> [BlobHash] {
        page.entries.filter { entry in
            now.milliseconds - entry.modified.milliseconds >= BlobLimits.orphanAge
                && !isReferenced(entry.hash)
        }.map(\.hash)
    }

    /// Removes claimed blobs, and lets them be pinned again. On a worker: blocks.
    ///
    /// - Returns: How many are gone, and the failure that ended it: those left go in a later sweep.
    package static func remove(
        _ claimed: [BlobHash],
        from blobs: any Blobs,
        _ pins: BlobPins
    ) -> (removedCount: Int, failure: BlobError?) {
        defer { pins.release(claimed) }
        var removedCount = 0
        do throws(BlobError) {
            for hash in claimed {
                try blobs.remove(hash)
                removedCount += 1
            }
        } catch {
            return (removedCount, error)
        }
        return (removedCount, nil)
    }
}
