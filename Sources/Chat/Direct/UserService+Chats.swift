internal import HearthDatabase
public import SocialGraph

extension UserService {
    /// Tells of a user's direct chats, newest first, now and whenever one changes.
    ///
    /// Called on `database.callbackQueue`, as is `withCancel`, once, when the rules do not allow it (any more).
    /// - Parameters:
    ///   - uid: Whose chats; nobody sees another's. The user who acts if nobody is named.
    ///   - block: Gets all chats that make sense, and what is wrong with the others.
    ///   - cancelBlock: Gets why there will be no more.
    /// - Returns: The handle and the reference; nothing arrives after `remove()`.
    public func observeChats(
        for uid: String? = nil,
        with block: @escaping @Sendable (Listing<DirectChat>) -> Void,
        withCancel cancelBlock: (@Sendable (ServiceError) -> Void)? = nil,
    ) -> Observation {
        let chats = database.reference(withPath: "chats").child(uid ?? self.uid)
        let handle = chats.observe(
            .value,
            with: { snapshot in
                var listing = snapshot.records(as: DirectChat.self)
                listing.records.sort { $0.isNewer(than: $1) }
                block(listing)
            },
            withCancel: { cancelBlock?(ServiceError($0, purpose: "see the chats of another")) },
        )
        return Observation(chats, handle)
    }
}
