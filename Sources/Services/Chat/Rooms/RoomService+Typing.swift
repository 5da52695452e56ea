import Foundation
public import Social

extension RoomService {
    /// Shows the others that this user is typing, until `stopTyping(in:)`, a message, or the end of the connection.
    ///
    /// Repeated calls do nothing, so call it at every key. Any service of this user at this database can stop it.
    /// After a cut, the next connection shows it again. Without a connection nothing is shown, and nothing waits.
    public func startTyping(in room: String) async throws {
        let room = try room.key("room")
        try await ServiceError.naming("be seen typing in this room") {
            try await typings.begin(in: room)
        }
    }

    /// Shows it no more.
    public func stopTyping(in room: String) { typings.end(in: room) }

    /// Reports the accounts that are typing, sorted and without the user's own, now and after each change. Only
    /// members may see it.
    ///
    /// A person who was removed while typing stays included until their connection ends: `observeRoom` has the members.
    public func observeTyping(
        in room: String,
        with block: @escaping @Sendable ([String]) -> Void,
        withCancel cancelBlock: (@Sendable (ServiceError) -> Void)? = nil,
    ) -> Observation {
        let own = me.uid
        return database.reference(withPath: "typing/\(room)").observe(
            to: "see who is typing in this room",
            with: { block($0.keys.filter { $0 != own }) },
            withCancel: cancelBlock,
        )
    }
}
