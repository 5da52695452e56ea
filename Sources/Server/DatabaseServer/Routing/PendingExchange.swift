import DatabaseCore
import FileRulesTools
import JSONTree
import Transport

/// A request whose answer the engine has yet to give.
@LoopActor
final class PendingExchange {
    let exchange: HTTPExchange
    let request: ResolvedRequest
    let parameters: RESTParameters
    let database: DatabaseID
    /// The method that is meant; one that the row lists.
    let method: Route.Method
    /// What the answer depends on beside the request.
    var subject = Subject.nothing
    /// What is done when the engine has nothing against the request, whose body is still to be read.
    var whenAllowed: (@LoopActor () -> Void)?
    /// The database, when an administrator asks.
    var administered: DatabaseID?
    /// Why the rules refuse it, where the answer says so.
    var explanation: String?
    private var timer: LoopTimer?

    /// Nodes from which on an answer is written as a stream.
    private static let largeNodeCount = 4_096
    static let chunkByteCount = 16 * 1024

    /// What the answer to a request depends on, by its route.
    enum Subject {
        case nothing
        /// A location in the tree, under these conditions.
        case data(RESTConditions)
        case settings(SettingsView)
        /// A ruleset that is stored under a new name.
        case newRuleset(id: String)
        /// The list of the versions of the rules, and which rules the database has while it has none of its own.
        case rulesHistory(RulesFallback)
        /// One of those versions.
        case rulesVersion(Int)
        /// What is to be said of this text of rules.
        case rulesFindings([UInt8])
        /// A request for a file that is tried.
        case fileSimulation(FileSimulation, isAnsweredInWords: Bool)
        /// Something with the rules for files.
        case fileRules(FileRulesAsk)
        case inspection(InspectionRequest)
        /// A search below the node that is read.
        case search(SearchRequest)
        /// How large the node is that is read.
        case size
    }

    init(
        _ exchange: HTTPExchange,
        _ request: ResolvedRequest,
        _ parameters: RESTParameters,
        _ database: DatabaseID,
        _ method: Route.Method = .get
    ) {
        self.exchange = exchange
        self.request = request
        self.parameters = parameters
        self.database = database
        self.method = method
    }

    /// What the headers say about tags.
    var conditions: RESTConditions {
        if case .data(let conditions) = subject { conditions } else { .none }
    }

    /// The location in the tree that the address names; the root when it names none.
    var target: WriteTarget {
        if case .target(let target) = request.location { return target }
        return WriteTarget(path: .root, isPriority: false)
    }

    /// Where the paths of a multi-path update begin.
    var path: Path { target.path }

    /// Calls `body` unless the answer is given within this time.
    func limit(to timeout: Duration, _ body: @escaping @LoopActor () -> Void) {
        timer = EventLoop.shared.after(timeout, body)
    }

    func cancelTimer() {
        timer?.cancel()
        timer = nil
    }

    /// Whether an answer is too large to be written between two looks at the sockets.
    func isLarge(_ node: Node) -> Bool {
        if parameters.print == .silent { return false }
        // Of a child that only its key is shown of, the rest does not count.
        if parameters.isShallow, node.isMap { return node.childCount >= Self.largeNodeCount }
        return node.weight(upTo: Self.largeNodeCount) >= Self.largeNodeCount
    }

    /// Whether the values of an update, together, are too large for that.
    func isLarge(_ entries: [(WriteTarget, Node)]) -> Bool {
        if parameters.print == .silent { return false }
        var left = Self.largeNodeCount
        for (_, node) in entries {
            left -= 1 + node.weight(upTo: left)
            if left <= 0 { return true }
        }
        return false
    }
}
