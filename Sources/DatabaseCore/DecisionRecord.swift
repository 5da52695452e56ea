package import JSONTree
package import Queries
package import SecurityRules

/// One decision of the rules as it was made, for whoever looks for the reason.
///
/// Made only while decisions are inspected; kept as it is, since to write it out takes longer than to
/// decide.
package struct DecisionRecord: Sendable {
    /// What was asked for.
    package enum Operation: String, CaseIterable, Sendable {
        /// A value, once.
        case read
        /// A value and what becomes of it, first asked for.
        case listen
        /// A listen that is there, judged again: data, rules or its session's auth have changed.
        case recheck
        case set
        /// A multi-path update.
        case update
        /// A write that counts only if the client saw what is there.
        case transaction
        /// A write to be kept for the end of the session.
        case onDisconnect = "on-disconnect"
        /// Such a write when the session has ended.
        case atDisconnect = "at-disconnect"
    }

    /// How it came to the server.
    package enum Channel: String, Sendable {
        case wire, events, stream, rest
        /// Nobody is there any more: the session has ended.
        case ended
    }

    package let operation: Operation
    package let channel: Channel
    /// Nil for a request that has no session, and when that has ended.
    package let connection: ConnectionID?
    /// What is read or written; of an update, where its paths begin.
    package let target: WriteTarget
    /// The targets of an update, the first `listedTargets` of them; else empty.
    package let targets: [WriteTarget]
    /// How many targets the update has; 1 for everything else.
    package let targetCount: Int
    /// The entry of an update that was refused.
    package let deniedTarget: WriteTarget?
    /// Nil for everything at the path.
    package let query: QuerySpec?
    /// Nil for nobody.
    package let auth: AuthVariable?
    /// The `now` of the rules.
    package let time: Timestamp
    /// With its trace, and the value of each sub-expression.
    package let decision: Decision
    /// The rules that decided.
    package let rules: Ruleset
    /// Why it is refused, for people, where that is told to clients.
    package var explanation: String?

    /// Targets of an update that are named.
    package static let listedTargets = 20
}

/// Who asks the rules, and what for.
struct Requester {
    enum Source {
        case session(Session)
        case request(RequestID)
        /// An event stream, which begins as a request.
        case stream(RequestID)
        case ended
    }

    let identity: Identity
    let source: Source
    let operation: DecisionRecord.Operation

    init(_ session: Session, _ operation: DecisionRecord.Operation) {
        identity = session.identity
        source = .session(session)
        self.operation = operation
    }

    init(_ identity: Identity, _ source: Source, _ operation: DecisionRecord.Operation) {
        self.identity = identity
        self.source = source
        self.operation = operation
    }

    var channel: DecisionRecord.Channel {
        switch source {
        case .session(let session):
            switch session.dialect {
            case .wire: .wire
            case .events: .events
            case .serverSent: .stream
            }
        case .request: .rest
        case .stream: .stream
        case .ended: .ended
        }
    }

    var connection: ConnectionID? {
        if case .session(let session) = source { session.connection } else { nil }
    }
}

/// How often the rules have refused what.
package struct RefusalCounts: Sendable {
    private var counts = [Int](repeating: 0, count: DecisionRecord.Operation.allCases.count)

    init() {}

    package subscript(operation: DecisionRecord.Operation) -> Int {
        counts[operation.index]
    }

    mutating func count(_ operation: DecisionRecord.Operation) {
        counts[operation.index] += 1
    }
}

extension DecisionRecord.Operation {
    fileprivate var index: Int {
        switch self {
        case .read: 0
        case .listen: 1
        case .recheck: 2
        case .set: 3
        case .update: 4
        case .transaction: 5
        case .onDisconnect: 6
        case .atDisconnect: 7
        }
    }
}
