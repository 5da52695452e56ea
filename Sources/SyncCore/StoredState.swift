package import JSONTree
package import WireProtocol

/// What the disk cache keeps of one client.
package struct StoredState: Sendable {
    /// Writes that the server has not acknowledged, oldest first.
    package var writes: [(id: WriteID, write: StoredWrite)]
    /// Server data of listens, those used longest ago first.
    package var listens: [StoredListen]
    /// Whose all this is, as `StoreChange.account` said last; nil for nobody's.
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
    case update(Path, [MergeEntry])
}

/// The server data of one listen.
package struct StoredListen: Sendable {
    /// What was listened to.
    package let target: ListenTarget
    /// What the server had there, of a query what it selects; complete.
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

/// One change of what the disk cache keeps. Applied in order.
package enum StoreChange: Sendable {
    /// A write is pending.
    case saveWrite(WriteID, StoredWrite)
    /// A write is acknowledged, refused or given up.
    case removeWrite(WriteID)
    /// The server data of a listen is this as a whole.
    case saveListen(ListenTarget, Node)
    /// Children of the server data of a listen are these; absent ones are gone. The listen is kept.
    case saveChildren(ListenTarget, [(key: Key, node: Node)])
    /// A listen is in use, or no longer: those unused longest are dropped when room is short.
    case useListen(ListenTarget, isActive: Bool)
    /// The server data of a listen is of no use any more.
    case removeListen(ListenTarget)
    /// Everything is forgotten: another account.
    case removeAll
    /// What is kept belongs to this account from now on; nil for nobody. Not part of `removeAll`.
    case account(String?)
}
