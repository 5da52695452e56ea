import Foundation
public import HearthDatabase
import Social

/// Following, together with its entries in the user's timeline.
///
/// Both edges and an entry for each post of the other are one update. Posts made in the meantime are found
/// afterwards, and once more by `TimelineService.mend()` at the next start, in case the program ends in between.
/// Operations throw `ServiceError`.
public struct FollowService: Sendable {
    let tree: SocialTree
    /// How it meets changes of others; in tests without waits.
    package var settling = Settling.standard
    private let graph: FollowGraph

    /// Whom the signed-in user `uid` follows.
    public init(database: Database, uid: String) {
        tree = SocialTree(database: database, uid: uid)
        graph = FollowGraph(database: database, uid: uid)
    }

    /// Follows a person, whose posts enter the user's timeline; repeating it changes nothing.
    ///
    /// - Throws: `ServiceError`: `notFound` for an unknown person, `refused` when they have blocked the user.
    public func followUser(_ other: String) async throws {
        _ = try graph.edge(to: other, exists: true)
        do throws(ServiceError) {
            let entered = try await settling.settle(
                "follow \(other)",
                read: { try await tree.postKeys(of: other) },
                write: { try await connect(other, $0) },
            )
            await lookAgain(other, besides: entered)
        } catch {
            try await graph.explain(error, following: other)
        }
    }

    /// Ends it: their posts leave the own timeline. Harmless when the user does not follow them.
    public func unfollowUser(_ other: String) async throws {
        guard other != tree.uid else {
            throw ServiceError.invalid(field: "uid", why: "you cannot unfollow yourself")
        }
        _ = try graph.edge(to: other, exists: false)
        _ = try await settling.settle(
            "unfollow \(other)",
            read: { try await enteredKeys(of: other) },
            write: { try await disconnect(other, $0) },
        )
        await clearAgain(other)
    }

    /// Whether the user follows a person.
    public func isUserFollowed(_ other: String) async throws -> Bool {
        try await graph.isFollowed(other)
    }
}

// The steps, one read or one write each.
extension FollowService {
    /// Writes both edges and an entry of each post.
    package func connect(_ other: String, _ keys: Set<String>) async throws {
        var changes = tree.entryChanges(keys, of: other)
        changes.merge(try graph.edge(to: other, exists: true)) { $1 }
        try await tree.update(changes)
    }

    /// Adds entries for a person's posts made while the edges were written, and removes those of deleted posts.
    ///
    /// The user follows them already, so an error here does not fail the operation: the next start's `mend()` does it.
    ///
    /// - Returns: Whether it was done.
    @discardableResult
    package func lookAgain(_ other: String, besides entered: Set<String>) async -> Bool {
        do {
            _ = try await settling.settle(
                "follow \(other)",
                read: { try await tree.postKeys(of: other) },
                write: { try await tree.correct(other, from: entered, to: $0) },
            )
            return true
        } catch {
            return false
        }
    }

    /// Reads which entries of the user's timeline are posts of a person.
    package func enteredKeys(of other: String) async throws -> [String] {
        try await tree.entries().records.filter { $0.posterUID == other }.map(\.key)
    }

    /// Deletes both edges and these entries.
    package func disconnect(_ other: String, _ keys: [String]) async throws {
        var changes = tree.entryChanges(keys, of: nil)
        changes.merge(try graph.edge(to: other, exists: false)) { $1 }
        try await tree.update(changes)
    }

    /// Removes entries that a person's posts added while the edges were removed.
    ///
    /// - Returns: Whether it was done; if not, the next start's `mend()` does it.
    @discardableResult
    package func clearAgain(_ other: String) async -> Bool {
        do {
            let keys = try await enteredKeys(of: other)
            try await tree.update(tree.entryChanges(keys, of: nil))
            return true
        } catch {
            return false
        }
    }
}
