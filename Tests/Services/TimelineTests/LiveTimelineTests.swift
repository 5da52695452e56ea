import Foundation
import Social
import TestSupport
import Testing
import Timeline

/// Answers to an observer of a timeline, in every order.
@Suite("A live timeline's list")
struct LiveTimelineTests {
    private enum Answer {
        case post(String, Result<Post?, RecordFault>)
        case liked(String, Bool)
    }

    private static func post(_ key: String, at second: Int, likes: Int = 0) -> Post {
        Post(
            key: key,
            imageURL: "https://images.example.com/\(key)",
            imageHeight: 1,
            createdAt: Date(timeIntervalSince1970: Double(second)),
            likeCount: likes,
            poster: Post.Poster(uid: "ann", username: "Ann"),
        )
    }

    private static func entries(_ keys: String...) -> Listing<TimelineEntry> {
        Listing(records: keys.map { TimelineEntry(key: $0, posterUID: "ann") })
    }

    private func keys(_ live: LiveTimeline) -> [String]? {
        live.listing?.records.map(\.post.key)
    }

    @Test(
        "the order is that of the server's times, whichever answer comes first",
        arguments: TestSeed.seeds(50)
    )
    func anyOrder(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let fault = RecordFault(path: "posts/ann/d", reason: "nothing")
        var answers: [Answer] = [
            .post("a", .success(Self.post("a", at: 30))),
            .post("b", .success(Self.post("b", at: 20))),
            .post("c", .success(nil)),
            .post("d", .failure(fault)),
            .post("e", .success(Self.post("e", at: 20))),
            .liked("b", true), .liked("a", false),
        ]
        answers.shuffle(using: &generator)
        var live = LiveTimeline()
        #expect(live.listing == nil)
        _ = live.setEntries(Self.entries("a", "b", "c", "d", "e"))
        for answer in answers {
            #expect(live.listing == nil || !posts(answer), "seed \(seed)")
            switch answer {
            case .post(let key, let post): live.setPost(key, post)
            case .liked(let key, let isLiked): live.setLiked(key, isLiked)
            }
        }
        #expect(keys(live) == ["a", "e", "b"], "seed \(seed)")
        #expect(live.listing?.records.map(\.isLiked) == [false, false, true], "seed \(seed)")
        #expect(live.listing?.faults == [fault], "seed \(seed)")
    }

    private func posts(_ answer: Answer) -> Bool {
        switch answer {
        case .post: true
        case .liked: false
        }
    }

    @Test("a timeline of nothing is known at once")
    func empty() {
        var live = LiveTimeline()
        _ = live.setEntries(Listing())
        #expect(live.listing == Listing())
    }

    @Test(
        "an entry that is reported again is no second post, and one that goes takes its post along"
    )
    func sameEntries() {
        var live = LiveTimeline()
        #expect(live.setEntries(Self.entries("a", "b")).added.map(\.key) == ["a", "b"])
        live.setPost("a", .success(Self.post("a", at: 1)))
        live.setPost("b", .success(Self.post("b", at: 2)))
        let again = live.setEntries(Self.entries("b", "c"))
        #expect(again.added.map(\.key) == ["c"] && again.removed == ["a"])
        #expect(keys(live) == nil)
        live.setPost("c", .success(Self.post("c", at: 0)))
        #expect(keys(live) == ["b", "c"])
        // What an observer still tells of a post that has left.
        live.setPost("a", .success(Self.post("a", at: 1)))
        #expect(keys(live) == ["b", "c"])
    }

    @Test("a post changes in place")
    func inPlace() {
        var live = LiveTimeline()
        _ = live.setEntries(Self.entries("a", "b"))
        live.setPost("a", .success(Self.post("a", at: 1)))
        live.setPost("b", .success(Self.post("b", at: 2)))
        live.setPost("a", .success(Self.post("a", at: 1, likes: 7)))
        #expect(keys(live) == ["b", "a"])
        #expect(live.listing?.records.last?.post.likeCount == 7)
    }

    @Test("pages and live posts that overlap show each post once, in its newer state")
    func merged() {
        func shown(_ key: String, _ second: Int, _ isLiked: Bool) -> ShownPost {
            ShownPost(post: Self.post(key, at: second), isLiked: isLiked)
        }
        let merged = TimelineOrder.merged(
            [shown("c", 3, false), shown("b", 2, false)],
            with: [shown("a", 1, false), shown("b", 2, true), shown("d", 9, false)],
        )
        #expect(merged.map(\.post.key) == ["d", "c", "b", "a"])
        #expect(merged.map(\.isLiked) == [false, false, true, false])
    }

    @Test(
        "what came, went and changed is distinguished from what slides in and out of the window",
        arguments: [
            ([3, 2, 1], [3, 2, 1], []),
            ([], [2, 1], ["came 1", "came 2"]),
            ([3, 2, 1], [4, 3, 2], ["came 4"]),
            ([3, 2, 1], [3, 1, 0], ["went 2"]),
            ([3, 2, 1], [3, 2], ["went 1"]),
            ([2, 1], [3, 2, 1], ["came 3"]),
            ([5, 3, 1], [5, 4, 3], ["came 4"]),
            ([3, 2, 1], [13, 2, 1], ["changed 3"]),
            ([3, 2, 1], [], ["went 1", "went 2", "went 3"]),
        ] as [([Int], [Int], [String])]
    )
    func changes(old: [Int], new: [Int], expected: [String]) {
        // From 10 on: the post of that number less 10, liked.
        func shown(_ numbers: [Int]) -> [ShownPost] {
            numbers.map { number in
                ShownPost(post: Self.post("\(number % 10)", at: number % 10), isLiked: number >= 10)
            }
        }
        let changes = TimelineOrder.changes(from: shown(old), to: shown(new), window: 3)
        let words = changes.map { change in
            switch change {
            case .came(let shown): "came \(shown.post.key)"
            case .changed(let shown): "changed \(shown.post.key)"
            case .went(let shown): "went \(shown.post.key)"
            }
        }
        #expect(words == expected)
    }
}
