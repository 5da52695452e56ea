package import JSONTree
package import SecurityRules
package import WireProtocol

/// What the shell must now do, in order.
///
/// Large and rare payloads are indirect, since every effect is as large as the largest.
package enum Effect: Sendable {
    /// One message for many receivers, encoded once.
    case send(OutgoingMessage, to: [ConnectionID])
    /// Ends a connection after all that was sent to it.
    case close(ConnectionID, CloseReason)
    indirect case respond(RequestID, Response)
    /// Makes a commit durable, then reports `Input.flushed`.
    case append(CommitRecord)
    /// Checks a credential, then reports `Input.verified`.
    case verify(InquiryID, token: String)
    /// Hashes a node away from the loop, then reports `Input.hashed`.
    case hash(InquiryID, Node)
    /// Gives the memory of a large tree back away from the loop.
    case release(Node)
    indirect case note(Note)
}

/// A message to a client.
package enum OutgoingMessage: Sendable {
    case text([UInt8])
    /// A value too large to be encoded at once; written from its snapshot as the socket drains.
    indirect case stream(StreamedMessage)
}

/// Why the server ends a connection.
package enum CloseReason: Sendable, Equatable {
    /// A new connection named this session as its last one.
    case replaced
    case tokenExpired
    case tooManyParkedMessages
    case unknownDatabase
    case shutDown
}

/// The outcome of a `Request`.
package enum Response: Sendable {
    case value(Node)
    case written(Node)
    /// The resolved values of a multi-path update, in the order of its entries.
    case merged([(WriteTarget, Node)])
    case pushed(Key)
    case rules(String)
    case done
    case simulated(Decision, newData: Node?)
    case status([DatabaseSummary])
    case permissionDenied
    /// The query orders by something that the rules do not index; the text says what to add.
    case notIndexed(String)
    case badCredential(CredentialRefusal)
    case unknownDatabase
    case refused(WriteRefusal)
}

/// Why a well-formed write, by somebody who may write, is not done.
package enum WriteRefusal: Error, Sendable, Equatable {
    /// The disk is below its reserve.
    case noSpace
    /// The disk is too slow for what is asked of it.
    case logBehind
    /// The value would reach below the greatest depth.
    case tooDeep
    case tooManyEntries
    /// The log has no room for so large a commit.
    case tooLarge
}

/// Something worth a line in the log.
package enum Note: Sendable {
    case onDisconnectRefused(DatabaseID, path: String, session: SessionID)
    case rulesReplaced(DatabaseID)
}
