package import JSONTree
package import Queries

/// One message from a client, read from its JSON text.
///
///     {"t":"c","d":{"t":"p","d":{}}}                    control
///     {"t":"d","d":{"r":2,"a":"q","b":{"p":"/a"}}}      request
package enum ClientMessage: Sendable {
    /// The client wants a pong.
    case ping
    /// The client has switched its traffic to this socket (long-polling upgrade).
    case upgradeAck
    /// The client sends nothing more on the old transport (long-polling upgrade).
    case endOfTransmission
    /// A control command that Hearth does not know; nothing is due.
    case unknownControl
    /// A request; exactly one reply is due.
    case request(ClientRequest)
}

/// One request of a client.
package struct ClientRequest: Sendable {
    /// What the client calls the request; the reply repeats it. Android starts at 0.
    package let number: Int64

    /// The action.
    package let action: Action

    /// Creates a request.
    package init(number: Int64, action: Action) {
        self.number = number
        self.action = action
    }

    /// The actions of a client. Everything inside is checked: paths and keys are legal, values are
    /// within the limits of the tree also when counted from the root, merges do not overlap.
    package enum Action: Sendable {
        /// `s`: usage counters, which are not kept.
        case stats
        /// `auth`: a signed token.
        case auth(Credential)
        /// `gauth`: an opaque credential, mostly an administrator's.
        case gauth(Credential)
        /// `unauth`: forget the credential.
        case unauth
        /// `appcheck`: an App Check token, which is not checked.
        case appCheck
        /// `unappeck` or `unappcheck`: forget the App Check token.
        case unAppCheck
        /// `q` or `l`: listen. The hash is of the data that the client has; nil when it was not sent.
        case listen(ListenTarget, tag: Int64?, hash: ListenHash?)
        /// `n` or `u`: stop listening.
        case unlisten(ListenTarget, tag: Int64?)
        /// `g`: read once.
        case get(ListenTarget)
        /// `p`: replace a node or a priority; with a hash only if the node there still has it.
        case put(WriteTarget, Draft, hash: String?)
        /// `m`: replace several locations below a path at once.
        case merge(Path, [MergeEntry], hash: String?)
        /// `o`: a put for when the session ends.
        case onDisconnectPut(WriteTarget, Draft)
        /// `om`: a merge for when the session ends.
        case onDisconnectMerge(Path, [MergeEntry])
        /// `oc`: cancel the writes registered at a location and below it.
        case onDisconnectCancel(WriteTarget)
        /// `echo`: a test hook; the JSON text to send back.
        case echo([UInt8])
        /// An action that Hearth does not know, its name cut to `WireLimits.quotedByteCount`.
        case unknown(String)
        /// Any action in a message of more bytes than these, which was not kept.
        case tooBig(byteLimit: Int)
        /// A known action with an invalid body; the text says what is wrong.
        case malformed(String)
    }
}

/// What a client proves its identity with.
package struct Credential: Sendable {
    /// The token or secret, undecided.
    package let token: String

    /// Whom an administrator wants to be taken for; nil for itself.
    package let override: AuthOverride?

    /// Creates a credential.
    package init(token: String, override: AuthOverride? = nil) {
        self.token = token
        self.override = override
    }
}

/// The identity that an administrator assumes when rules are decided.
package enum AuthOverride: Sendable {
    /// Signed out: `noauth` is true or `authvar` is null.
    case nobody
    /// The rules variable `auth` is this object (absent means the empty object).
    case value(Node)
}

/// What a listen or a read is about.
///
/// Two targets are equal when the path and the query's canonical text are: clients tell their listens apart by these.
package struct ListenTarget: Hashable, Sendable {
    /// The queried node.
    package let path: Path

    /// The query; `everything` for a plain listen.
    package let query: QuerySpec

    /// The query object with sorted keys and numbers as received; nil for a plain listen.
    ///
    /// A cancel must repeat it so that clients find the listen it is about.
    package let queryText: [UInt8]?

    /// Creates a target. `queryText` belongs to `query`.
    package init(path: Path, query: QuerySpec = .everything, queryText: [UInt8]? = nil) {
        self.path = path
        self.query = query
        self.queryText = queryText
    }

    /// Whether paths and canonical query texts are the same.
    package static func == (left: ListenTarget, right: ListenTarget) -> Bool {
        left.path == right.path && left.queryText == right.queryText
    }

    /// Feeds what equality compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(path)
        hasher.combine(queryText)
    }
}

/// One location that a merge writes to. No two of one merge overlap.
package struct MergeEntry: Sendable {
    /// The location, relative to the root.
    package let target: WriteTarget

    /// What is written there.
    package let draft: Draft

    /// Creates an entry.
    package init(target: WriteTarget, draft: Draft) {
        self.target = target
        self.draft = draft
    }
}
