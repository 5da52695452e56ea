package import EventProtocol
package import JSONTree
package import RulesTools
package import SecurityRules
package import WireProtocol

/// What the shell must now do, in order.
///
/// Large and rare payloads are indirect, since every effect is as large as the largest.
package enum Effect: Sendable {
    /// One message for many receivers, encoded once.
    case send(OutgoingMessage, to: [ConnectionID])
    /// One text for many receivers, in which only a number differs; encoded once but for that.
    case sendNumbered(NumberedText, to: [NumberedReceiver])
    /// Ends a connection after all that was sent to it.
    case close(ConnectionID, CloseReason)
    indirect case respond(RequestID, Response)
    /// Makes a commit durable, then reports `Input.flushed`.
    case append(CommitRecord)
    /// Sends a message of a client, as it came, to the owner of the group, in a session that begins with the first one,
    /// then reports `Input.owner`. An empty one only begins the session.
    case forward([UInt8], from: ConnectionID)
    /// Checks a credential, then reports `Input.verified`.
    case verify(InquiryID, token: String)
    /// Does long work away from the loop, then reports `Input.worked`.
    case work(InquiryID, LongWork)
    /// No request waits for this work any more: it need not be done or reported.
    case endWork(InquiryID)
    /// Gives the memory of a large tree back away from the loop.
    case release(Node)
    indirect case note(Note)
    /// An operation was done, while the profiler is on.
    indirect case profiled(DatabaseID, OperationRecord)
    /// The rules decided, while decisions are inspected.
    indirect case decided(DatabaseID, DecisionRecord)
    /// Why a request is refused, ahead of its answer; for its client.
    case explain(RequestID, String)
}

/// A message to a client.
package enum OutgoingMessage: Sendable {
    case text([UInt8])
    /// A value too large to be encoded at once; written from its snapshot as the socket drains.
    indirect case stream(StreamedMessage)
    /// The same for the plain event protocol.
    indirect case event(StreamedEvent)
    /// Many events of one observer, made from snapshots as the socket drains.
    indirect case events(EventStream)
    /// Events of event streams, one or several.
    case serverSent([UInt8])
    /// An event with large values, written from their snapshots as the socket drains.
    indirect case serverSentStream(StreamedServerSentEvent)
}

/// A message that is the same for all receivers but for one number: `text`, the number, `ending`.
///
/// The number is the tag of a listen or the id of an observer.
package struct NumberedText: Sendable {
    package let text: [UInt8]
    package let ending: [UInt8]

    package init(text: [UInt8], ending: [UInt8]) {
        self.text = text
        self.ending = ending
    }

    /// The message of the receivers with this number.
    package func whole(_ number: Int64) -> [UInt8] { text + Array(String(number).utf8) + ending }
}

/// Who receives a `NumberedText`, and with which number.
package struct NumberedReceiver: Equatable, Sendable {
    package let connection: ConnectionID
    package let number: Int64

    package init(connection: ConnectionID, number: Int64) {
        self.connection = connection
        self.number = number
    }
}

extension NumberedReceiver {
    /// The connections that share a number, numbers in ascending order.
    static func byNumber(
        _ receivers: [NumberedReceiver]
    ) -> [(number: Int64, connections: [ConnectionID])] {
        let groups = Dictionary(grouping: receivers, by: \.number)
        return groups.keys.sorted().map { number in
            (number, (groups[number] ?? []).map(\.connection))
        }
    }
}

/// Why the server ends a connection.
package enum CloseReason: Sendable, Equatable {
    /// A new connection named this session as its last one.
    case replaced
    case tokenExpired
    /// Its credential was revoked.
    case tokenRevoked
    /// The rules no longer allow what an event stream shows.
    case permissionDenied
    case tooManyParkedMessages
    case unknownDatabase
    /// The owner of the group that had requests of it is gone, or is this node now.
    case ownerLost
    /// An administrator has ended it.
    case ended
    case shutDown
}

/// The outcome of a `Request`.
package enum Response: Sendable {
    case value(Node, EntityTag?)
    /// The request's own connection gets events from here on.
    case streaming(ConnectionID)
    case written(Node, EntityTag?)
    /// The resolved values of a multi-path update, in the order of its entries; the tag is that of the node
    /// where their paths begin.
    case merged([(WriteTarget, Node)], EntityTag?)
    /// The tag is that of the new child.
    case pushed(Key, EntityTag?)
    /// A condition does not hold: the present node, and its tag.
    case mismatch(Node, EntityTag)
    case rules(Ruleset)
    case settings(DatabaseSettings)
    /// The oldest first; the last one is in force.
    case rulesHistory([RulesVersion])
    /// The version of the rules that is in force now, 0 for none of its own.
    case rulesPut(version: Int)
    /// Another version is in force than was expected, none if nil; nothing is changed.
    case rulesMismatch(RulesVersion?)
    case done
    case simulated(SimulationAnswer)
    /// The profiler may watch, until the term is over.
    case mayProfile(until: CredentialTerm)
    case mayInspect
    /// What decisions under the rules in force have consulted.
    indirect case coverage(Coverage)
    indirect case shadow(ShadowReport)
    case mayBackUp
    /// In order of their names.
    case databases([DatabaseID])
    case status([DatabaseSummary])
    case permissionDenied
    /// The query orders by something that the rules do not index; the text says what to add.
    case notIndexed(String)
    case badCredential(CredentialRefusal)
    case unknownDatabase
    case refused(RequestRefusal)
}

/// Something worth a line in the log.
package enum Note: Sendable {
    case onDisconnectRefused(DatabaseID, path: String, session: SessionID)
    /// Other rules are in force: a version of the database's own, or those of a file.
    case rulesReplaced(DatabaseID, RulesVersion?)
    /// An administrator's request of clients' data, rules or settings is about to be done.
    case administered(RequestID, DatabaseID)
    /// An administrator has done something over a connection with a session.
    case sessionAct(ConnectionID, DatabaseID, by: String, AdministratorAct)
    /// A request is refused since a rule met a hard limit (`Decision.overLimit`), whether or not
    /// decisions are inspected.
    case overLimit(DatabaseID, DecisionRecord)
}

/// How data is changed.
package enum WriteKind: String, Sendable {
    case set, update, push, remove
    /// Stored, to be done when the session ends.
    case onDisconnect
}

/// What an administrator does in a session.
package enum AdministratorAct: Sendable, Equatable {
    /// Changes data at a path, at once or for when the session ends; the bytes are those of the new values, as the log
    /// keeps them.
    case write(WriteKind, Path, byteCount: Int)
    /// Gets, or listens to, everything in the database.
    case readAll
}
