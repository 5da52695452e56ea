import Foundation
import HearthDatabase
import ServiceSupport
import Testing
import Timeline

@Suite("Posts")
struct PostTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.shared("social") }

    @Test("a post has the server's time, no likes, its poster's name, and a key of that time")
    func create() async throws {
        let ann = try await server.quickMember("ann")
        // The first thing that this client does with the database, before it knows the server's clock.
        let post = try await ann.post("one")
        let guest = try await server.guest()
        let shown = try await guest.posts.show(forKey: post.key)
        #expect(shown == ShownPost(post: post, isLiked: false))
        #expect(post.imageHeight == 300 && post.likeCount == 0)
        #expect(post.poster == Post.Poster(uid: ann.uid, username: ann.username))
        let time = try #require(PostKey.milliseconds(of: post.key))
        #expect(abs(Double(time) - post.createdAt.timeIntervalSince1970 * 1000) <= 60_000)
        #expect(try await ann.posts.owner(ofKey: post.key) == ann.uid)
    }

    @Test("a post that is made before there is a connection waits for the server's clock")
    func offline() async throws {
        let ann = try await server.member("ann")
        let device = try await ann.device(server.url)
        device.database.goOffline()
        let posts = device.posts
        async let made = posts.create(imageURL: "https://images.example.com/1", imageHeight: 1)
        #expect(try await ann.entryKeys().isEmpty)
        device.database.goOnline()
        let post = try await made
        #expect(!PostKey.isMisplaced(post))
        #expect(try await ann.entryKeys() == [post.key])
    }

    @Test(
        "what the rules would refuse is refused before it is sent",
        arguments: [
            ("", 1, "image"), (String(repeating: "a", count: 2001), 1, "image"),
            ("https://images.example.com/1", 0, "height"),
            ("https://images.example.com/1", -1, "height"),
            ("https://images.example.com/1", .nan, "height"),
            ("https://images.example.com/1", .infinity, "height"),
            ("https://images.example.com/1", 100_001, "height"),
        ] as [(String, Double, String)]
    )
    func limits(address: String, height: Double, field: String) async throws {
        // No such server: whatever was sent would never be answered.
        let posts = PostService(database: try Person("http://127.0.0.1:1").database, uid: "ann")
        let error = await refusal {
            _ = try await posts.create(imageURL: address, imageHeight: height)
        }
        guard case .invalid(field, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a deleted post is gone from everywhere, its likes too, also when a follower cleared it")
    func delete() async throws {
        let ann = try await server.quickMember("ann")
        let readers = [
            try await server.guest(), try await server.guest(), try await server.guest(),
        ]
        for reader in readers { try await reader.follows.followUser(ann.uid) }
        let post = try await ann.post()
        let kept = try await ann.post("kept")
        for reader in readers { try await reader.likes.create(for: post) }
        try await readers[2].place("timeline/\(readers[2].uid)/\(post.key)").removeValue()
        let stranger = readers[0].posts
        #expect(
            await refusal { try await stranger.delete(forKey: post.key) }
                == .refused("delete a post of another")
        )
        try await ann.posts.delete(forKey: post.key)
        for person in readers + [ann] {
            #expect(try await person.entryKeys() == [kept.key])
            #expect(try await !person.place("postLikes/\(post.key)").getData().exists())
        }
        #expect(try await ann.users.posts(for: ann.uid).records == [kept])
        #expect(try await ann.posts.owner(ofKey: post.key) == nil)
        let posts = ann.posts
        let again = await refusal { try await posts.delete(forKey: post.key) }
        #expect(again == .notFound("post \(post.key)"))
        let show = await refusal { _ = try await posts.show(forKey: post.key) }
        #expect(show == .notFound("post \(post.key)"))
    }

    @Test("a post to 1,000 followers reaches all of them or no one")
    func crowd() async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.quickMember("bob")
        // Connections are few, so most of the crowd follows and leaves.
        let uids = try await Array(0..<1000).mapInParallel(width: 40) { index in
            let reader = try await self.server.guest()
            try await reader.follows.followUser(ann.uid)
            return (reader.uid, index < 20 ? reader : nil)
        }
        let watchers = uids.compactMap(\.1)
        let recorders = watchers.map { _ in Recorder<[String]>() }
        let observations = try zip(watchers, recorders).map { watcher, reported in
            try watcher.timeline.observe { reported.record($0.records.map(\.post.key)) }
        }
        defer { for observation in observations { observation.remove() } }
        #expect(observations.count == 20)
        let post = try await ann.post()
        for reported in recorders { try await reported.wait { $0.last == [post.key] } }
        for watcher in watchers { #expect(try await watcher.entryKeys() == [post.key]) }
        var readers = try await ann.posts.readers()
        #expect(readers.followers == uids.map(\.0).sorted())

        // One among them that the rules refuse.
        readers = Readers(username: readers.username, followers: readers.followers + [bob.uid])
        let draft = try Draft(imageURL: "https://images.example.com/2", imageHeight: 1)
        let key = try await ann.posts.newKey()
        await #expect(throws: DatabaseError.self) {
            try await ann.posts.publish(draft, key, readers)
        }
        for watcher in watchers + [ann] {
            #expect(try await watcher.entryKeys() == [post.key])
        }
        #expect(try await ann.posts.owner(ofKey: key) == nil)

        try await ann.posts.delete(forKey: post.key)
        for watcher in watchers { #expect(try await watcher.entryKeys().isEmpty) }
        for reported in recorders { try await reported.wait { $0.last == [] } }
        // No one was shown the post that was refused.
        for reported in recorders { #expect(Set(reported.values).isSubset(of: [[], [post.key]])) }
    }

    @Test("a username that changes while a post is being written is the one that the post has")
    func rename() async throws {
        let ann = try await server.quickMember("ann")
        let stale = try await ann.posts.readers()
        let name = server.unique("anna")
        try await ann.users.changeUsername(to: name)
        let key = try await ann.posts.newKey()
        let draft = try Draft(imageURL: "https://images.example.com/1", imageHeight: 1)
        await #expect(throws: DatabaseError.self) {
            try await ann.posts.publish(draft, key, stale)
        }
        #expect(try await ann.post().poster.username == name)
    }

    @Test(
        "who has no profile cannot post and is notified; a post in another's name is refused once"
    )
    func refused() async throws {
        let guest = try await server.guest()
        let posts = guest.posts
        let stranger = await refusal {
            _ = try await posts.create(imageURL: "https://images.example.com/1", imageHeight: 1)
        }
        #expect(
            stranger == .notFound("profile of the user: sign up with a username first")
        )
        let ann = try await server.quickMember("ann")
        let forged = PostService(database: guest.database, uid: ann.uid, settling: .quick)
        let reported = Recorder<UInt>()
        let query = guest.place("posts/\(ann.uid)")
        let handle = query.observe(.value) { reported.record($0.childrenCount) }
        defer { query.removeObserver(withHandle: handle) }
        try await reported.wait(count: 1)
        let error = await refusal {
            _ = try await forged.create(imageURL: "https://images.example.com/1", imageHeight: 1)
        }
        #expect(error == .refused("post a picture"))
        // What it showed meanwhile is taken back.
        try await reported.wait { $0.last == 0 }
        #expect(try await ann.entryKeys().isEmpty)
        #expect(try await ann.users.posts(for: ann.uid).records.isEmpty)
    }
}
