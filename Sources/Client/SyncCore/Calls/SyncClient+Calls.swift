import JSONTree
import WireProtocol

extension SyncClient {
    func perform(_ call: Call) {
        switch call {
        case .observe(let observer): observe(observer)
        case .stopObserving(let id): stopObserving(id)
        case .set(let target, let draft, let call): set(target, draft, call)
        case .update(let path, let entries, let call): update(path, entries, call)
        case .get(let target, let call): get(target, call)
        case .runTransaction(let request): runTransaction(request)
        case .onDisconnectSet(let target, let draft, let call): onDisconnectSet(target, draft, call)
        case .onDisconnectUpdate(let path, let entries, let call):
            onDisconnectUpdate(path, entries, call)
        case .onDisconnectCancel(let path, let call): onDisconnectCancel(path, call)
        case .keepSynced(let target, let isSynced): keepSynced(target, isSynced)
        case .purgeOutstandingWrites: cancelWrites()
        case .goOffline: withLink { $0.goOffline(now: $1) }
        case .goOnline: withLink { $0.goOnline(now: $1) }
        }
    }
}

extension SyncFailure {
    /// The error of writes under `.info`, which belongs to the client: they are refused here, and never sent.
    static let infoIsReadOnly = SyncFailure.refused(
        status: Status.permissionDenied.rawValue,
        message: "Permission denied"
    )
}
