import HearthDatabase
import ServiceSupport
import Testing
import Timeline

@Suite("Following and posting at once")
struct FollowTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.shared("social") }

    @Test(
        "the person who follows gets what was posted before and after, and the person who no longer does gets nothing"
    )
    func follow() async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.quickMember("bob")
        let first = try await ann.post("first")
        try await bob.follows.followUser(ann.uid)
        let isFollowed = try await bob.follows.isUserFollowed(ann.uid)
        #expect(isFollowed)
        let second = try await ann.post("second")
        #expect(try await bob.entryKeys() == [first.key, second.key])
        // Twice is harmless.
        try await bob.follows.followUser(ann.uid)
        #expect(try await bob.shownNames() == ["second", "first"])

        let own = try await bob.post("own")
        try await bob.follows.unfollowUser(ann.uid)
        try await bob.follows.unfollowUser(ann.uid)
        #expect(try await bob.entryKeys() == [own.key])
        #expect(try await !bob.follows.isUserFollowed(ann.uid))
        #expect(try await !ann.place("followers/\(ann.uid)/\(bob.uid)").getData().exists())
        _ = try await ann.post("third")
        #expect(try await bob.entryKeys() == [own.key])
    }

    @Test("no one follows themselves, no one, what is no account, or who has blocked them")
    func refused() async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.quickMember("bob")
        let follows = bob.follows
        #expect(
            await refusal { try await follows.followUser(bob.uid) }
                == .invalid(field: "uid", why: "you cannot follow yourself")
        )
        #expect(
            await refusal { try await follows.followUser("stranger") }
                == .notFound("person stranger")
        )
        let path = await refusal { try await follows.followUser("\(ann.uid)/x") }
        #expect(path == .invalid(field: "uid", why: "it cannot be a key"))
        let seen = Recorder<UInt>()
        let edges = bob.place("following/\(bob.uid)")
        let handle = edges.observe(.value) { seen.record($0.childrenCount) }
        defer { edges.removeObserver(withHandle: handle) }
        try await seen.wait(count: 1)
        try await ann.place("blocks/\(ann.uid)/\(bob.uid)").setValue(true)
        let blocked = await refusal { try await follows.followUser(ann.uid) }
        #expect(blocked == .refused("follow \(ann.uid)"))
        // Shown at once, if at all, and taken back.
        try await seen.wait { $0.first == 0 && $0.last == 0 }
        #expect(try await !bob.follows.isUserFollowed(ann.uid))
    }

    @Test(
        "the person who follows while a post is being written gets it, in every order of the steps"
    )
    func followWhilePosting() async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.quickMember("bob")
        let draft = try Draft(imageURL: "https://images.example.com/1", imageHeight: 1)
        for order in interleavings(4, 4) {
            let key = try await ann.posts.newKey()
            var readers = Readers(username: "", followers: [])
            var latecomers: [String] = []
            var posting: [() async throws -> Void] = [
                { readers = try await ann.posts.readers() },
                { try await ann.posts.publish(draft, key, readers) },
                { latecomers = try await ann.posts.latecomers(besides: readers) },
                { try await ann.posts.enter(key, latecomers) },
            ]
            var entered: Set<String> = []
            var found: Set<String> = []
            var following: [() async throws -> Void] = [
                { entered = try await bob.follows.postKeys(of: ann.uid) },
                { try await bob.follows.connect(ann.uid, entered) },
                { found = try await bob.follows.postKeys(of: ann.uid) },
                { try await bob.follows.correct(ann.uid, from: entered, to: found) },
            ]
            for isPoster in order {
                try await isPoster ? posting.removeFirst()() : following.removeFirst()()
            }
            let keys = try await bob.entryKeys()
            #expect(keys.contains(key), "\(order)")
            try await bob.follows.unfollowUser(ann.uid)
            #expect(try await bob.entryKeys().isEmpty, "\(order)")
            try await ann.posts.delete(forKey: key)
        }
    }

    @Test(
        "the person who unfollows while a post is being written keeps nothing of it, in every order"
    )
    func unfollowWhilePosting() async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.quickMember("bob")
        let draft = try Draft(imageURL: "https://images.example.com/1", imageHeight: 1)
        for order in interleavings(2, 3) {
            try await bob.follows.followUser(ann.uid)
            let key = try await ann.posts.newKey()
            var readers = Readers(username: "", followers: [])
            var posting: [() async throws -> Void] = [
                { readers = try await ann.posts.readers() },
                {
                    do {
                        try await ann.posts.publish(draft, key, readers)
                    } catch DatabaseError.permissionDenied {
                        // A reader has left, so the readers are read again.
                        readers = try await ann.posts.readers()
                        try await ann.posts.publish(draft, key, readers)
                    }
                },
            ]
            var entered: [String] = []
            var unfollowing: [() async throws -> Void] = [
                { entered = try await bob.follows.enteredKeys(of: ann.uid) },
                { try await bob.follows.disconnect(ann.uid, entered) },
                { _ = await bob.follows.clearAgain(ann.uid) },
            ]
            for isPoster in order {
                try await isPoster ? posting.removeFirst()() : unfollowing.removeFirst()()
            }
            #expect(try await bob.entryKeys().isEmpty, "\(order)")
            #expect(try await ann.entryKeys() == [key], "\(order)")
            try await ann.posts.delete(forKey: key)
        }
    }

    @Test(
        "the person who follows while a post is being deleted keeps nothing of it, in every order"
    )
    func followWhileDeleting() async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.quickMember("bob")
        for order in interleavings(3, 4) {
            let key = try await ann.post().key
            var readers = Readers(username: "", followers: [])
            var deleting: [() async throws -> Void] = [
                { readers = try await ann.posts.readers() },
                { try await ann.posts.withdraw(key, readers) },
                { await ann.posts.clearLatecomers(key, besides: readers) },
            ]
            var entered: Set<String> = []
            var found: Set<String> = []
            var following: [() async throws -> Void] = [
                { entered = try await bob.follows.postKeys(of: ann.uid) },
                {
                    do {
                        try await bob.follows.connect(ann.uid, entered)
                    } catch DatabaseError.permissionDenied {
                        entered = try await bob.follows.postKeys(of: ann.uid)
                        try await bob.follows.connect(ann.uid, entered)
                    }
                },
                { found = try await bob.follows.postKeys(of: ann.uid) },
                {
                    do {
                        try await bob.follows.correct(ann.uid, from: entered, to: found)
                    } catch DatabaseError.permissionDenied {
                        found = try await bob.follows.postKeys(of: ann.uid)
                        try await bob.follows.correct(ann.uid, from: entered, to: found)
                    }
                },
            ]
            for isPoster in order {
                try await isPoster ? deleting.removeFirst()() : following.removeFirst()()
            }
            #expect(try await bob.entryKeys().isEmpty, "\(order)")
            try await bob.follows.unfollowUser(ann.uid)
        }
    }
}
