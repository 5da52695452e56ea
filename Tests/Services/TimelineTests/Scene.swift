import Foundation
import HearthDatabase
import ServiceSupport

@testable import Timeline

extension Settling {
    /// Tries as many as the standard, without the clock's waits.
    static let quick = Settling(tries: 100) { _ in await Task.yield() }
}

extension LikeService {
    init(database: Database, uid: String, settling: Settling) {
        self.init(database: database, uid: uid)
        self.settling = settling
    }
}

extension TimelineService {
    init(database: Database, uid: String, settling: Settling) {
        self.init(database: database, uid: uid)
        self.settling = settling
    }
}

extension PostService {
    init(
        database: Database,
        uid: String,
        settling: Settling = .standard,
        makeKey: (@Sendable () -> String?)? = nil,
    ) {
        self.init(database: database, me: UserProfile(uid: uid, username: ""))
        self.settling = settling
        if let makeKey { self.makeKey = makeKey }
    }
}

extension FollowService {
    init(database: Database, uid: String, settling: Settling) {
        self.init(database: database, uid: uid)
        self.settling = settling
    }

    // The steps of following that the service takes in its tree.

    func postKeys(of other: String) async throws -> Set<String> {
        try await tree.postKeys(of: other)
    }

    func correct(_ other: String, from entered: Set<String>, to keys: Set<String>) async throws {
        try await tree.correct(other, from: entered, to: keys)
    }
}

extension Person {
    var posts: PostService { PostService(database: database, uid: uid, settling: .quick) }
    var likes: LikeService { LikeService(database: database, uid: uid, settling: .quick) }
    var follows: FollowService { FollowService(database: database, uid: uid, settling: .quick) }
    var timeline: TimelineService {
        TimelineService(database: database, uid: uid, settling: .quick)
    }
    var users: UserService { UserService(database: database, uid: uid) }

    /// A post that differs from others by its name.
    func post(_ name: String = "picture") async throws -> Post {
        try await posts.create(imageURL: "https://images.example.com/\(name)", imageHeight: 300)
    }

    /// The keys of the whole timeline's entries, in their order.
    func entryKeys() async throws -> [String] {
        try await place("timeline/\(uid)").getData().records(as: TimelineEntry.self).records
            .map(\.key)
    }

    /// The names of posts that a page shows.
    func shownNames(count: Int = 20) async throws -> [String] {
        try await timeline.page(count: count).posts.map(\.post.name)
    }

    /// Whether the timeline's entries are the posts of oneself and of whom one follows.
    func hasWholeTimeline() async throws -> Bool {
        let following = try await place("following/\(uid)").getData()
        let followed = following.children.compactMap { ($0 as? DataSnapshot)?.key }
        var keys: Set<String> = []
        for poster in followed + [uid] { keys.formUnion(try await follows.postKeys(of: poster)) }
        return Set(try await entryKeys()) == keys
    }

    /// The update, and what became of it.
    func isAllowed(_ update: [String: any Sendable]) async throws -> Bool {
        do {
            try await database.reference().updateChildValues(update)
            return true
        } catch DatabaseError.permissionDenied {
            return false
        }
    }

    /// The read, and what became of it.
    func mayRead(_ path: String) async throws -> Bool {
        do {
            try await place(path).getData()
            return true
        } catch DatabaseError.permissionDenied {
            return false
        }
    }
}

extension Post {
    var name: String { imageURL.split(separator: "/").last.map(String.init) ?? "" }
}

/// What an operation threw; nil when it did not.
func refusal(_ operation: () async throws -> Void) async -> ServiceError? {
    do {
        try await operation()
        return nil
    } catch {
        return error as? ServiceError
    }
}

/// All orders of the steps of two, each in its own order, as true for the first one's.
func interleavings(_ first: Int, _ second: Int) -> [[Bool]] {
    if first == 0 { return [Array(repeating: false, count: second)] }
    if second == 0 { return [Array(repeating: true, count: first)] }
    return interleavings(first - 1, second).map { [true] + $0 }
        + interleavings(first, second - 1).map { [false] + $0 }
}
