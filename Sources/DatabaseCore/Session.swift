import EventProtocol
import JSONTree
import WireProtocol

/// The auth, listens and order of requests of one connection.
final class Session {
    let connection: ConnectionID
    let id: SessionID
    let database: Database
    /// What the connection speaks.
    let dialect: Dialect
    private(set) var identity = Identity.nobody
    /// How long `identity` counts.
    private(set) var term = CredentialTerm.unlimited
    var listens: [Listen.Name: Listen] = [:]
    /// What the oldest unanswered request waits for. While set, later messages are parked.
    var waiting: Waiting?
    var parked: ArraySlice<SessionMessage> = []
    /// Why the rules refuse what is under way, for its answer in the plain event protocol.
    var explanation: String?

    enum Waiting {
        case credential(InquiryID, request: Int64, AuthOverride?)
        /// The hash of a large node.
        case hash(InquiryID, Node, HashUse)
        /// What the client lacks of the large node that it listens to.
        case comparison(InquiryID, ComparedListen)
        /// What the rules say to a large write.
        case decision(InquiryID, SessionWrite)
        /// An index that is worked out.
        case index
        /// Its turn to go on with what is parked.
        case turn
    }

    /// What the hash of a large node is for.
    enum HashUse {
        /// A write that counts only if this is the hash of what is there.
        case write(SessionWrite)
        /// The etag of what a get of the plain event protocol found.
        case tag(TaggedGet)
    }

    struct TaggedGet {
        let request: Int64
        let path: Path
        let isExport: Bool
        /// Who was allowed to read.
        let reader: Identity
    }

    /// A listen whose client has data that is compared with a large snapshot. It is registered and hears
    /// nothing until then.
    struct ComparedListen {
        let listen: Listen
        let request: Int64
        let answer: ReplyBody
        let snapshot: Node
    }

    init(
        connection: ConnectionID,
        id: SessionID,
        database: Database,
        dialect: Dialect,
        identity: Identity = .nobody,
        term: CredentialTerm = .unlimited
    ) {
        self.connection = connection
        self.id = id
        self.database = database
        self.dialect = dialect
        self.identity = identity
        self.term = term
    }

    /// Takes on an identity together with the term of the credential it comes from. While the session is open,
    /// `holders` has it under the holder of that term.
    func become(
        _ identity: Identity,
        _ term: CredentialTerm,
        _ holders: inout CredentialHolders
    ) {
        holders.remove(self.term.holder, connection)
        self.identity = identity
        self.term = term
        holders.add(term.holder, connection)
    }

    /// Gives the explanation out, once.
    func takeExplanation() -> String? {
        defer { explanation = nil }
        return explanation
    }

    /// The session's listens in order of registration.
    var sortedListens: [Listen] { listens.values.sorted { $0.id < $1.id } }
}

/// A message of a session, in the dialect of its connection.
enum SessionMessage: Sendable {
    case wire(ClientMessage)
    case events(EventRequest)
}
