public import Attachments
import Foundation
import Social

extension PostService {
    /// Posts a picture of any size to oneself and all followers: a file of the server, which goes with the post.
    ///
    /// It is uploaded first, then the post names it, whose key is the given one whatever the time; if that fails,
    /// neither stays, and after a cut `TimelineService.mend` removes what came.
    /// - Parameters:
    ///   - picture: Its bytes; a large PNG has a smaller one beside it.
    ///   - imageHeight: Points, above 0 and at most 100,000.
    ///   - key: A `newKey()`; a new one by default.
    ///   - progress: Called on the callback queue of the app's files.
    /// - Returns: The post, with its server time.
    /// - Throws: `ServiceError`, `files` among them when the server does not take it. After `database` it is unknown
    ///   whether it was posted.
    public func create(
        picture: AttachmentFile,
        imageHeight: Double,
        key: String? = nil,
        progress: AttachmentService.Progress? = nil,
    ) async throws -> Post {
        let key = if let key { try key.key("post") } else { try await newKey() }
        let folder = AttachmentFolder.post(key)
        let written = try await attachments.send([picture], to: folder, progress) { attachments in
            var draft = try Draft(
                imageURL: attachments[0].url.absoluteString,
                imageHeight: imageHeight
            )
            draft.note = self.attachments.path(folder)
            return try await write(draft, key)
        }
        await reachLatecomers(written.post.key, besides: written.readers)
        return written.post
    }

    var attachments: AttachmentService { AttachmentService(database: tree.database, uid: tree.uid) }

    /// The folder of a post's own picture; nil for one whose picture is elsewhere.
    func pictureFolder(_ key: String) async throws(ServiceError) -> AttachmentFolder? {
        let url = try await ServiceError.naming("see post \(key)") {
            try await tree.read("posts/\(tree.uid)/\(key)/image_url").value as? String
        }
        // As the rules look for it.
        let isOwn = url?.contains("/o/timeline%2Fposts%2F\(key)%2F") ?? false
        return isOwn ? .post(key) : nil
    }
}
