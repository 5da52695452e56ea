import Foundation
import HearthDatabase
import ServiceSupport
import Testing
import Timeline

/// What the rules of posts, likes and timelines say, by those who may and those who may not.
@Suite("Rules of posts and timelines")
struct RulesTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.shared("social") }

    /// What a post is written with; `forgery` changes it.
    private func update(
        _ key: String,
        by ann: Person,
        to readers: [Person] = [],
        forgery: [String: any Sendable] = [:],
    ) -> [String: any Sendable] {
        var update: [String: any Sendable] = [
            "postOwners/\(key)": ann.uid,
            "posts/\(ann.uid)/\(key)/image_url": "https://images.example.com/1",
            "posts/\(ann.uid)/\(key)/image_height": 1,
            "posts/\(ann.uid)/\(key)/created_at": [".sv": "timestamp"],
            "posts/\(ann.uid)/\(key)/like_count": 0,
            "posts/\(ann.uid)/\(key)/poster": ["uid": ann.uid, "username": ann.username],
        ]
        for reader in [ann] + readers {
            update["timeline/\(reader.uid)/\(key)"] = ["poster_uid": ann.uid]
        }
        return update.merging(forgery) { $1 }
    }

    @Test(
        "a post is its author's, with the server's time, no likes and a place in the own timeline"
    )
    func posts() async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.quickMember("bob")
        func key() -> String { ann.place("posts").childByAutoId().key ?? "" }
        let forgeries: [(String) -> [String: any Sendable]] = [
            { ["posts/\(ann.uid)/\($0)/like_count": 1] },
            { ["posts/\(ann.uid)/\($0)/created_at": 1_700_000_000_000] },
            { ["posts/\(ann.uid)/\($0)/image_url": ""] },
            { ["posts/\(ann.uid)/\($0)/image_height": 0] },
            { ["posts/\(ann.uid)/\($0)/other": 1] },
            { ["posts/\(ann.uid)/\($0)/poster": ["uid": ann.uid, "username": bob.username]] },
            { ["posts/\(ann.uid)/\($0)/poster": ["uid": bob.uid, "username": bob.username]] },
            { ["postOwners/\($0)": bob.uid] },
            { ["timeline/\(ann.uid)/\($0)": NSNull()] },
            { ["timeline/\(ann.uid)/\($0)": ["poster_uid": bob.uid]] },
            // Bob does not follow Ann.
            { ["timeline/\(bob.uid)/\($0)": ["poster_uid": ann.uid]] },
        ]
        for (index, forgery) in forgeries.enumerated() {
            let key = key()
            let isAllowed = try await ann.isAllowed(update(key, by: ann, forgery: forgery(key)))
            #expect(!isAllowed, "forgery \(index)")
        }
        #expect(try await !bob.isAllowed(update(key(), by: ann)))
        let stranger = try server.stranger()
        stranger.app.tokenSource = nil
        #expect(try await !stranger.isAllowed(update(key(), by: ann)))

        let own = key()
        #expect(try await ann.isAllowed(update(own, by: ann)))
        // Once: not again, not by another under the same key, and not changed.
        #expect(try await !ann.isAllowed(update(own, by: ann)))
        #expect(try await !bob.isAllowed(update(own, by: bob)))
        #expect(try await !ann.isAllowed(["posts/\(ann.uid)/\(own)/image_url": "https://x"]))
        try await bob.follows.followUser(ann.uid)
        #expect(try await ann.isAllowed(update(key(), by: ann, to: [bob])))
    }

    @Test("a like is one's own, once, and one step of the count")
    func likes() async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.guest()
        let eve = try await server.guest()
        let key = try await ann.post().key
        let count = "posts/\(ann.uid)/\(key)/like_count"
        let edge = "postLikes/\(key)/\(bob.uid)"
        let more: [String: any Sendable] = [".sv": ["increment": 1]]
        let less: [String: any Sendable] = [".sv": ["increment": -1]]
        func refused(_ person: Person, _ update: [String: any Sendable]) async throws {
            #expect(try await !person.isAllowed(update), "\(update)")
        }
        try await refused(bob, [edge: true])
        try await refused(bob, [count: more])
        try await refused(bob, [edge: true, count: [".sv": ["increment": 2]]])
        try await refused(bob, [edge: true, count: less])
        try await refused(eve, [edge: true, count: more])
        try await refused(ann, [count: 1000])
        try await refused(bob, [edge: NSNull(), count: less])
        #expect(try await bob.isAllowed([edge: true, count: more]))
        try await refused(bob, [edge: true, count: more])
        try await refused(bob, [edge: NSNull()])
        try await refused(eve, [edge: NSNull(), count: less])
        try await refused(ann, ["postLikes/\(key)": NSNull()])
        #expect(try await bob.isAllowed([edge: NSNull(), count: less]))
    }

    @Test("a timeline is read by its owner alone; others put in it what they posted, for followers")
    func timelines() async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.quickMember("bob")
        let eve = try await server.quickMember("eve")
        let key = try await ann.post().key
        let entry: [String: any Sendable] = ["poster_uid": ann.uid]
        #expect(try await bob.mayRead("timeline/\(bob.uid)"))
        #expect(try await !eve.mayRead("timeline/\(bob.uid)"))
        #expect(try await !eve.mayRead("timeline"))
        #expect(try await !ann.isAllowed(["timeline/\(bob.uid)/\(key)": entry]))
        #expect(try await !bob.isAllowed(["timeline/\(bob.uid)/\(key)": entry]))
        try await bob.follows.followUser(ann.uid)
        let place = "timeline/\(bob.uid)/\(key)"
        #expect(try await bob.isAllowed([place: NSNull()]))
        #expect(try await !eve.isAllowed([place: entry]))
        #expect(try await !eve.isAllowed([place: NSNull()]))
        #expect(try await !ann.isAllowed([place: ["poster_uid": ann.uid, "pinned": "yes"]]))
        #expect(try await bob.isAllowed([place: entry]))
        #expect(try await bob.isAllowed([place: entry]))
        #expect(try await ann.isAllowed([place: NSNull()]))
        #expect(try await ann.isAllowed([place: entry]))
        #expect(try await !ann.isAllowed(["timeline/\(bob.uid)": NSNull()]))
        #expect(try await !ann.isAllowed(["timeline/\(ann.uid)/\(key)": NSNull()]))
    }

    @Test("a post goes with its owner, its likes and the own entry, by its author")
    func deletion() async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.quickMember("bob")
        let post = try await ann.post()
        try await bob.likes.create(for: post)
        let whole: [String: any Sendable] = [
            "postOwners/\(post.key)": NSNull(),
            "posts/\(ann.uid)/\(post.key)": NSNull(),
            "postLikes/\(post.key)": NSNull(),
            "timeline/\(ann.uid)/\(post.key)": NSNull(),
        ]
        for path in whole.keys.sorted() {
            #expect(try await !ann.isAllowed(whole.filter { $0.key != path }), "without \(path)")
        }
        #expect(try await !bob.isAllowed(whole))
        #expect(try await ann.isAllowed(whole))
        #expect(try await ann.posts.owner(ofKey: post.key) == nil)
    }
}
