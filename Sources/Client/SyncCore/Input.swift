package import JSONTree
package import WireProtocol

/// Everything that can happen to a client.
package enum Input: Sendable {
    /// The app asks for something.
    case call(Call)
    /// The WebSocket handshake of a socket is done.
    case opened(SocketID)
    /// One whole text frame arrived.
    case received(SocketID, frame: [UInt8])
    /// A socket is gone, or could not be opened; the last input of this socket.
    case closed(SocketID, reason: String)
    /// The answer to `Effect.fetchToken`.
    case tokenFetched(TokenAnswer)
    /// A user signed in or out, or the token was refreshed. `account` is the user; nil: none is known. When another
    /// account signs in, or the present one signs out, its pending writes are cancelled and its cache is deleted.
    case credentialChanged(token: String?, account: String?)
    /// The time that `Effect.wake` asked for has come.
    case woke
    /// The content of the disk cache; at most once, as the first input.
    case restored(StoredState)
}

/// The answer to `Effect.fetchToken`.
package enum TokenAnswer: Sendable {
    /// A token to send with `auth`.
    case token(String)
    /// No user is signed in: the connection continues without a token.
    case noUser
    /// The token could not be had now; the connection is tried again later.
    case unavailable(String)
}

/// A call of the app. Everything inside is checked: paths, keys and values are legal.
package enum Call: Sendable {
    /// Notify an observer from now on, first of the present data.
    case observe(Observer)
    /// Stop notifying an observer.
    case stopObserving(ObserverID)
    /// Replace a node, or its priority. Without a call, no outcome is reported.
    case set(WriteTarget, Draft, CallID?)
    /// Replace several locations below a path at once.
    case update(Path, [MergeEntry], CallID?)
    /// Read once, from the server if it can be reached.
    case get(ListenTarget, CallID)
    /// Change a node by a function of its present value.
    case runTransaction(TransactionRequest)
    /// Write when the connection is lost.
    case onDisconnectSet(WriteTarget, Draft, CallID?)
    /// Write several locations when the connection is lost.
    case onDisconnectUpdate(Path, [MergeEntry], CallID?)
    /// Remove the on-disconnect writes at a path and below it.
    case onDisconnectCancel(Path, CallID?)
    /// Listen without an observer, or stop doing so.
    case keepSynced(ListenTarget, Bool)
    /// Give up all writes that are not acknowledged.
    case purgeOutstandingWrites
    /// Close the connection and open none.
    case goOffline
    /// Undo `goOffline`.
    case goOnline
}

/// An observer and the events it receives.
package struct Observer: Sendable {
    /// Its name.
    package let id: ObserverID
    /// The path and query that it observes.
    package let target: ListenTarget
    /// The kinds of events that it receives.
    package let kinds: ObservedKinds

    /// Makes an observer.
    package init(id: ObserverID, target: ListenTarget, kinds: ObservedKinds) {
        self.id = id
        self.target = target
        self.kinds = kinds
    }
}

/// The kinds of events that an observer receives; all receive cancellations.
package struct ObservedKinds: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let value = ObservedKinds(rawValue: 1)
    package static let childAdded = ObservedKinds(rawValue: 2)
    package static let childRemoved = ObservedKinds(rawValue: 4)
    package static let childChanged = ObservedKinds(rawValue: 8)
    package static let childMoved = ObservedKinds(rawValue: 16)
    /// All kinds of child events.
    package static let children: ObservedKinds = [
        .childAdded, .childRemoved, .childChanged, .childMoved,
    ]
}

/// A change of a node by a function of its present value.
package struct TransactionRequest: Sendable {
    /// The node.
    package let path: Path
    /// Whether observers of this client see the result before the server has accepted it.
    package let appliesLocally: Bool
    /// Returns the new value for the present one (absent if unknown); nil aborts. Called again when the present value
    /// turns out to be different.
    package let update: @Sendable (Node) -> Draft?
    /// The call that receives the outcome.
    package let call: CallID

    /// Makes a request.
    package init(
        path: Path,
        appliesLocally: Bool,
        call: CallID,
        update: @escaping @Sendable (Node) -> Draft?,
    ) {
        self.path = path
        self.appliesLocally = appliesLocally
        self.call = call
        self.update = update
    }
}
