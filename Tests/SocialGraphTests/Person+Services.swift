import HearthDatabase
import ServiceSupport
import SocialGraph

extension Person {
    var users: UserService { UserService(database: database, uid: uid) }
    var graph: FollowGraph { FollowGraph(database: database, uid: uid) }
    var blocks: BlockService { BlockService(database: database, uid: uid) }
    var presence: PresenceService { PresenceService(database: database, uid: uid) }
    var profiles: ProfileService { ProfileService(database: database, uid: uid) }
    var search: SearchService { SearchService(database: database, uid: uid) }
}
