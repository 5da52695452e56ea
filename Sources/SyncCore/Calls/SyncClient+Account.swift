import JSONTree
import WireProtocol

extension SyncClient {
    /// Somebody signed in or out, or the token was refreshed.
    ///
    /// What is pending and cached belongs to `owner`, who was signed in last. It is given up when somebody else
    /// signs in, and when the owner signs out. What was written while nobody was signed in goes along with
    /// the account that signs in next, as in the official clients.
    ///
    /// After a restart the owner is the one that the disk cache was kept for. That nobody is signed in then
    /// may mean no more than that it is not known yet; so only the first account that is named decides.
    func changeCredential(_ token: String?, _ account: String?) {
        if account != nil || !isOwnerRestored { changeOwner(to: account) }
        let now = now
        withLink { $0.credentialChanged(token, now: now) }
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

    /// Takes up what the disk cache held: first the data, then the writes over it, oldest first.
    ///
    /// What increments make is worked out anew. A write that is refused becomes a warning.
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
