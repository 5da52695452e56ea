package import JSONTree
package import WireProtocol

/// A client's data in the disk cache.
package struct StoredState: Sendable {
    /// Writes that the server has not acknowledged, oldest first.
    package var writes: [(id: WriteID, write: StoredWrite)]
    /// Server data of listens, those used longest ago first.
    package var listens: [StoredListen]
    /// The account that owns all this, as of the last `StoreChange.account`; nil for none.
    package var account: String?

    /// Makes a state.
    package init(
        writes: [(id: WriteID, write: StoredWrite)] = [],
        listens: [StoredListen] = [],
        account: String? = nil,
    ) {
        self.writes = writes
        self.listens = listens
        self.account = account
    }
}

/// A write that the server has not acknowledged.
package enum StoredWrite: Sendable {
    case set(WriteTarget, Draft)
    /// Several locations, counted from the root, changed at once.
    case update(Path, [MergeEntry])

    /// The request that makes the write; with a hash, only over data of that hash.
    package func action(hash: String? = nil) -> ClientRequest.Action {
        switch self {
        case .set(let target, let draft): .put(target, draft, hash: hash)
        case .update(let base, let entries): .merge(base, entries, hash: hash)
        }
    }
}

/// The server data of one listen.
package struct StoredListen: Sendable {
    /// The path and query of the listen.
    package let target: ListenTarget
    /// The server's data, or what the query selects of it; complete.
    package let node: Node
    /// Whether it is kept synced, or was when last used.
    package let isActive: Bool

    /// Makes a stored listen.
    package init(target: ListenTarget, node: Node, isActive: Bool) {
        self.target = target
        self.node = node
        self.isActive = isActive
    }
}

/// One change of the disk cache. Applied in order.
package enum StoreChange: Sendable {
    /// A write is pending.
    case saveWrite(WriteID, StoredWrite)
    /// A write is acknowledged, refused or given up.
    case removeWrite(WriteID)
    /// Replaces all server data of a listen.
    case saveListen(ListenTarget, Node)
    /// Children of the server data of a listen are these; absent ones are gone. The listen is kept.
    case saveChildren(ListenTarget, [(key: Key, node: Node)])
    /// A listen is in use, or no longer: those unused longest are dropped when room is short.
    case useListen(ListenTarget, isActive: Bool)
    /// The server data of a listen is of no use any more.
    case removeListen(ListenTarget)
    /// Everything is forgotten: another account.
    case removeAll
    /// The stored data belongs to this account from now on; nil for none. Not part of `removeAll`.
    case account(String?)
}
