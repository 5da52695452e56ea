import HearthDatabase
import ServiceSupport
import TestSupport
import Testing
import Timeline

@Suite("Likes")
struct LikeTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.shared("social") }

    @Test(
        "64 clients that like and unlike at random end at the exact count",
        arguments: TestSeed.seeds(1)
    )
    func crowd(seed: UInt64) async throws {
        let ann = try await server.quickMember("ann")
        let post = try await ann.post()
        let crowd = try await Array(0..<64).mapInParallel(width: 16) { _ in
            try await self.server.guest()
        }
        let wanted = try await Array(crowd.enumerated()).mapInParallel { index, person in
            var generator = SeededGenerator(seed: seed &* 1000 &+ UInt64(index))
            var isLiked = false
            for _ in 0..<(2 + generator.index(6)) {
                isLiked = Bool.random(using: &generator)
                try await isLiked
                    ? person.likes.create(for: post) : person.likes.delete(for: post)
            }
            return isLiked
        }
        let fans = zip(crowd, wanted).filter(\.1).map(\.0.uid)
        let edges = try await ann.place("postLikes/\(post.key)").getData()
        let uids = edges.children.compactMap { ($0 as? DataSnapshot)?.key }
        #expect(uids == fans.sorted(), "seed \(seed)")
        let shown = try await ann.posts.show(forKey: post.key, posterUID: ann.uid)
        #expect(shown.post.likeCount == fans.count, "seed \(seed)")
    }

    @Test("liking twice and ending twice are harmless")
    func twice() async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.guest()
        let post = try await ann.post()
        for _ in 1...2 {
            try await bob.likes.create(for: post)
            let shown = try await bob.posts.show(forKey: post.key)
            #expect(shown.isLiked && shown.post.likeCount == 1)
            #expect(try await bob.likes.isPostLiked(post))
        }
        for _ in 1...2 {
            try await bob.likes.delete(for: post)
            let shown = try await bob.posts.show(forKey: post.key)
            #expect(!shown.isLiked && shown.post.likeCount == 0)
        }
    }

    @Test("one person's two devices that like and unlike against each other count once at the most")
    func devices() async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.member("bob")
        let other = try await bob.device(server.url)
        let post = try await ann.post()
        _ = try await [bob, other].mapInParallel { device in
            for round in 0..<20 {
                try await round.isMultiple(of: 2)
                    ? device.likes.create(for: post) : device.likes.delete(for: post)
            }
        }
        let shown = try await bob.posts.show(forKey: post.key)
        #expect(shown.post.likeCount == (shown.isLiked ? 1 : 0))
    }

    @Test("a like of a post that is gone is reported as that")
    func gone() async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.guest()
        let post = try await ann.post()
        try await ann.posts.delete(forKey: post.key)
        let likes = bob.likes
        #expect(
            await refusal { try await likes.create(for: post) } == .notFound("post \(post.key)")
        )
        #expect(
            await refusal { try await likes.delete(for: post) } == .notFound("post \(post.key)")
        )
    }
}
