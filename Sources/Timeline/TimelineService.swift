import Foundation
public import HearthDatabase
import Records

/// The timeline of the signed-in user: their own posts and those of whom they follow.
///
/// Its entries hold no time, so pages follow the keys, which `PostService` makes of the server's time; what is shown, on
/// one page or several, is in the order of the posts' server times. An answer's way changes no order: a page is told
/// when all of it is there.
public struct TimelineService: Sendable {
    let places: SocialPlaces
    let settling: Settling

    /// The timeline of the signed-in user `uid`.
    public init(database: Database, uid: String) {
        self.init(database: database, uid: uid, settling: .standard)
    }

    package init(database: Database, uid: String, settling: Settling) {
        places = SocialPlaces(database: database, uid: uid)
        self.settling = settling
    }

    /// A page of the timeline, with the posts read in parallel.
    ///
    /// It has `count` posts unless the timeline ends: entries without a post are skipped, told as faults, and cleared in
    /// passing.
    /// - Parameters:
    ///   - cursor: `next` of the page before; nil for the newest.
    ///   - count: 1 to 1,000.
    /// - Returns: The page.
    /// - Throws: `ServiceError`.
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

    /// The posts of somebody, newest first.
    ///
    /// - Parameters:
    ///   - other: Whose.
    ///   - last: Only older ones than this; nil for the newest.
    ///   - count: So many; nil for all.
    /// - Returns: The posts.
    /// - Throws: `ServiceError`.
    public func posts(
        of other: String,
        before last: Post? = nil,
        count: Int? = nil,
    ) async throws -> Listing<Post> {
        let other = try other.key("user")
        if let count, count < 1 {
            throw ServiceError.invalid(field: "count", why: "it is below 1")
        }
        let place = places.database.reference(withPath: "posts/\(other)")
        var query = place.queryOrdered(byChild: "created_at")
        if let last {
            query = query.queryEnding(
                beforeValue: last.createdMilliseconds,
                childKey: last.key,
            )
        }
        if let count { query = query.queryLimited(toLast: UInt(count)) }
        return try await ServiceError.naming("see the posts of \(other)") {
            var listing = Listing<Post>()
            for case let child as DataSnapshot in try await query.getData().children {
                do throws(RecordFault) {
                    if let post = try SocialPlaces.post(child, of: other) {
                        listing.records.append(post)
                    }
                } catch {
                    listing.faults.append(error)
                }
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
        var query = places.database.reference(withPath: "timeline/\(places.uid)")
            .queryOrderedByKey()
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
        async let isLiked = places.isLiked(entry.key)
        do {
            let post = try await places.post(entry.key, of: entry.posterUID)
            guard let post else { return .dangling(danglingFault(entry.key)) }
            return .shown(ShownPost(post: post, isLiked: try await isLiked))
        } catch let fault as RecordFault {
            return .faulty(fault)
        }
    }

    func danglingFault(_ key: String) -> RecordFault {
        RecordFault(path: "timeline/\(places.uid)/\(key)", reason: "its post is gone")
    }

    /// Clears entries without waiting for it: those that stay are met again.
    private func clear(_ keys: [String]) {
        guard !keys.isEmpty else { return }
        places.database.reference().updateChildValues(places.entryChanges(keys, of: nil))
    }
}
