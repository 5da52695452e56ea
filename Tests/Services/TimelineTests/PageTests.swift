import Foundation
import HearthDatabase
import ServiceSupport
import Synchronization
import TestSupport
import Testing
import Timeline

@Suite("Pages of a timeline")
struct PageTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.shared("social") }

    private func pages(_ person: Person, count: Int) async throws -> [TimelinePage] {
        var pages = [try await person.timeline.page(count: count)]
        while let next = pages.last?.next {
            pages.append(try await person.users.timeline(before: next, count: count))
        }
        return pages
    }

    @Test("pages have each post once, newest first, whatever their size", arguments: [1, 3, 7, 20])
    func sizes(count: Int) async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.quickMember("bob")
        try await bob.follows.followUser(ann.uid)
        var posts: [Post] = []
        for index in 0..<14 {
            posts.append(try await (index.isMultiple(of: 3) ? bob : ann).post("\(index)"))
        }
        // Pages follow one another by keys, for which each client guesses the server's time, and slow ones guess apart.
        // The posts of a page stand by the server's time.
        let keys = posts.map(\.key).sorted(by: >)
        let expected = stride(from: 0, to: 14, by: count).map { first in
            Set(keys[first..<min(first + count, 14)])
        }
        let pages = try await pages(bob, count: count)
        #expect(pages.map { Set($0.posts.map(\.post.key)) }.filter { !$0.isEmpty } == expected)
        for page in pages {
            let order = page.posts.map { ($0.post.createdAt, $0.post.key) }
            #expect(zip(order, order.dropFirst()).allSatisfy { $0 > $1 })
        }
        #expect(pages.dropLast().allSatisfy { $0.posts.count == count })
        #expect(pages.flatMap(\.faults) == [])
        let own = try await ann.users.posts(for: bob.uid).records
        #expect(own.map(\.name) == ["12", "9", "6", "3", "0"])
        let older = try await ann.users.posts(for: bob.uid, before: own[1], count: 2).records
        #expect(older.map(\.name) == ["6", "3"])
    }

    @Test("a page tells which posts its reader likes")
    func likes() async throws {
        let ann = try await server.quickMember("ann")
        let posts = [try await ann.post("0"), try await ann.post("1")]
        try await ann.likes.create(for: posts[0])
        let page = try await ann.timeline.page()
        #expect(page.posts.map(\.isLiked) == [false, true])
        #expect(page.posts.map(\.post.likeCount) == [0, 1])
    }

    @Test(
        "entries of posts that are gone are skipped, reported and cleared, and pages are full all the same"
    )
    func dangling() async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.quickMember("bob")
        try await bob.follows.followUser(ann.uid)
        var kept: [String] = []
        var gone: [String] = []
        for index in 0..<12 {
            let key = try await ann.post("\(index)").key
            if index % 4 == 0 { kept.insert(key, at: 0) } else { gone.append(key) }
        }
        // A deletion that knew of no follower.
        let readers = Readers(username: "", followers: [])
        for key in gone { try await ann.posts.withdraw(key, readers) }
        let page = try await bob.timeline.page(count: 2)
        #expect(page.posts.map(\.post.key) == Array(kept.prefix(2)))
        #expect(Set(page.faults.map(\.reason)) == ["its post is gone"])
        let rest = try await bob.timeline.page(before: page.next, count: 5)
        #expect(rest.posts.map(\.post.key) == [kept[2]] && rest.next == nil)
        let reported = Recorder<UInt>()
        let query = bob.place("timeline/\(bob.uid)")
        let handle = query.observe(.value) { reported.record($0.childrenCount) }
        defer { query.removeObserver(withHandle: handle) }
        try await reported.wait { $0.last == 3 }
    }

    @Test("records that make no sense are skipped and reported")
    func halfValid() async throws {
        // Rules that let everything in: with the real ones there are no such records.
        let folder = try TemporaryFolder()
        let rules = try folder.file(
            "rules.json",
            #"""
            {"rules": {".read": true, ".write": true,
                "posts": {"$uid": {".indexOn": "created_at"}}}}
            """#
        )
        let open = try RunningServer(arguments: ["--dev", "--memory", "--rules", rules])
        let ann = try Person(open.url)
        ann.app.tokenSource = nil
        let timeline = TimelineService(database: ann.database, uid: "ann")
        let whole: [String: Any] = [
            "image_url": "https://images.example.com/whole", "image_height": 1,
            "created_at": 1_700_000_000_000, "like_count": 0,
            "poster": ["uid": "bob", "username": "Bob"],
        ]
        let changes: [(field: String, value: Any)] = [
            ("image_url", ""), ("image_url", 1), ("image_height", 0), ("image_height", "high"),
            ("created_at", -1), ("created_at", "now"), ("created_at", 1e300),
            ("like_count", -1), ("like_count", 0.5),
            ("poster", ["uid": "eve", "username": "Eve"]), ("poster", ["username": "Bob"]),
            ("poster", "Bob"), ("poster", NSNull()), ("image_url", NSNull()),
        ]
        var update: [String: Any] = [
            "posts/bob/-whole": whole,
            "timeline/ann/-whole/poster_uid": "bob",
            "timeline/ann/-text": "bob",
            "timeline/ann/-number/poster_uid": 7,
            "timeline/ann/-path/poster_uid": "bob/-whole",
            "timeline/ann/-other/poster": "bob",
        ]
        for (index, change) in changes.enumerated() {
            let key = "-half\(index + 10)"
            update["posts/bob/\(key)"] = whole.merging([change.field: change.value]) { $1 }
            update["timeline/ann/\(key)/poster_uid"] = "bob"
        }
        try await ann.database.reference().updateChildValues(update)
        let page = try await timeline.page(count: 5)
        #expect(page.posts.map(\.post.name) == ["whole"])
        #expect(page.faults.count == changes.count + 4)
        let listing = try await timeline.posts(of: "bob")
        #expect(listing.records.map(\.name) == ["whole"])
        #expect(listing.faults.count == changes.count)
        #expect(listing.faults.allSatisfy { $0.path.hasPrefix("posts/bob/-half") })
        let reported = Recorder<Listing<ShownPost>>()
        let observation = try timeline.observe { reported.record($0) }
        defer { observation.remove() }
        let live = try await reported.wait(count: 1)[0]
        #expect(live.records == page.posts)
        #expect(live.faults.count == changes.count + 4)
        let posts = PostService(database: ann.database, uid: "ann")
        let error = await refusal { _ = try await posts.show(forKey: "-half10", posterUID: "bob") }
        #expect(
            error
                == .faulty(RecordFault(path: "posts/bob/-half10", reason: "image_url: it is empty"))
        )
    }

    @Test(
        "a clock that is wrong by a day puts no post in a wrong place",
        arguments: [86_400_000, -86_400_000] as [Int64]
    )
    func wrongClock(offset: Int64) async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.quickMember("bob")
        let eve = try await server.quickMember("eve")
        for person in [ann, eve] { try await bob.follows.followUser(person.uid) }
        let generator = Mutex(TestSeed.generator(5))
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        let wrong = PostService(database: ann.database, uid: ann.uid, settling: .quick) {
            generator.withLock { PostKey.make(milliseconds: now + offset, using: &$0) }
        }
        var posts: [Post] = []
        for index in 0..<6 {
            let name = "\(index)"
            let post =
                index.isMultiple(of: 2)
                ? try await wrong.create(
                    imageURL: "https://images.example.com/\(name)",
                    imageHeight: 1,
                ) : try await eve.post(name)
            #expect(!PostKey.isMisplaced(post))
            posts.append(post)
        }
        posts.sort { $0.key > $1.key }
        let shown = try await pages(bob, count: 2).flatMap { $0.posts.map(\.post.name) }
        #expect(shown == posts.map(\.name))
        #expect(try await ann.users.posts(for: ann.uid).records.map(\.name) == ["4", "2", "0"])
        #expect(try await ann.entryKeys().count == 3)
    }

    @Test("a page that makes no sense is refused before it is asked for", arguments: [0, -1, 1001])
    func counts(count: Int) async throws {
        let guest = try await server.guest()
        let timeline = guest.timeline
        let error = await refusal { _ = try await timeline.page(count: count) }
        #expect(error == .invalid(field: "count", why: "a page has 1 to 1,000 posts"))
        let path = await refusal { _ = try await timeline.page(before: "a/b") }
        #expect(path == .invalid(field: "page", why: "it cannot be a key"))
    }
}
