import Foundation
import HearthDatabase
import Testing

@Suite("social tutorials")
@MainActor
struct SocialTests {
    let friend = World.friend

    @Test("bring a post to the timelines of followers and count its likes")
    func timeline() async throws {
        for follower in ["t-bob", "t-eve"] {
            let isFollowing: Bool = await outcome { done in
                FollowService.setIsFollowing(true, fromUser: follower, to: "t-ann", success: done)
            }
            #expect(isFollowing)
        }
        let isLeft: Bool = await outcome { done in
            FollowService.setIsFollowing(false, fromUser: "t-eve", to: "t-ann", success: done)
        }
        #expect(isLeft)
        for (uid, follows) in [("t-bob", true), ("t-eve", false)] {
            let isFollowing: Bool = await outcome { done in
                FollowService.isUser(
                    uid,
                    following: "t-ann",
                    byCurrentUserWithCompletion: done
                )
            }
            #expect(isFollowing == follows)
        }

        let posts = (1...3).map { number in
            Post(imageURL: "https://example.com/\(number)", imageHeight: 300.5, posterUID: "t-ann")
        }
        for post in posts {
            let isMade: Bool = await outcome { PostService.create(post, success: $0) }
            #expect(isMade)
        }
        let liked: (Bool, Int) = await outcome { done in
            LikeService.create(for: posts[1], by: "t-bob") { done(($0, $1)) }
        }
        #expect(liked == (true, 1))

        let timeline: [Post] = await outcome { PostService.timeline(for: "t-bob", completion: $0) }
        #expect(timeline.map(\.key) == posts.reversed().map(\.key))
        #expect(timeline.map(\.isLiked) == [false, true, false])
        #expect(timeline.map(\.likeCount) == [0, 1, 0])
        #expect(timeline.map(\.imageHeight) == [300.5, 300.5, 300.5])
        let none: [Post] = await outcome { PostService.timeline(for: "t-eve", completion: $0) }
        #expect(none.isEmpty)

        let unliked: (Bool, Int) = await outcome { done in
            LikeService.delete(for: posts[1], by: "t-bob") { done(($0, $1)) }
        }
        #expect(unliked == (true, 0))
        #expect(try await friend.child("postLikes").child(posts[1].key ?? "").stored() is NSNull)
    }

    @Test("give stars and seats by transactions, and count views by increments")
    func stars() async throws {
        let ref = friend.child("starred-posts/post1")
        try await ref.setValue(["title": "Tea", "seats": 1] as [String: Any])
        let screen = Screen()
        let ann = StarredPost(key: "post1", uid: "ann")
        let bob = StarredPost(key: "post1", uid: "bob")
        ann.onChange = screen.changed
        ann.viewWillAppear()

        for post in [ann, bob] {
            let starred: (Error?, Bool) = await outcome { done in
                post.toggleStar { done(($0, $1)) }
            }
            #expect(starred.0 == nil && starred.1)
        }
        try await screen.shows { ann.starCount == 2 }
        #expect(ann.stars == ["ann": true, "bob": true])
        let unstarred: (Error?, Bool) = await outcome { done in
            bob.toggleStar { done(($0, $1)) }
        }
        #expect(unstarred.1)
        try await screen.shows { ann.stars == ["ann": true] }

        let first: (Bool, Int) = await outcome { done in ann.takeSeat { done(($0, $1)) } }
        let second: (Bool, Int) = await outcome { done in bob.takeSeat { done(($0, $1)) } }
        #expect(first == (true, 0))
        #expect(second == (false, 0))

        ann.addView()
        bob.addView()
        try await ref.child("views").becomes { $0.value as? Int == 2 }
        ann.viewWillDisappear()
    }

    @Test("read and write a profile, publish at two places, and delete it all")
    func profile() async throws {
        let editor = ProfileEditor(uid: "p-ann")
        let _: Void = await outcome { done in editor.register(username: "Ann") { done(()) } }
        let _: Void = await outcome { done in editor.load { done(()) } }
        #expect(editor.username == "Ann")
        #expect(editor.age == 42)
        #expect(editor.height == 1.75)
        #expect(editor.isPublic)
        #expect(editor.tags == ["swift", "tea"])
        let name: String? = await outcome { done in editor.loadName { done($0) } }
        #expect(name == "Ann")

        let published: String? = await outcome { done in
            editor.publish(title: "One", body: "Two") { done($0) }
        }
        let key = try #require(published)
        for path in ["blog/\(key)", "user-posts/p-ann/\(key)"] {
            let post = try await friend.child(path).stored() as? [String: String]
            #expect(post?["author"] == "Ann")
            #expect(post?["body"] == "Two")
        }
        let failure: Error? = await outcome { done in editor.unregister { done($0) } }
        #expect(failure == nil)
        #expect(try await friend.child("users/p-ann").stored() is NSNull)
        #expect(editor.failures.isEmpty)
    }

    @Test("invite friends to a party and take their answers")
    func party() async throws {
        let hostScreen = Screen()
        let host = PartyService(uid: "host")
        host.onChange = hostScreen.changed
        host.startReadingInbox()
        let created: String? = await outcome { done in
            host.createParty("Tea at five", inviting: ["bob", "eve"]) { done($0) }
        }
        let party = try #require(created)
        try await hostScreen.shows { host.guests.count == 2 }
        #expect(host.guests["bob"] as? String == "invited")

        for (uid, isComing) in [("bob", true), ("eve", false)] {
            let screen = Screen()
            let guest = PartyService(uid: uid)
            guest.onChange = screen.changed
            guest.startReadingInbox()
            try await screen.shows { guest.invitations.count == 1 }
            #expect(guest.invitations[0].party == party)
            let isAnswered: Bool = await outcome { done in
                guest.answer(0, isComing: isComing) { done($0) }
            }
            #expect(isAnswered)
            guest.stopReadingInbox()
        }
        try await hostScreen.shows {
            host.guests["bob"] as? Bool == true && host.guests["eve"] as? Bool == false
        }
        #expect(try await friend.child("party-app/messages/bob").stored() is NSNull)
        host.stopReadingInbox()
    }
}
