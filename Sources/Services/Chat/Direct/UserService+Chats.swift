internal import HearthDatabase
public import Social

extension UserService {
    /// Reports a user's direct chats, newest first, now and after each change.
    ///
    /// The owner of the chats is the acting user by default; others may not read them. Calls come on
    /// `database.callbackQueue`, with all valid chats, and the faults of the others. `withCancel` is called once, when
    /// the rules deny access, now or later. Nothing arrives after `remove()`.
    public func observeChats(
        for uid: String? = nil,
        with block: @escaping @Sendable (Listing<DirectChat>) -> Void,
        withCancel cancelBlock: (@Sendable (ServiceError) -> Void)? = nil,
    ) -> Observation {
        database.reference(withPath: "chats").child(uid ?? self.uid).observe(
            to: "see the chats of another",
            with: { snapshot in
                var listing = snapshot.records(as: DirectChat.self)
                listing.records.sort { $0.isNewer(than: $1) }
                block(listing)
            },
            withCancel: cancelBlock,
        )
    }
}
