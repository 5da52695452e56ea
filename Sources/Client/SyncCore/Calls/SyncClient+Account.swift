import JSONTree
import WireProtocol

extension SyncClient {
    /// A user signed in or out, or the token was refreshed. Pending writes and cached data belong to `owner`, the last
    /// signed-in account. They are dropped when another account signs in, and when the owner signs out. Writes made
    /// while signed out go to the account that signs in next, as in the official clients. After a restart the owner is
    /// the account of the disk cache. A missing account then may only mean that it is not known yet, so the first named
    /// account decides.
    func changeCredential(_ token: String?, _ account: String?) {
        if account != nil || !isOwnerRestored { changeOwner(to: account) }
        withLink { $0.credentialChanged(token, now: $1) }
    }

    private func changeOwner(to account: String?) {
        isOwnerRestored = false
        if account == owner { return }
        if owner != nil {
            cancelWrites()
            withTree { $0.forgetAll(&$1) }
        }
        owner = account
        store(.account(account))
    }

    /// Takes over the content of the disk cache: first the data, then the writes over it, oldest first. Increments are
    /// computed again. A refused write becomes a warning.
    func restore(_ state: StoredState) {
        owner = state.account
        isOwnerRestored = owner != nil
        withTree { $0.restore(state.listens, &$1) }
        for (id, write) in state.writes.sorted(by: { $0.id < $1.id }) {
            skipWriteIDs(through: id)
            begin(id, write, nil)
        }
    }
}
