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
    /// Somebody signed in or out, or the token was refreshed.
    ///
    /// `account` says who; nil: nobody, as far as is known. When another account signs in than the one
    /// before, or that one signs out, its pending writes are cancelled and what was cached for it is forgotten.
    case credentialChanged(token: String?, account: String?)
    /// The time that `Effect.wake` asked for has come.
    case woke
    /// What the disk cache held; at most once, and the first of all inputs.
    case restored(StoredState)
}

/// The answer to `Effect.fetchToken`.
package enum TokenAnswer: Sendable {
    /// A token to send with `auth`.
    case token(String)
    /// Nobody is signed in: the connection goes on without.
    case nobody
    /// The token could not be had now; the connection is tried again later.
    case unavailable(String)
}

/// What the app asks for. Everything inside is checked: paths, keys and values are legal.
package enum Call: Sendable {
    /// Tell an observer from now on, first what is there.
    case observe(Observer)
    /// Tell it nothing more.
    case stopObserving(ObserverID)
    /// Replace a node, or its priority. Without a call nobody is told the outcome.
    case set(WriteTarget, Draft, CallID?)
    /// Replace several places below a path at once.
    case update(Path, [MergeEntry], CallID?)
    /// Read once, from the server if it can be reached.
    case get(ListenTarget, CallID)
    /// Change a node by a function of what it holds.
    case runTransaction(TransactionRequest)
    /// Write when the connection is lost.
    case onDisconnectSet(WriteTarget, Draft, CallID?)
    /// Write several places when the connection is lost.
    case onDisconnectUpdate(Path, [MergeEntry], CallID?)
    /// Forget what is to be written at a path and below it when the connection is lost.
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

/// Who is told of what.
package struct Observer: Sendable {
    /// Its name.
    package let id: ObserverID
    /// What it looks at.
    package let target: ListenTarget
    /// What it is told.
    package let kinds: ObservedKinds

    /// Makes an observer.
    package init(id: ObserverID, target: ListenTarget, kinds: ObservedKinds) {
        self.id = id
        self.target = target
        self.kinds = kinds
    }
}

/// Kinds of events that an observer is told; cancels are told to all.
package struct ObservedKinds: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

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

/// A change of a node by a function of what it holds.
package struct TransactionRequest: Sendable {
    /// The node.
    package let path: Path
    /// Whether observers of this client see the result before the server has accepted it.
    package let appliesLocally: Bool
    /// Makes of what is there (absent if unknown) what shall be there; nil gives up. Called again
    /// when something else turns out to be there.
    package let update: @Sendable (Node) -> Draft?
    /// Who is told.
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
