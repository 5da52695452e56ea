import Foundation
public import HearthDatabase
import Social

/// The timeline of the signed-in user: their own posts and those of the people they follow.
///
/// Its entries hold no time, so pages are sorted by the keys, which `PostService` makes of the server's time. Shown
/// posts, on one page or several, are sorted by their server times. A page is returned when all of it has arrived.
/// Operations throw `ServiceError`.
public struct TimelineService: Sendable {
    let tree: SocialTree
    /// How it meets changes of others; in tests without waits.
    package var settling = Settling.standard

    /// The timeline of the signed-in user `uid`.
    public init(database: Database, uid: String) { tree = SocialTree(database: database, uid: uid) }

    /// A page of the timeline, with the posts read in parallel.
    ///
    /// `cursor` is `next` of the page before; nil gives the newest page. It has `count` posts (1 to 1,000) unless the
    /// timeline ends: entries without a post are skipped, reported as faults, and removed.
    public func page(
        before cursor: String? = nil,
        count: Int = TimelineLimits.pageSize,
    ) async throws -> TimelinePage {
        guard TimelineLimits.pageSizes.contains(count) else {
            throw ServiceError.invalid(field: "count", why: "a page has 1 to 1,000 posts")
        }
        var cursor = try cursor?.key("page")
        return try await ServiceError.naming("see the timeline") {
            var posts: [ShownPost] = []
            var faults: [RecordFault] = []
            var dangling: [String] = []
            repeat {
                let part = try await entries(before: cursor, count: count)
                let joined = try await part.entries.mapInParallel { try await join($0) }
                cursor = part.next
                for (entry, joined) in zip(part.entries, joined).reversed() {
                    switch joined {
                    case .shown(let post): posts.append(post)
                    case .faulty(let fault): faults.append(fault)
                    case .dangling(let fault):
                        faults.append(fault)
                        dangling.append(entry.key)
                    }
                    if posts.count == count {
                        if entry.key != part.entries.first?.key { cursor = entry.key }
                        break
                    }
                }
                faults += part.faults
            } while posts.count < count && cursor != nil
            clear(dangling)
            return TimelinePage(posts: TimelineOrder.sorted(posts), faults: faults, next: cursor)
        }
    }

    /// A person's posts, newest first: those older than `last`, `count` of them at the most; nil for all.
    public func posts(
        of other: String,
        before last: Post? = nil,
        count: Int? = nil,
    ) async throws -> Listing<Post> {
        let other = try other.key("user")
        if let count, count < 1 {
            throw ServiceError.invalid(field: "count", why: "it is below 1")
        }
        let location = tree.database.reference(withPath: "posts/\(other)")
        var query = location.queryOrdered(byChild: "created_at")
        if let last {
            query = query.queryEnding(beforeValue: last.createdMilliseconds, childKey: last.key)
        }
        if let count { query = query.queryLimited(toLast: UInt(count)) }
        return try await ServiceError.naming("see the posts of \(other)") {
            var listing = Listing<Post>()
            for case let child as DataSnapshot in try await query.getData().children {
                listing.append { () throws(RecordFault) in try SocialTree.post(child, of: other) }
            }
            listing.records.sort { $0.isNewer(than: $1) }
            return listing
        }
    }
}

// The parts of a page.
extension TimelineService {
    /// Some entries in the order of their keys.
    private struct Part {
        let entries: [TimelineEntry]
        let faults: [RecordFault]
        /// The key before which the next part ends; nil when this one is the last.
        let next: String?
    }

    private enum Joined {
        case shown(ShownPost)
        case dangling(RecordFault)
        case faulty(RecordFault)
    }

    private func entries(before cursor: String?, count: Int) async throws -> Part {
        var query = tree.database.reference(withPath: "timeline/\(tree.uid)").queryOrderedByKey()
        if let cursor { query = query.queryEnding(beforeValue: cursor) }
        let snapshot = try await query.queryLimited(toLast: UInt(count)).getData()
        let listing = snapshot.records(as: TimelineEntry.self)
        let first = snapshot.children.nextObject() as? DataSnapshot
        return Part(
            entries: listing.records,
            faults: listing.faults,
            next: snapshot.childrenCount < count ? nil : first?.key,
        )
    }

    private func join(_ entry: TimelineEntry) async throws -> Joined {
        async let isLiked = tree.isLiked(entry.key)
        do {
            let post = try await tree.post(entry.key, of: entry.posterUID)
            guard let post else { return .dangling(danglingFault(entry.key)) }
            return .shown(ShownPost(post: post, isLiked: try await isLiked))
        } catch let fault as RecordFault {
            return .faulty(fault)
        }
    }

    func danglingFault(_ key: String) -> RecordFault {
        RecordFault(path: "timeline/\(tree.uid)/\(key)", reason: "its post is gone")
    }

    /// Clears entries without waiting for it: those that stay are met again.
    private func clear(_ keys: [String]) {
        guard !keys.isEmpty else { return }
        tree.database.reference().updateChildValues(tree.entryChanges(keys, of: nil))
    }
}
