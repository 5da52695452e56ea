import JSONTree
import WireProtocol

/// The auth, listens and order of requests of one connection.
final class Session {
    let connection: ConnectionID
    let id: SessionID
    let database: Database
    var identity = Identity.nobody
    /// When `identity` stops counting.
    var expiry: Timestamp?
    var listens: [ListenTarget: Listen] = [:]
    /// What the oldest unanswered request waits for. While set, later messages are parked.
    var waiting: Waiting?
    var parked: ArraySlice<ClientMessage> = []

    enum Waiting {
        case credential(InquiryID, request: Int64, AuthOverride?)
        case hash(InquiryID, request: Int64, put: HashedPut)
    }

    /// A compare-and-put over a node too large to hash on the loop.
    struct HashedPut {
        let target: WriteTarget
        let draft: Draft
        let hash: String
        /// What is being hashed; the put counts only if it is still there.
        let current: Node
    }

    init(connection: ConnectionID, id: SessionID, database: Database) {
        self.connection = connection
        self.id = id
        self.database = database
    }

    /// The session's listens in order of registration.
    var sortedListens: [Listen] { listens.values.sorted { $0.id < $1.id } }
}
