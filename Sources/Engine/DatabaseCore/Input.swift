package import EventProtocol
package import JSONTree
package import Queries
package import RulesTools
package import SecurityRules
package import WireProtocol

/// Everything that can happen to the databases.
package enum Input: Sendable {
    /// A socket is open; the core answers with hello.
    case connected(ConnectionID, Handshake)
    /// `text` is the message as it came, for the owner of the group; only a node that follows needs it.
    case received(ClientMessage, from: ConnectionID, text: [UInt8] = [])
    /// A request of the plain event protocol; `text` likewise.
    case asked(EventRequest, from: ConnectionID, text: [UInt8] = [])
    /// An administrator ends a session and its connection.
    case end(ConnectionID)
    /// The Close frame arrived, or the socket is gone. The first of the two counts.
    case disconnected(ConnectionID)
    case requested(Request, id: RequestID)
    /// The answer to `Effect.verify`.
    case verified(InquiryID, CredentialOutcome)
    /// Credentials of this holder that were issued before a time, seconds since 1970, no longer count.
    case revoked(CredentialHolder.Name, issuedBefore: Int64)
    /// The answer to `Effect.work`.
    case worked(InquiryID, LongResult)
    /// What the owner of the group says about a session of this node.
    case owner(OwnerMessage, to: ConnectionID)
    /// All commits of a database up to this one are durable.
    case flushed(DatabaseID, through: CommitNumber)
    /// The rules of databases that have none of their own.
    case defaultRules(Ruleset)
    /// The rules that stand in for the default ones in one database.
    case rules(DatabaseID, Ruleset)
    /// Whether the log can take new commits.
    case log(LogCondition)
    /// Whether every operation on a database is reported as `Effect.profiled`.
    case profile(DatabaseID, Bool)
    /// Time has passed; sent about once a second.
    case tick
    /// Room for long work, in steps of about a microsecond.
    case longWork(steps: Int)
    /// Every session ends, as if its socket had closed.
    case shutDown
}

/// Whether the log can take new commits; while it cannot, writes are refused before they become one.
package enum LogCondition: Sendable, Equatable {
    case ready
    /// The disk is below its reserve, and the next segment of the log has its room: writes that only
    /// remove data are taken, and on-disconnect writes run, up to `EnginePolicy.removalByteCount`.
    case diskLow
    /// The next segment of the log has no room.
    case diskFull
    /// Too many commits wait for the disk.
    case behind
}

/// What the owner of the group says about a session of a node that follows.
package enum OwnerMessage: Sendable, Equatable {
    /// The session has begun there, and the one that it names as its last one has ended.
    case began
    /// The answer, as the client is to receive it, to the oldest request that has none.
    case answer(text: [UInt8], isOK: Bool)
    /// A message for the client's developer, ahead of an answer.
    case advice(text: [UInt8])
    /// It says nothing more: what it was asked may be done or not.
    case lost
}

/// What a connection speaks.
package enum Dialect: Sendable {
    /// The Realtime Database wire protocol.
    case wire
    /// The plain event protocol.
    case events
    /// The events of one listen, and nothing in the other direction. It begins as a request.
    case serverSent
}

/// How a connection begins.
package struct Handshake: Sendable {
    package let dialect: Dialect
    package let database: DatabaseID
    /// The `Host` header, sent to the client as the address for later connections.
    package let host: String
    package let session: SessionID
    /// The session that the client says it had before (`ls`).
    package let lastSession: SessionID?
    /// What the upgrade has proved, when an administrator sent it; nil for a session that begins signed out.
    package let administrator: Administrator?

    /// An administrator's session, as the upgrade asks for it.
    package struct Administrator: Sendable {
        let override: AuthOverride?
        let term: CredentialTerm

        /// With `override` the rules decide, as for that identity.
        package init(override: AuthOverride?, term: CredentialTerm) {
            self.override = override
            self.term = term
        }
    }

    package init(
        dialect: Dialect = .wire,
        database: DatabaseID,
        host: String,
        session: SessionID,
        lastSession: SessionID? = nil,
        administrator: Administrator? = nil,
    ) {
        self.dialect = dialect
        self.database = database
        self.host = host
        self.session = session
        self.lastSession = lastSession
        self.administrator = administrator
    }
}

/// One request that is not part of a session.
package struct Request: Sendable {
    package let database: DatabaseID
    package let credential: RequestCredential
    package let operation: Operation
    /// How much a write may touch; nil stands for what the settings of the database say.
    package let sizeLimit: WriteSizeLimit?
    /// Whether it is done for admins alone, whatever the rules grant.
    package let isForAdmins: Bool

    package init(
        database: DatabaseID,
        credential: RequestCredential,
        operation: Operation,
        sizeLimit: WriteSizeLimit? = nil,
        isForAdmins: Bool = false,
    ) {
        self.database = database
        self.credential = credential
        self.operation = operation
        self.sizeLimit = sizeLimit
        self.isForAdmins = isForAdmins
    }

    /// Whether the answer carries the tag of the value that it is about.
    package enum TagUse: Sendable {
        case none
        case wanted
    }

    package enum Operation: Sendable {
        /// The value at a target, filtered; at a priority, that priority.
        case get(WriteTarget, QuerySpec, TagUse = .none)
        /// The value at a path, filtered, and everything that becomes of it, sent to a connection as
        /// server-sent events. The connection is the request's own, and its disconnection ends the stream.
        case stream(ConnectionID, Path, QuerySpec, isExport: Bool)
        /// With a condition it is done only if that is the tag of the present node.
        case put(WriteTarget, Draft, condition: EntityTag? = nil, TagUse = .none)
        /// A put at a new key below the path.
        case push(Path, key: Key, Draft, TagUse = .none)
        case merge(Path, [MergeEntry], TagUse = .none)
        /// Whether a write at a target, or an update below it, may be allowed at all: its value is not known yet.
        /// Answered `done` if so.
        case foresee(WriteTarget, isUpdate: Bool)
        case getRules
        /// Replaces the rules of the database, or (nil) goes back to the default ones.
        case putRules(Ruleset?, RulesChange)
        /// The versions of the rules of the database; for admins.
        case getRulesHistory
        /// All settings of the database; for admins, as are the next three.
        case getSettings
        case putSetting(DatabaseSetting)
        /// Keeps a ruleset under an identifier, to be put in force later.
        case storeRuleset(id: String, Ruleset)
        /// Names stored rulesets by their purpose; the one labelled `stable` comes in force.
        case labelRulesets(RulesetLabels, author: String)
        case simulate(SimulationRequest)
        /// Whether the database may be profiled, as `Input.profile` lets it; for admins.
        case profile
        /// Whether the decisions of the rules may be seen, or forgotten, which the shell keeps; for admins.
        case inspect
        /// Which decisions are reported from here on, of every database; for admins.
        case setInspection(InspectionLevel)
        /// What decisions have consulted, for admins; counted anew afterwards if it `resets`.
        case coverage(resets: Bool)
        /// What the shadow rules have found, to begin anew if it `resets`; for admins.
        case shadow(resets: Bool)
        /// Whether a backup may be taken, which the shell does; for admins.
        case backUp
        /// Nothing: it is answered `done` when everything before it is durable; for admins.
        case confirm
        /// The names of every database; for admins.
        case databases
        /// A summary of every database; for admins.
        case status
    }
}

/// What a request brings to show who it is.
package enum RequestCredential: Sendable {
    case none
    /// To be verified; `override` counts for an admin only.
    case token(String, override: AuthOverride?)
    /// The shell has already checked that the caller is an admin, for this term.
    case admin(override: AuthOverride?, CredentialTerm = .unlimited)
    /// The server itself asks: an admin, also in its reserved databases.
    case server
}
