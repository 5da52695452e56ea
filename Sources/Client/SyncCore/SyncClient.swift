package import JSONTree
import WireProtocol

/// How a client is set up.
package struct SyncOptions: Sendable {
    /// The server and the database.
    package var address: LinkAddress
    /// The client's name in usage counters: `sdk.swift.1-0-0`.
    package var agent: String
    /// For waits between tries to connect.
    package var seed: UInt64
    /// Whether `Effect.store` is given.
    package var isStored: Bool
    /// Milliseconds that a read waits for a connection.
    package var getTimeout = SyncLimits.getTimeout

    /// Makes options.
    package init(address: LinkAddress, agent: String, seed: UInt64, isStored: Bool) {
        self.address = address
        self.agent = agent
        self.seed = seed
        self.isStored = isStored
    }
}

/// A client of one database: the state machine. It joins three parts: the tree (known and shown data), the link
/// (messages to the server) and the app's open operations (writes, transactions, on-disconnect writes). A step passes
/// its input to one of them, then the consequences to the next, oldest first, until there are none. Connects with the
/// first call that needs the server, or when writes were restored; an observer of `.info` is such a call, since it
/// observes the connection.
package final class SyncClient {
    let isStored: Bool
    let tree: SyncTree
    let info = InfoTree()
    var link: Link

    /// The time of the step under way.
    var now = Timestamp(milliseconds: 0)
    var effects: [Effect] = []

    /// Milliseconds that the server's clock is ahead of this one, if known.
    var serverTimeOffset: Int64 = 0
    /// The account that owns pending writes and cached data; nil for none, or while it is unknown.
    var owner: String?
    /// Whether the owner comes only from the disk cache: no user has signed in since the start.
    var isOwnerRestored = false

    private var lastWriteID = WriteID(0)
    private var lastInnerObserver = SyncClient.firstInnerObserver
    private var lastOnDisconnectID: Int64 = 0

    /// Writes without an answer; those of transactions are in `transactions`.
    var openWrites: [WriteID: OpenWrite] = [:]
    var transactions = TransactionQueue()
    var onDisconnectRequests: [OnDisconnectID: OnDisconnectRequest] = [:]
    /// The writes that the server will make when the connection is lost.
    var onDisconnectTree = OnDisconnectTree()
    var gets: [CallID: ListenTarget] = [:]
    /// Silent observers that keep a listen alive for `keepSynced`.
    var keptSynced: [ListenTarget: ObserverID] = [:]

    /// Makes a client that has done nothing yet.
    package init(_ options: SyncOptions) {
        isStored = options.isStored
        link = Link(address: options.address, agent: options.agent, seed: options.seed)
        link.getTimeout = options.getTimeout
        tree = SyncTree(isStored: options.isStored)
    }

    /// Applies one input and appends the effects for the shell, in order. Pure: equal state, `input` and `now` give
    /// equal effects.
    package func step(_ input: Input, now: Timestamp, effects: inout [Effect]) {
        self.now = now
        take(input)
        while !link.news.isEmpty {
            let batch = link.news
            link.news = []
            for news in batch { receive(news) }
        }
        effects += self.effects
        self.effects = []
    }

    private func take(_ input: Input) {
        let tree = tree
        switch input {
        case .call(let call): perform(call)
        case .opened(let socket): withLink { $0.opened(socket, now: $1) }
        case .received(let socket, let frame):
            withLink { $0.received(socket, frame, now: $1) { tree.hash($0) } }
        case .closed(let socket, let reason):
            withLink { $0.closed(socket, reason: reason, now: $1) }
        case .tokenFetched(let answer):
            withLink { $0.tokenFetched(answer, now: $1) { tree.hash($0) } }
        case .credentialChanged(let token, let account): changeCredential(token, account)
        case .woke: withLink { $0.woke(now: $1) }
        case .restored(let state): restore(state)
        }
    }
}

// MARK: The parts

extension SyncClient {
    /// Runs a step of the link, and takes over its effects. Its news waits in the link.
    func withLink(_ body: (inout Link, Timestamp) -> Void) {
        body(&link, now)
        effects += link.effects
        link.effects = []
    }

    /// Runs a change of the tree, then stores, reports and sends the consequences.
    func withTree(_ body: (SyncTree, inout TreeOutput) -> Void) {
        var output = TreeOutput()
        body(tree, &output)
        for change in output.stored { effects.append(.store(change)) }
        tell(output.events)
        for change in output.listens { pass(change) }
    }

    /// Notifies observers. The client's own get no events; they are removed when the server refuses.
    func tell(_ events: [(observer: ObserverID, event: ObservedEvent)]) {
        for (observer, event) in events {
            if observer < SyncClient.firstInnerObserver {
                effects.append(.tell(observer, event))
            } else if let kept = keptSynced.first(where: { $0.value == observer }) {
                keptSynced[kept.key] = nil
            }
        }
    }

    private func pass(_ change: ListenChange) {
        switch change {
        case .start(let target, let tag):
            let hash = tree.hash(target)
            withLink { $0.listen(target, tag: tag, hash: hash, now: $1) }
        case .stop(let target, let tag): withLink { $0.unlisten(target, tag: tag, now: $1) }
        }
    }

    func store(_ change: StoreChange) {
        if isStored { effects.append(.store(change)) }
    }

    /// Reports the outcome of a call, if one waits for it.
    func finish(_ call: CallID?, _ outcome: Outcome) {
        if let call { effects.append(.finish(call, outcome)) }
    }
}

// MARK: Names

extension SyncClient {
    /// Observers of the client itself have names from here on; those of the app are counted up from 1.
    static let firstInnerObserver = ObserverID(1 << 63)

    func nextInnerObserver() -> ObserverID {
        lastInnerObserver = ObserverID(lastInnerObserver.value + 1)
        return lastInnerObserver
    }

    func nextWriteID() -> WriteID {
        lastWriteID = WriteID(lastWriteID.value + 1)
        return lastWriteID
    }

    /// Later writes have greater numbers than this one.
    func skipWriteIDs(through id: WriteID) { lastWriteID = max(lastWriteID, id) }

    func nextOnDisconnectID() -> OnDisconnectID {
        lastOnDisconnectID += 1
        return OnDisconnectID(value: lastOnDisconnectID)
    }

    var serverTime: Timestamp { Timestamp(milliseconds: now.milliseconds + serverTimeOffset) }
}
