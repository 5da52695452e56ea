import Attachments
import Foundation
import HearthDatabase
import HearthStorage
import ServiceSupport
import Testing

@testable import Timeline

@Suite("pictures of posts as files")
struct PictureTests {
    private static let server = Result { try ServiceServer(rules: "social", files: "social") }

    @Test("a picture of any kind is posted, seen by followers, and goes with its post")
    func picture() async throws {
        let server = try Self.server.get()
        let (ann, bea) = (try await server.quickMember("Ann"), try await server.quickMember("Bea"))
        try await FollowService(database: bea.database, uid: bea.uid).followUser(ann.uid)
        let me = UserProfile(uid: ann.uid, username: ann.username)
        let posts = PostService(database: ann.database, me: me)
        let bytes = Data(repeating: 7, count: 300_000)
        let lake = try AttachmentFile(bytes, title: "lake.jpg", type: "image/jpeg")
        let post = try await posts.create(picture: lake, imageHeight: 480)
        let users = UserService(database: bea.database, uid: bea.uid)
        let shown = try await users.timeline().posts.map(\.post.imageURL)
        #expect(shown == [post.imageURL])
        let url = try #require(URL(string: post.imageURL))
        let file = try Storage.storage(app: bea.app).reference(for: url)
        #expect(try await file.data(maxSize: 1 << 20) == bytes)
        #expect(try await ann.value("uploads/\(ann.uid)") is NSNull)
        await #expect(throws: StorageError.self) { try await file.delete() }
        // A post that is there keeps its picture, and is not deleted without it.
        let withdrawn = [
            "postOwners/\(post.key)", "posts/\(ann.uid)/\(post.key)", "postLikes/\(post.key)",
            "timeline/\(ann.uid)/\(post.key)", "timeline/\(bea.uid)/\(post.key)",
        ]
        await #expect(throws: DatabaseError.self) {
            try await ann.database.reference().updateChildValues(
                Dictionary(uniqueKeysWithValues: withdrawn.map { ($0, NSNull()) })
            )
        }
        try await posts.delete(forKey: post.key)
        #expect(try await file.sizeIfThere() == nil)
        #expect(try await ann.value("uploads/\(ann.uid)") is NSNull)
    }

    @Test("what is no picture is not posted, and leaves nothing")
    func refusal() async throws {
        let ann = try await Self.server.get().quickMember("Ann")
        let me = UserProfile(uid: ann.uid, username: ann.username)
        let posts = PostService(database: ann.database, me: me)
        let key = try await posts.newKey()
        let text = try AttachmentFile(Data([1]), title: "a.txt", type: "text/plain")
        await #expect(throws: ServiceError.refused("send files")) {
            try await posts.create(picture: text, imageHeight: 1, key: key)
        }
        let image = try AttachmentFile(Data([1]), title: "a.gif", type: "image/gif")
        await #expect(throws: ServiceError.self) {
            try await posts.create(picture: image, imageHeight: 0, key: key)
        }
        #expect(try await ann.value("uploads/\(ann.uid)") is NSNull)
        #expect(try await posts.owner(ofKey: key) == nil)
        let place = Storage.storage(app: ann.app).reference(withPath: "timeline/posts/\(key)/0")
        #expect(try await place.sizeIfThere() == nil)
        // An address of the server's own, without an upload.
        await #expect(throws: ServiceError.self) {
            try await posts.create(
                imageURL: "http://h/v0/b/b/o/timeline%2Fposts%2F\(key)%2F0?alt=media",
                imageHeight: 1,
                key: key
            )
        }
    }
}
