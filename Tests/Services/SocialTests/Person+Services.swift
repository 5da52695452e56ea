import Dispatch
import HearthDatabase
import ServiceSupport
import Social

extension Person {
    var users: UserService { UserService(database: database, uid: uid) }
    var graph: FollowGraph { FollowGraph(database: database, uid: uid) }
    var blocks: BlockService { BlockService(database: database, uid: uid) }
    var presence: PresenceService { PresenceService(database: database, uid: uid) }
    var profiles: ProfileService { ProfileService(database: database, uid: uid) }
    var search: SearchService { SearchService(database: database, uid: uid) }

    /// Returns behind all that the server has said before it answers one more question, and that was reported.
    func isAnswered() async throws {
        do {
            _ = try await place("lastOnline/\(uid.isEmpty ? "stranger" : uid)").getData()
        } catch DatabaseError.permissionDenied {
            // An answer too.
        }
        await queueIsEmpty()
    }

    /// Returns behind all that waits to be reported.
    func queueIsEmpty() async {
        await withCheckedContinuation { continuation in
            database.callbackQueue.async { continuation.resume() }
        }
    }
}
