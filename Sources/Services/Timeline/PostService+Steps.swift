package import Attachments
import Foundation
import HearthDatabase
import Social

/// A picture that is to be posted, within the limits.
package struct Draft: Sendable {
    let imageURL: String
    let imageHeight: Double
    /// The note of an upload, which goes with the post.
    var note: String?

    package init(imageURL: String, imageHeight: Double) throws(ServiceError) {
        try ServiceError.checkLength(of: imageURL, "image", TimelineLimits.addressLength)
        guard imageHeight > 0, imageHeight <= TimelineLimits.imageHeight else {
            throw .invalid(
                field: "height",
                why: "it is above 0 and at most \(Int(TimelineLimits.imageHeight)) points"
            )
        }
        self.imageURL = imageURL
        self.imageHeight = imageHeight
    }
}

/// The data that a post depends on.
package struct Readers: Equatable, Sendable {
    /// The poster's name; the rules want that of the profile.
    package let username: String
    /// Sorted.
    package let followers: [String]

    package init(username: String, followers: [String]) {
        self.username = username
        self.followers = followers
    }
}

struct WrittenPost {
    let post: Post
    let readers: Readers
}

// The steps of posting and deleting, one read or one write each.
extension PostService {
    /// Waits until the server's clock is known, which keys are made by.
    func serverClock() async throws(ServiceError) {
        try await ServiceError.naming("see the server's clock") {
            let offset = tree.database.reference(withPath: ".info/serverTimeOffset")
            for try await snapshot in offset.snapshots() where snapshot.exists() { return }
            throw DatabaseError.closed
        }
    }

    /// Reads for whom the post is, and under which name.
    package func readers() async throws -> Readers {
        async let profile = tree.read("users/\(tree.uid)/username")
        let followers = try await tree.followers()
        guard let username = try await profile.value as? String else {
            throw ServiceError.notFound("profile of the user: sign up with a username first")
        }
        return Readers(username: username, followers: followers)
    }

    /// Writes the post and its entries; `replaced` is the key of the same post, which goes. Harmless when it is sent
    /// again after a cut: a refusal is believed when the post is not there.
    package func publish(
        _ draft: Draft,
        _ key: String,
        _ readers: Readers,
        replacing replaced: String? = nil,
    ) async throws {
        var changes = replaced.map { withdrawal($0, readers) } ?? [:]
        changes.reserveCapacity(2 * readers.followers.count + 8)
        changes["postOwners/\(key)"] = tree.uid
        changes["posts/\(tree.uid)/\(key)"] =
            [
                "image_url": draft.imageURL,
                "image_height": draft.imageHeight,
                "created_at": ServerValue.timestamp(),
                "like_count": 0,
                "poster": ["uid": tree.uid, "username": readers.username],
            ] as [String: Any]
        if let note = draft.note { changes[note] = NSNull() }
        let entry = TimelineEntry.node(posterUID: tree.uid)
        for reader in [tree.uid] + readers.followers {
            changes["timeline/\(reader)/\(key)"] = entry
        }
        do {
            try await tree.update(changes)
        } catch DatabaseError.permissionDenied(let path) {
            try await tree.checkRefusal(path) { try await tree.isOwn(key) }
        }
    }

    /// Writes a post for all who follow at that moment.
    func write(
        _ draft: Draft,
        _ key: String,
        replacing replaced: String? = nil,
    ) async throws(ServiceError) -> WrittenPost {
        // Keeps the post known here, so that it can be returned even if the connection is lost now.
        let kept = tree.database.reference(withPath: "posts/\(tree.uid)/\(key)")
        let handle = kept.observe(.value) { _ in }
        defer { kept.removeObserver(withHandle: handle) }
        let readers = try await settling.settle(
            "post a picture",
            read: { try await self.readers() },
            write: { try await publish(draft, key, $0, replacing: replaced) },
        )
        return try await ServiceError.naming("see post \(key)") {
            do {
                guard let post = try await tree.post(key, of: tree.uid) else {
                    throw ServiceError.notFound("post \(key): it was deleted meanwhile")
                }
                // Only a key that was not new has another one.
                guard post.imageURL == draft.imageURL else {
                    throw ServiceError.taken("key \(key)")
                }
                return WrittenPost(post: post, readers: readers)
            } catch let error as DatabaseError {
                // It is posted: no refusal of the read is one of the post.
                throw ServiceError.database(error)
            }
        }
    }

    /// Gives a post in a wrong position a key of its server time.
    ///
    /// - Returns: The moved post, or the same post if that failed.
    func moved(_ written: WrittenPost, _ draft: Draft) async -> WrittenPost {
        var generator = SystemRandomNumberGenerator()
        let time = written.post.createdMilliseconds
        let key = PostKey.make(milliseconds: time, using: &generator)
        do {
            return try await write(draft, key, replacing: written.post.key)
        } catch {
            // It is posted, and is returned like that.
            return written
        }
    }

    /// Reads who follows now and was not reached.
    package func latecomers(besides readers: Readers) async throws -> [String] {
        let reached = Set(readers.followers)
        return try await tree.followers().filter { !reached.contains($0) }
    }

    /// Writes a post into more timelines.
    package func enter(_ key: String, _ latecomers: [String]) async throws {
        let entry = TimelineEntry.node(posterUID: tree.uid)
        try await tree.update(
            Dictionary(uniqueKeysWithValues: latecomers.map { ("timeline/\($0)/\(key)", entry) })
        )
    }

    /// Reaches who followed while a post was on its way.
    ///
    /// The post exists, so an error here does not fail the operation: the followers look for it after they have
    /// followed, and the next start's `mend()` adds it.
    ///
    /// - Returns: Whether all were reached.
    @discardableResult
    package func reachLatecomers(_ key: String, besides readers: Readers) async -> Bool {
        do {
            _ = try await settling.settle(
                "post a picture",
                read: { try await latecomers(besides: readers) },
                write: { try await enter(key, $0) },
            )
            return true
        } catch {
            return false
        }
    }

    private func withdrawal(_ key: String, _ readers: Readers) -> [String: Any] {
        var changes: [String: Any] = [
            "postOwners/\(key)": NSNull(),
            "posts/\(tree.uid)/\(key)": NSNull(),
            "postLikes/\(key)": NSNull(),
        ]
        for reader in [tree.uid] + readers.followers {
            changes["timeline/\(reader)/\(key)"] = NSNull()
        }
        return changes
    }

    /// Deletes a post, its likes and its entries, with a note of the picture that is to go; harmless when another device of the same person was first, or when
    /// the update is sent again after a cut.
    package func withdraw(
        _ key: String,
        _ readers: Readers,
        leaving folder: AttachmentFolder? = nil,
    ) async throws {
        var changes = withdrawal(key, readers)
        if let folder { changes[attachments.path(folder)] = attachments.removal(folder) }
        do {
            try await tree.update(changes)
        } catch DatabaseError.permissionDenied(let path) {
            try await tree.checkRefusal(path) { try await !tree.isOwn(key) }
        }
    }

    /// Deletes the entries of those who followed while a post was being deleted. Each by itself: the rules refuse the
    /// removal of a missing entry, which is the intended state. Its reader skips an entry that stays, and removes it at
    /// the next page or start.
    package func clearLatecomers(_ key: String, besides readers: Readers) async {
        do {
            _ = try await latecomers(besides: readers).mapInParallel { reader in
                do {
                    try await tree.update(["timeline/\(reader)/\(key)": NSNull()])
                } catch DatabaseError.permissionDenied {
                    // No entry.
                }
            }
        } catch {
            return
        }
    }
}
