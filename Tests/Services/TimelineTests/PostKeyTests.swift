import Foundation
import TestSupport
import Testing
import Timeline

@Suite("Keys of posts")
struct PostKeyTests {
    private func post(_ key: String, _ milliseconds: Int64) -> Post {
        Post(
            key: key,
            imageURL: "https://images.example.com/1",
            imageHeight: 1,
            createdAt: Date(timeIntervalSince1970: Double(milliseconds) / 1000),
            likeCount: 0,
            poster: Post.Poster(uid: "ann", username: "Ann"),
        )
    }

    @Test("a key tells the millisecond that it was made for, and sorts by it")
    func times() {
        var generator = TestSeed.generator(1)
        let times: [Int64] = [0, 1, 63, 64, 1_700_000_000_000, 1_700_000_000_001, 1 << 47]
        let keys = times.map { PostKey.make(milliseconds: $0, using: &generator) }
        #expect(keys.map(PostKey.milliseconds) == times)
        #expect(keys.sorted() == keys)
        #expect(Set(keys.map(\.utf8.count)) == [20])
    }

    @Test("two keys of one millisecond differ")
    func differ() {
        var generator = TestSeed.generator(2)
        let keys = (0..<1000).map { _ in PostKey.make(milliseconds: 5, using: &generator) }
        #expect(Set(keys).count == 1000)
    }

    @Test("what is no push id tells no time", arguments: ["", "-p1", "-Nabc.defghijklmnopq", "é"])
    func others(key: String) {
        #expect(PostKey.milliseconds(of: key) == nil)
        #expect(PostKey.isMisplaced(post(key, 0)))
    }

    @Test(
        "a post is misplaced from more than a minute between its key and its server time on",
        arguments: [
            (0, false), (60_000, false), (-60_000, false), (60_001, true), (-60_001, true),
            (86_400_000, true), (-86_400_000, true),
        ]
    )
    func misplaced(offset: Int64, isMisplaced: Bool) {
        var generator = TestSeed.generator(3)
        let time: Int64 = 1_700_000_000_000
        let key = PostKey.make(milliseconds: time + offset, using: &generator)
        #expect(PostKey.isMisplaced(post(key, time)) == isMisplaced)
    }
}
