import Foundation
public import HearthDatabase
import Records
import SocialGraph

/// Following, together with what it brings into the own timeline.
///
/// Both edges and an entry for each post of the other are one update. What they post meanwhile is looked for
/// afterwards, and once more by `TimelineService.mend()` at the next start, should the program end in between.
public struct FollowService: Sendable {
    private let places: SocialPlaces
    private let settling: Settling
    private let graph: FollowGraph

    /// Whom the signed-in user `uid` follows.
    public init(database: Database, uid: String) {
        self.init(database: database, uid: uid, settling: .standard)
    }

    package init(database: Database, uid: String, settling: Settling) {
        places = SocialPlaces(database: database, uid: uid)
        self.settling = settling
        graph = FollowGraph(database: database, uid: uid)
    }

    /// Follows somebody, whose posts come into the own timeline; harmless when that is so already.
    ///
    /// - Throws: `ServiceError`: `notFound` for nobody, `refused` when they have blocked the user.
    public func followUser(_ other: String) async throws {
        _ = try graph.edge(to: other, exists: true)
        do throws(ServiceError) {
            let entered = try await settling.settle(
                "follow \(other)",
                read: { try await postKeys(of: other) },
                write: { try await connect(other, $0) },
            )
            await lookAgain(other, besides: entered)
        } catch {
            try await graph.explain(error, following: other)
        }
    }

    /// Ends it: their posts leave the own timeline. Harmless when the user does not follow them.
    ///
    /// - Throws: `ServiceError`.
    public func unfollowUser(_ other: String) async throws {
        guard other != places.uid else {
            throw ServiceError.invalid(field: "uid", why: "nobody unfollows themselves")
        }
        _ = try graph.edge(to: other, exists: false)
        _ = try await settling.settle(
            "unfollow \(other)",
            read: { try await enteredKeys(of: other) },
            write: { try await disconnect(other, $0) },
        )
        await clearAgain(other)
    }

    /// Whether the user follows somebody.
    ///
    /// - Throws: `ServiceError`.
    public func isUserFollowed(_ other: String) async throws -> Bool {
        try await graph.isFollowed(other)
    }
}

// The steps, one read or one write each.
extension FollowService {
    /// Reads what somebody has posted.
    package func postKeys(of other: String) async throws -> Set<String> {
        try await places.postKeys(of: other)
    }

    /// Writes both edges and an entry of each post.
    package func connect(_ other: String, _ keys: Set<String>) async throws {
        var changes = places.entryChanges(keys, of: other)
        changes.merge(try graph.edge(to: other, exists: true)) { $1 }
        try await places.update(changes)
    }

    /// Enters what somebody has posted while the edges were on their way, and clears what they have deleted.
    ///
    /// Whoever comes here follows them already, so a failure is none of that: the next start's `mend()` does it.
    ///
    /// - Returns: Whether it was done.
    @discardableResult
    package func lookAgain(_ other: String, besides entered: Set<String>) async -> Bool {
        do {
            _ = try await settling.settle(
                "follow \(other)",
                read: { try await postKeys(of: other) },
                write: { try await correct(other, from: entered, to: $0) },
            )
            return true
        } catch {
            return false
        }
    }

    /// Writes the difference between what was entered and what is posted.
    package func correct(
        _ other: String,
        from entered: Set<String>,
        to keys: Set<String>,
    ) async throws {
        let additions = places.entryChanges(keys.subtracting(entered), of: other)
        let removals = places.entryChanges(entered.subtracting(keys), of: nil)
        try await places.update(additions.merging(removals) { addition, _ in addition })
    }

    /// Reads which entries of the own timeline are posts of somebody.
    package func enteredKeys(of other: String) async throws -> [String] {
        try await places.entries().records.filter { $0.posterUID == other }.map(\.key)
    }

    /// Deletes both edges and these entries.
    package func disconnect(_ other: String, _ keys: [String]) async throws {
        var changes = places.entryChanges(keys, of: nil)
        changes.merge(try graph.edge(to: other, exists: false)) { $1 }
        try await places.update(changes)
    }

    /// Clears what somebody has posted into the own timeline while the edges were going.
    ///
    /// - Returns: Whether it was done; if not, the next start's `mend()` does it.
    @discardableResult
    package func clearAgain(_ other: String) async -> Bool {
        do {
            let keys = try await enteredKeys(of: other)
            try await places.update(places.entryChanges(keys, of: nil))
            return true
        } catch {
            return false
        }
    }
}
