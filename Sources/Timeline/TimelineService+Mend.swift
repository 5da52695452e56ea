import HearthDatabase
import Records

/// What `TimelineService.mend()` found to do.
public struct TimelineMending: Equatable, Sendable {
    /// Entries that were missing.
    public var filledCount: Int
    /// Entries of posts that are gone, or of people whom the user does not follow any more.
    public var clearedCount: Int
    /// Entries that make no sense; they stay.
    public var faults: [RecordFault]

    /// Nothing was to be done, or so much.
    public init(filledCount: Int = 0, clearedCount: Int = 0, faults: [RecordFault] = []) {
        self.filledCount = filledCount
        self.clearedCount = clearedCount
        self.faults = faults
    }
}

extension TimelineService {
    /// Brings the own timeline to what it should be, in case that a program ended between two steps of posting, deleting,
    /// following or unfollowing: to be called once at each start. Twice is harmless.
    ///
    /// Reads the whole timeline and the posts of everybody whom the user follows.
    ///
    /// - Returns: What was done.
    /// - Throws: `ServiceError`; what was done until then stays.
    public func mend() async throws -> TimelineMending {
        try await ServiceError.naming("mend the timeline") {
            let listing = try await places.entries()
            let following = try await places.keys("following/\(places.uid)")
            let entered = Dictionary(grouping: listing.records, by: \.posterUID)
                .mapValues { Set($0.map(\.key)) }
            let people = Set(following).union([places.uid])
            let strangers = entered.keys.filter { !people.contains($0) }.sorted()
            let strange = strangers.flatMap { entered[$0, default: []] }
            try await places.update(places.entryChanges(strange, of: nil))
            var mending = TimelineMending()
            mending.clearedCount = strange.count
            mending.faults = listing.faults
            let corrections = try await people.sorted().mapInParallel(width: 16) { poster in
                try await correct(entered[poster, default: []], of: poster)
            }
            for (filledCount, clearedCount) in corrections {
                mending.filledCount += filledCount
                mending.clearedCount += clearedCount
            }
            return mending
        }
    }

    /// Makes the entries of somebody those of their posts; how many were missing, and how many too many.
    ///
    /// The posts are read after the entries, so an entry whose post is not among them is one of a post that is gone.
    private func correct(
        _ entered: Set<String>,
        of poster: String,
    ) async throws -> (Int, Int) {
        let keys = try await settling.settle("mend the timeline") {
            try await places.postKeys(of: poster)
        } write: { keys in
            var changes = places.entryChanges(keys.subtracting(entered), of: poster)
            changes.merge(places.entryChanges(entered.subtracting(keys), of: nil)) { $1 }
            try await places.update(changes)
        }
        return (keys.subtracting(entered).count, entered.subtracting(keys).count)
    }
}
