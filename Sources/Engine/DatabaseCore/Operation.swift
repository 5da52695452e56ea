import EventProtocol
import JSONTree
import Queries
import WireProtocol

/// A request to a database: every protocol decodes to this, and the engine has one way to do it.
enum Operation {
    /// Answered already, with this message if there is one; `advice` is for a developer.
    case answered(OutgoingMessage?, advice: String? = nil)
    case ping
    case authenticate(token: String, AuthOverride?)
    case signOut
    /// The value at a target, filtered; at a priority, that priority.
    case get(WriteTarget, QuerySpec, Request.TagUse, Node.JSONForm)
    /// The key of the child that has so many before it in key order.
    case keyAt(Path, Int)
    /// The hash is of the data that the client has.
    case listen(Database.ListenRequest, ListenHash?)
    case unlisten(Listen.Name)
    /// A listen whose events are the answer; the connection is its own.
    case stream(ConnectionID, Database.ListenRequest)
    /// The key is that of the new child of a push.
    case put(MergeEntry, WriteCondition?, pushed: Key?, Request.TagUse)
    case update(Path, [MergeEntry], WriteCondition?, Request.TagUse)
    case storeOnDisconnect([MergeEntry])
    case cancelOnDisconnect(WriteTarget)
    /// Whether a write at a target, or an update below it, may be allowed at all.
    case foresee(WriteTarget, isUpdate: Bool)
    /// What administrators ask for.
    case administer(Request.Operation)
}

extension Operation {
    /// Whether it changes anything, now or when its session ends.
    var isChange: Bool {
        switch self {
        case .put, .update, .storeOnDisconnect, .cancelOnDisconnect, .foresee: true
        case .administer(let operation): operation.isChange
        case .answered, .ping, .authenticate, .signOut, .get, .keyAt, .listen, .unlisten, .stream:
            false
        }
    }
}

extension Request.Operation {
    /// The same of what administrators ask for.
    fileprivate var isChange: Bool {
        switch self {
        case .put, .push, .merge, .foresee, .putSetting, .storeRuleset, .labelRulesets,
            .setInspection:
            true
        case .putRules(_, let change): !change.isDryRun
        case .coverage(let resets), .shadow(let resets): resets
        case .get, .stream, .getRules, .getRulesHistory, .getSettings, .simulate, .profile,
            .inspect, .backUp, .confirm, .databases, .status:
            false
        }
    }
}

/// An operation of a session, and what its client calls the request.
struct SessionRequest {
    /// 0 for a message that has none; no answer repeats it.
    let number: Int64
    let operation: Operation
    /// The message as it came, where the owner of the group may have to have it.
    var text: [UInt8] = []
}

/// The result of an operation; the dialect of the client encodes it.
enum Answer {
    case done
    case pong(now: Timestamp)
    case authenticated(Identity)
    case signedOut
    case value(Node, EntityTag?, Node.JSONForm)
    case listening(Listen, isIndexed: Bool)
    /// The tag is that of the target of a put, or of where the paths of an update begin.
    case written([Change], isUpdate: Bool, EntityTag?)
    /// The tag is that of the new child.
    case pushed(Key, EntityTag?)
    /// The key that was asked for; nil when there is no such child.
    case key(Key?)
    /// A condition does not hold: the present node, and its tag.
    case mismatch(Node, EntityTag)
    /// The rules forbid it.
    case denied
    /// It failed for the reason in the code and the text.
    case failed(EventErrorCode, String)
    case refused(RequestRefusal)
    case badCredential(CredentialRefusal)

    /// The same with a tag; nil where none belongs.
    func with(_ tag: EntityTag?) -> Answer? {
        switch self {
        case .value(let node, _, let form): .value(node, tag, form)
        case .written(let changes, let isUpdate, _): .written(changes, isUpdate: isUpdate, tag)
        case .pushed(let key, _): .pushed(key, tag)
        case .done, .pong, .authenticated, .signedOut, .listening, .key, .mismatch, .denied,
            .failed, .refused, .badCredential:
            nil
        }
    }

    /// Whether it shows data.
    var isValue: Bool { if case .value = self { true } else { false } }
}
