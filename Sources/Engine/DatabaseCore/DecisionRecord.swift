package import JSONTree
package import Queries
package import SecurityRules

/// One decision of the rules as it was made, with its reasons.
///
/// Made only while decisions are inspected. Texts are made of it later: that takes longer than to decide.
package struct DecisionRecord: Sendable {
    /// What was asked for.
    package enum Operation: String, CaseIterable, Sendable {
        /// A value, once.
        case read
        /// A value and its changes, first asked for.
        case listen
        /// An existing listen, authorized again: data, rules or its session's auth have changed.
        case recheck
        case set
        /// A multi-path update.
        case update
        /// A write that is done only if the client saw the present data.
        case transaction
        /// A write to keep for the end of the session.
        case onDisconnect = "on-disconnect"
        /// Such a write when the session has ended.
        case atDisconnect = "at-disconnect"
    }

    /// The way it came to the server.
    package enum Channel: String, Sendable {
        case wire, events, stream, rest
        /// The session has ended.
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
    /// Nil for a signed-out client.
    package let auth: AuthVariable?
    /// The `now` of the rules.
    package let time: Timestamp
    /// With its trace, and the value of each sub-expression.
    package let decision: Decision
    /// The rules that decided.
    package let rules: Ruleset
    /// Why it is refused, for people, where clients get the reason.
    package var explanation: String?

    /// Targets of an update that are named.
    package static let listedTargets = 20
}

/// Who asks the rules, and for which operation.
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
        self.init(session.identity, .session(session), operation)
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
