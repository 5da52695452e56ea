import HearthDatabase
import ServiceSupport
import TestSupport
import Testing
import Timeline

/// Clients that do whatever they like at once.
@Suite("Races of real clients")
struct RaceTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.shared("social") }

    /// A person, and what they have posted.
    private struct Actor {
        let person: Person
        var generator: SeededGenerator
        var posts: [Post] = []

        mutating func act(among people: [Person]) async throws {
            let other = people[generator.index(people.count)]
            switch generator.index(10) {
            case 0...2: posts.append(try await person.post())
            case 3:
                guard !posts.isEmpty else { return }
                let post = posts.remove(at: generator.index(posts.count))
                try await person.posts.delete(forKey: post.key)
            case 4...5:
                if other.uid != person.uid { try await person.follows.followUser(other.uid) }
            case 6:
                if other.uid != person.uid { try await person.follows.unfollowUser(other.uid) }
            default: try await like()
            }
        }

        private mutating func like() async throws {
            let shown = try await person.timeline.page(count: 5).posts
            guard !shown.isEmpty else { return }
            let post = shown[generator.index(shown.count)].post
            do {
                try await Bool.random(using: &generator)
                    ? person.likes.create(for: post) : person.likes.delete(for: post)
            } catch ServiceError.notFound {
                // Its author was quicker.
            }
        }
    }

    @Test(
        "whatever four do at once, each timeline ends whole and each count exact",
        arguments: TestSeed.seeds(3)
    )
    func crowd(seed: UInt64) async throws {
        var people: [Person] = []
        for name in ["ann", "bea", "cyd", "dan"] {
            people.append(try await server.quickMember(name))
        }
        let crowd = people
        let posts = try await Array(0..<crowd.count).mapInParallel { index in
            let generator = SeededGenerator(seed: seed &* 100 &+ UInt64(index))
            var actor = Actor(person: crowd[index], generator: generator)
            for _ in 0..<40 { try await actor.act(among: crowd) }
            return actor.posts
        }
        for (person, own) in zip(crowd, posts) {
            let isWhole = try await person.hasWholeTimeline()
            #expect(isWhole, "seed \(seed)")
            let listing = try await person.users.posts(for: person.uid)
            #expect(Set(listing.records.map(\.key)) == Set(own.map(\.key)), "seed \(seed)")
            for post in listing.records {
                let edges = try await person.place("postLikes/\(post.key)").getData()
                #expect(Int(edges.childrenCount) == post.likeCount, "seed \(seed)")
            }
            let shown = try await person.timeline.page(count: 1000)
            #expect(shown.faults.isEmpty, "seed \(seed)")
            #expect(try await person.timeline.mend() == TimelineMending(), "seed \(seed)")
        }
    }

    @Test("a follower who joins as a post is written gets it, and one who leaves keeps nothing")
    func joining() async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.quickMember("bob")
        for round in 0..<30 {
            async let made = ann.post("\(round)")
            try await bob.follows.followUser(ann.uid)
            let first = try await made
            #expect(try await bob.entryKeys().contains(first.key), "round \(round)")
            async let more = ann.post("\(round) again")
            try await bob.follows.unfollowUser(ann.uid)
            _ = try await more
            #expect(try await bob.entryKeys().isEmpty, "round \(round)")
        }
    }

    @Test(
        "the person who posts, follows and deletes as seven come and go is done in the tries that there are"
    )
    func standard() async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.quickMember("bob")
        // Each refuses one update of another at the most, and there is one try more than that.
        let count = TimelineLimits.tries - 1
        let leavers = try await Array(0..<count).mapInParallel { _ in
            let leaver = try await self.server.guest()
            try await leaver.follows.followUser(ann.uid)
            return leaver
        }
        var old: [Post] = []
        for index in 0..<count { old.append(try await ann.post("\(index)")) }

        let posts = PostService(database: ann.database, uid: ann.uid, settling: .standard)
        let follows = FollowService(database: bob.database, uid: bob.uid, settling: .standard)
        async let made = posts.create(imageURL: "https://images.example.com/1", imageHeight: 1)
        async let left: [Void] = leavers.mapInParallel { leaver in
            let follows = FollowService(
                database: leaver.database,
                uid: leaver.uid,
                settling: .standard,
            )
            try await follows.unfollowUser(ann.uid)
        }
        async let deleted: [Void] = old.mapInParallel { try await posts.delete(forKey: $0.key) }
        try await follows.followUser(ann.uid)
        let post = try await made
        _ = try await (left, deleted)
        for person in [ann, bob] { #expect(try await person.entryKeys() == [post.key]) }
        for leaver in leavers { #expect(try await leaver.entryKeys().isEmpty) }
    }

    @Test("readers of whom one leaves before each try are given up after as many as there are")
    func tries() async throws {
        let ann = try await server.quickMember("ann")
        let draft = try Draft(imageURL: "https://images.example.com/1", imageHeight: 1)
        for count in [TimelineLimits.tries - 1, TimelineLimits.tries] {
            var leavers = try await Array(0..<count).mapInParallel { _ in
                let leaver = try await self.server.guest()
                try await leaver.follows.followUser(ann.uid)
                return leaver
            }
            let key = try await ann.posts.newKey()
            let error = await refusal {
                _ = try await Settling.standard.settle("post a picture") {
                    let readers = try await ann.posts.readers()
                    if let leaver = leavers.popLast() {
                        try await leaver.follows.unfollowUser(ann.uid)
                    }
                    return readers
                } write: { readers in
                    try await ann.posts.publish(draft, key, readers)
                }
            }
            let isPosted = count < TimelineLimits.tries
            #expect(error == (isPosted ? nil : .refused("post a picture")))
            #expect(try await ann.posts.owner(ofKey: key) == (isPosted ? ann.uid : nil))
        }
    }
}
