import Attachments
import HearthDatabase
import Social

/// The repairs of `TimelineService.mend()`.
public struct TimelineMending: Equatable, Sendable {
    /// Entries that were missing.
    public var filledCount: Int
    /// Entries of posts that are gone, or of people whom the user does not follow any more.
    public var clearedCount: Int
    /// Entries that make no sense; they stay.
    public var faults: [RecordFault]

    /// The counts of changes; none by default.
    public init(filledCount: Int = 0, clearedCount: Int = 0, faults: [RecordFault] = []) {
        self.filledCount = filledCount
        self.clearedCount = clearedCount
        self.faults = faults
    }
}

extension TimelineService {
    /// Repairs the user's timeline, in case a program ended between two steps of posting, deleting, following or
    /// unfollowing. Call it once at each start; repeating it is harmless.
    ///
    /// Reads the whole timeline and the posts of all whom the user follows. Pictures that no post names are removed.
    ///
    /// - Returns: The changes.
    /// - Throws: `ServiceError`; changes made until then stay.
    public func mend() async throws -> TimelineMending {
        try await ServiceError.naming("mend the timeline") {
            let listing = try await tree.entries()
            let following = try await tree.keys("following/\(tree.uid)")
            let entered = Dictionary(grouping: listing.records, by: \.posterUID)
                .mapValues { Set($0.map(\.key)) }
            let people = Set(following).union([tree.uid])
            let strangers = entered.keys.filter { !people.contains($0) }.sorted()
            let strange = strangers.flatMap { entered[$0, default: []] }
            try await tree.update(tree.entryChanges(strange, of: nil))
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
            let files = AttachmentService(database: tree.database, uid: tree.uid)
            mending.faults += try await files.mend().faults
            return mending
        }
    }

    /// Makes the entries of a person match their posts; returns how many were missing, and how many too many. The posts
    /// are read after the entries, so an entry whose post is not among them is one of a post that is gone.
    private func correct(_ entered: Set<String>, of poster: String) async throws -> (Int, Int) {
        let keys = try await settling.settle("mend the timeline") {
            try await tree.postKeys(of: poster)
        } write: { keys in
            try await tree.correct(poster, from: entered, to: keys)
        }
        return (keys.subtracting(entered).count, entered.subtracting(keys).count)
    }
}
