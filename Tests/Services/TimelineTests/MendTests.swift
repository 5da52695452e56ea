import Foundation
import HearthDatabase
import ServiceSupport
import Testing
import Timeline

@Suite("Programs that end between two steps")
struct MendTests {
    private let server: ServiceServer
    private let draft: Draft

    init() throws {
        server = try ServiceServer.shared("social")
        draft = try Draft(imageURL: "https://images.example.com/cut", imageHeight: 1)
    }

    @Test(
        "a poster and a follower that both end after any step leave nothing half done",
        arguments: 0...4
    )
    func posting(stepCount: Int) async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.quickMember("bob")
        _ = try await ann.post("before")
        for following in 0...4 {
            let key = try await ann.posts.newKey()
            let entered = try await bob.follows.postKeys(of: ann.uid)
            let readers = try await ann.posts.readers()
            if stepCount > 1 { try await ann.posts.publish(draft, key, readers) }
            if following > 1 { try await bob.follows.connect(ann.uid, entered) }
            if stepCount > 3 {
                let latecomers = try await ann.posts.latecomers(besides: readers)
                try await ann.posts.enter(key, latecomers)
            }
            if following > 3 {
                let keys = try await bob.follows.postKeys(of: ann.uid)
                try await bob.follows.correct(ann.uid, from: entered, to: keys)
            }
            _ = try await ann.timeline.mend()
            _ = try await bob.timeline.mend()
            let isWhole = try await bob.hasWholeTimeline()
            #expect(isWhole, "posting ended after \(stepCount), following after \(following)")
            #expect(try await bob.timeline.mend() == TimelineMending())
            try await bob.follows.unfollowUser(ann.uid)
        }
    }

    @Test("a deletion that ends after any step leaves nothing half done", arguments: 1...3)
    func deleting(stepCount: Int) async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.quickMember("bob")
        let key = try await ann.post().key
        let readers = try await ann.posts.readers()
        try await bob.follows.followUser(ann.uid)
        if stepCount > 1 { try await ann.posts.withdraw(key, readers) }
        if stepCount > 2 { await ann.posts.clearLatecomers(key, besides: readers) }
        let mending = try await bob.timeline.mend()
        #expect(mending.clearedCount == (stepCount == 2 ? 1 : 0))
        #expect(try await bob.hasWholeTimeline())
        #expect(try await ann.hasWholeTimeline())
    }

    @Test("an unfollowing that ends after any step leaves nothing half done", arguments: 1...3)
    func unfollowing(stepCount: Int) async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.quickMember("bob")
        try await bob.follows.followUser(ann.uid)
        let keys = try await bob.follows.enteredKeys(of: ann.uid)
        _ = try await ann.post()
        if stepCount > 1 { try await bob.follows.disconnect(ann.uid, keys) }
        if stepCount > 2 { await bob.follows.clearAgain(ann.uid) }
        let mending = try await bob.timeline.mend()
        #expect(mending.clearedCount == (stepCount == 2 ? 1 : 0))
        #expect(try await bob.hasWholeTimeline())
    }

    @Test("a follower whom the followed has put off loses their posts at the next start")
    func putOff() async throws {
        let ann = try await server.quickMember("ann")
        let bob = try await server.quickMember("bob")
        try await bob.follows.followUser(ann.uid)
        _ = try await ann.post()
        try await ann.database.reference().updateChildValues([
            "following/\(bob.uid)/\(ann.uid)": NSNull(),
            "followers/\(ann.uid)/\(bob.uid)": NSNull(),
        ])
        #expect(try await bob.timeline.mend() == TimelineMending(clearedCount: 1))
        #expect(try await bob.hasWholeTimeline())
    }
}
