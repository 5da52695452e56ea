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
    /// What the oldest unanswered request waits for. While set, later ones are parked.
    var waiting: Waiting?
    var parked: ArraySlice<SessionRequest> = []
    /// What the owner of the group has of it, while this node follows.
    var atOwner = OwnerSide()
    /// Whether its identity waits for room in the log.
    var awaitsRoom = false
    /// Why the rules refuse the current request, for its answer in the plain event protocol.
    var explanation: String?

    enum Waiting {
        /// The shell's answer.
        case inquiry(InquiryID)
        /// An index that is worked out.
        case index
        /// Answers of the owner of the group.
        case owner
        /// The next tick, to continue with parked requests.
        case nextTick
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
    func become(_ identity: Identity, _ term: CredentialTerm, _ holders: inout CredentialHolders) {
        holders.remove(self.term.holder, .session(connection))
        self.identity = identity
        self.term = term
        holders.add(term.holder, .session(connection))
    }

    /// Gives the explanation out, once.
    func takeExplanation() -> String? {
        defer { explanation = nil }
        return explanation
    }

    /// The session's listens in order of registration.
    var sortedListens: [Listen] { listens.values.sorted { $0.id < $1.id } }
}
