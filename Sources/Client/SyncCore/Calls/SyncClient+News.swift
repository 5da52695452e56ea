import JSONTree
import WireProtocol

extension SyncClient {
    /// Passes the link's news to those whom it concerns.
    func receive(_ news: LinkNews) {
        switch news {
        case .connected(let offset): connected(offset)
        case .disconnected: disconnected()
        case .put(let target, let node, let tag):
            withTree { $0.apply(target, node, tag: tag, &$1) }
            rerunTransactions(around: target.path)
        case .merge(let base, let locations, let tag):
            withTree { $0.merge(base, locations, tag: tag, &$1) }
            rerunTransactions(around: base)
        case .rangeMerge(let base, let ranges, let tag):
            withTree { $0.mergeRanges(base, ranges, tag: tag, &$1) }
            rerunTransactions(around: base)
        case .listening(let target, let tag, let isUnindexed):
            withTree { $0.listenAnswered(target, tag: tag, isUnindexed: isUnindexed, &$1) }
            rerunTransactions(around: target.path)
        case .earlierListenAnswered(let target): tree.earlierListenAnswered(target)
        case .revoked(let target, let failure):
            effects.append(.warn(.listenRefused(target.path, failure)))
            withTree { $0.revoke(target, failure, &$1) }
        case .written(let id, let failure): written(id, failure)
        case .stale(let id): transactionStale(id)
        case .got(let call, let result): got(call, result)
        case .onDisconnect(let id, let failure): onDisconnectAnswered(id, failure)
        }
    }

    private func connected(_ offset: Int64) {
        serverTimeOffset = offset
        tell(info.set(Node(integer: offset), at: .infoServerTimeOffset))
        tell(info.set(Node(true), at: .infoConnected))
    }

    /// `.info/connected` is reported before the changes by on-disconnect writes, as in the official clients.
    private func disconnected() {
        tell(info.set(Node(false), at: .infoConnected))
        runOnDisconnectWrites()
    }
}
