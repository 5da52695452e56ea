import Dispatch
import Foundation
import HearthDatabase
import ServiceSupport
import Testing
import Timeline

@Suite("A live timeline")
struct ObserveTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.shared("social") }

    @Test("posts come, are liked and go in place, each once and in order")
    func live() async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.quickMember("bob")
        try await bob.follows.followUser(ann.uid)
        let reported = Recorder<[ShownPost]>()
        let observation = try bob.users.observeTimeline { reported.record($0.records) }
        try await reported.wait { $0.last == [] }
        let posts = [try await ann.post("0"), try await bob.post("1"), try await ann.post("2")]
        try await reported.wait { $0.last?.map(\.post) == posts.reversed() }
        try await bob.likes.create(for: posts[0])
        try await reported.wait {
            $0.last?.map(\.isLiked) == [false, false, true] && $0.last?.last?.post.likeCount == 1
        }
        try await ann.likes.create(for: posts[0])
        try await reported.wait { $0.last?.last?.post.likeCount == 2 }
        try await ann.posts.delete(forKey: posts[2].key)
        try await reported.wait { $0.last?.map(\.post.name) == ["1", "0"] }
        for list in reported.values {
            #expect(Set(list.map(\.post.key)).count == list.count)
            #expect(list == TimelineOrder.sorted(list))
        }
        // On the queue: whatever is under way is reported by then.
        let count: Int = await withCheckedContinuation { done in
            bob.database.callbackQueue.async {
                observation.remove()
                done.resume(returning: reported.values.count)
            }
        }
        _ = try await ann.post("3")
        #expect(try await bob.shownNames() == ["3", "1", "0"])
        // Whatever was on its way to the queue of callbacks has passed through it.
        await withCheckedContinuation { done in bob.database.callbackQueue.async { done.resume() } }
        #expect(reported.values.count == count)
    }

    @Test(
        "the oldest leaves with a newer one, and a post that is there already is reported at once"
    )
    func window() async throws {
        let ann = try await server.quickMember("ann")
        for index in 0..<5 { _ = try await ann.post("\(index)") }
        let reported = Recorder<[String]>()
        let observation = try ann.timeline.observe(newest: 3) { listing in
            reported.record(listing.records.map(\.post.name))
        }
        defer { observation.remove() }
        try await reported.wait { $0 == [["4", "3", "2"]] }
        _ = try await ann.post("5")
        try await reported.wait { $0.last == ["5", "4", "3"] }
    }

    @Test("following brings posts into the live timeline, and unfollowing takes them out")
    func following() async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.quickMember("bob")
        for index in 0..<3 { _ = try await ann.post("\(index)") }
        let reported = Recorder<[String]>()
        let observation = try bob.timeline.observe { listing in
            reported.record(listing.records.map(\.post.name))
        }
        defer { observation.remove() }
        try await reported.wait { $0.last == [] }
        try await bob.follows.followUser(ann.uid)
        try await reported.wait { $0.last == ["2", "1", "0"] }
        try await bob.follows.unfollowUser(ann.uid)
        try await reported.wait { $0.last == [] }
    }

    @Test("entries whose posts are gone make room for what is behind them")
    func dangling() async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.quickMember("bob")
        let eve = try await server.quickMember("eve")
        for other in [ann, eve] { try await bob.follows.followUser(other.uid) }
        _ = try await ann.post("0")
        // Eve takes her post away, and not the entry of her follower.
        let key = try await eve.post("1").key
        let isGone = try await eve.isAllowed([
            "postOwners/\(key)": NSNull(), "posts/\(eve.uid)/\(key)": NSNull(),
            "timeline/\(eve.uid)/\(key)": NSNull(),
        ])
        #expect(isGone)
        let reported = Recorder<[String]>()
        let observation = try bob.timeline.observe(newest: 1) { listing in
            reported.record(listing.records.map(\.post.name))
        }
        defer { observation.remove() }
        try await reported.wait { $0.last == ["0"] }
    }

    @Test("a refused like is taken back in the live timeline")
    func rollback() async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.quickMember("bob")
        try await bob.follows.followUser(ann.uid)
        let post = try await ann.post()
        try await bob.likes.create(for: post)
        let reported = Recorder<Int>()
        let observation = try bob.timeline.observe { listing in
            reported.record(listing.records.first?.post.likeCount ?? -1)
        }
        defer { observation.remove() }
        try await reported.wait { $0.last == 1 }
        await #expect(throws: DatabaseError.self) {
            try await bob.likes.step(true, post.key, ann.uid)
        }
        // The first one looks like the last one.
        #expect(try await reported.wait(count: 3) == [1, 2, 1])
    }

    @Test("another's timeline is refused, once, and nothing follows")
    func refused() async throws {
        let ann = try await server.quickMember("ann")
        let eve = try await server.guest()
        let reported = Recorder<String>()
        let observation = try TimelineService(database: eve.database, uid: ann.uid).observe {
            reported.record("\($0)")
        } withCancel: {
            reported.record("\($0)")
        }
        try await reported.wait(count: 1)
        _ = try await ann.post()
        observation.remove()
        #expect(reported.values == ["the rules do not allow to see the timeline"])
        let other = TimelineService(database: eve.database, uid: ann.uid)
        #expect(
            await refusal { _ = try await other.page() } == .refused("see the timeline")
        )
        for count in [0, 1001] {
            #expect(throws: ServiceError.self) { try eve.timeline.observe(newest: count) { _ in } }
        }
    }
}
