import Foundation
import HearthDatabase
import ServiceSupport
import Synchronization
import Testing
import Timeline

/// Updates whose answer is lost: the server has them, the SDK sends them again, and the rules refuse what is there.
@Suite("Cuts between an update and its answer")
struct CutTests {
    private let server: ServiceServer
    private let draft: Draft

    init() throws {
        server = try ServiceServer.shared("social")
        draft = try Draft(imageURL: "https://images.example.com/cut", imageHeight: 1)
    }

    @Test(
        "a post that is sent again is done, whatever has become of its readers, and is there once"
    )
    func posting() async throws {
        let (ann, bob, cyd) = try await three()
        let key = try await ann.posts.newKey()
        let readers = try await ann.posts.readers()
        try await ann.posts.publish(draft, key, readers)
        try await ann.posts.publish(draft, key, readers)
        try await bob.follows.unfollowUser(ann.uid)
        try await ann.posts.publish(draft, key, readers)
        let latecomers = [cyd.uid]
        for _ in 1...2 { try await ann.posts.enter(key, latecomers) }
        #expect(try await ann.users.posts(for: ann.uid).records.map(\.key) == [key])
        for (person, keys) in [(ann, [key]), (bob, []), (cyd, [key])] {
            #expect(try await person.entryKeys() == keys)
        }
    }

    @Test("a post that is given another key, sent again, is there once")
    func moving() async throws {
        let (ann, bob, _) = try await three()
        let keys = [try await ann.posts.newKey(), try await ann.posts.newKey()]
        let readers = try await ann.posts.readers()
        try await ann.posts.publish(draft, keys[0], readers)
        for _ in 1...2 {
            try await ann.posts.publish(draft, keys[1], readers, replacing: keys[0])
        }
        for person in [ann, bob] { #expect(try await person.entryKeys() == [keys[1]]) }
        #expect(try await ann.posts.owner(ofKey: keys[0]) == nil)
    }

    @Test("the person who names the key of their post posts once with it, and finds the post by it")
    func named() async throws {
        let (ann, bob, _) = try await three()
        let key = try await ann.posts.newKey()
        let (posts, others) = (ann.posts, bob.posts)
        let address = "https://images.example.com/named"
        #expect(try await posts.owner(ofKey: key) == nil)
        let post = try await posts.create(imageURL: address, imageHeight: 1, key: key)
        #expect(post.key == key)
        #expect(try await posts.owner(ofKey: key) == ann.uid)
        #expect(try await posts.create(imageURL: address, imageHeight: 1, key: key) == post)
        let other = await refusal {
            _ = try await posts.create(imageURL: address + "2", imageHeight: 1, key: key)
        }
        #expect(other == .taken("key \(key)"))
        let stranger = await refusal {
            _ = try await others.create(imageURL: address, imageHeight: 1, key: key)
        }
        #expect(stranger == .refused("post a picture"))
        let path = await refusal {
            _ = try await posts.create(imageURL: address, imageHeight: 1, key: "a/b")
        }
        #expect(path == .invalid(field: "post", why: "it cannot be a key"))
        #expect(try await ann.users.posts(for: ann.uid).records == [post])
        #expect(try await bob.entryKeys() == [key])
    }

    @Test("edges and deletions that are sent again are done")
    func others() async throws {
        let (ann, bob, cyd) = try await three()
        let post = try await ann.post()
        let entered = try await bob.follows.enteredKeys(of: ann.uid)
        #expect(entered == [post.key])
        for _ in 1...2 { try await bob.follows.disconnect(ann.uid, entered) }
        #expect(try await bob.entryKeys().isEmpty)
        for _ in 1...2 { try await bob.follows.connect(ann.uid, Set(entered)) }
        #expect(try await bob.entryKeys() == entered)
        let readers = try await ann.posts.readers()
        for _ in 1...2 { try await ann.posts.withdraw(post.key, readers) }
        for person in [ann, bob, cyd] { #expect(try await person.entryKeys().isEmpty) }
    }

    @Test("posts whose connections end as they are on their way are there once each")
    func connections() async throws {
        let (ann, bob, _) = try await three()
        var keys: [String] = []
        for _ in 0..<20 {
            let key = try await ann.posts.newKey()
            let (place, handle) = cutAsItLeaves(ann, "posts/\(ann.uid)/\(key)")
            defer { place.removeObserver(withHandle: handle) }
            let post = try await ann.posts.create(
                imageURL: "https://images.example.com/\(key)",
                imageHeight: 1,
                key: key,
            )
            #expect(post.key == key)
            keys.append(key)
        }
        #expect(try await ann.entryKeys() == keys)
        #expect(try await bob.entryKeys() == keys)
    }

    @Test("likes whose connections end as they are on their way need no second try, and count once")
    func likes() async throws {
        let (ann, bob, _) = try await three()
        // The try that is sent again is the last one.
        let settling = Settling(tries: 1) { _ in }
        let likes = LikeService(database: bob.database, uid: bob.uid, settling: settling)
        for _ in 0..<20 {
            let post = try await ann.post()
            let (place, handle) = cutAsItLeaves(bob, "postLikes/\(post.key)/\(bob.uid)")
            defer { place.removeObserver(withHandle: handle) }
            try await likes.create(for: post)
            #expect(try await ann.posts.show(forKey: post.key).post.likeCount == 1)
        }
    }

    @Test("a refusal behind which no one may look is reported as not known")
    func unknown() async throws {
        let (ann, _, _) = try await three()
        let key = try await ann.posts.newKey()
        let readers = try await ann.posts.readers()
        let signedOut = try server.stranger()
        let posts = PostService(database: signedOut.database, uid: ann.uid, settling: .quick)
        let unknown = ServiceError.database(.permissionDenied(path: "/postOwners/\(key)"))
        await #expect(throws: unknown) { try await posts.publish(draft, key, readers) }
        await #expect(throws: unknown) { try await posts.withdraw(key, readers) }
    }

    /// Ends the connection, for another one, when an observer is notified of what is written at a place. The server cannot have
    /// answered by then, and may have it or not.
    private func cutAsItLeaves(
        _ person: Person,
        _ path: String,
    ) -> (place: DatabaseReference, handle: DatabaseHandle) {
        let place = person.place(path)
        let database = person.database
        let isCut = Mutex(false)
        let handle = place.observe(.value) { snapshot in
            guard snapshot.exists() else { return }
            let wasCut = isCut.withLock { isCut in
                defer { isCut = true }
                return isCut
            }
            if wasCut { return }
            database.goOffline()
            database.goOnline()
        }
        return (place, handle)
    }

    /// A poster and two followers.
    private func three() async throws -> (Person, Person, Person) {
        let people = try await ["ann", "bob", "cyd"].mapInParallel { name in
            try await self.server.quickMember(name)
        }
        for person in people[1...] { try await person.follows.followUser(people[0].uid) }
        return (people[0], people[1], people[2])
    }
}
