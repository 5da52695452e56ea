import Foundation
public import Records

/// Who is writing something just now.
extension RoomService {
    /// Shows the others that this user is typing, until `stopTyping(in:)`, a message, or the end of the connection.
    ///
    /// Said again it does nothing, so it may be called at every key; any service of this user at this database ends it.
    /// After a cut the next connection shows it again. Without a connection nothing is shown, and nothing waits.
    public func startTyping(in room: String) async throws {
        let room = try room.key("room")
        try await ServiceError.naming("be seen typing in this room") {
            try await typings.begin(in: room)
        }
    }

    /// Shows it no more.
    public func stopTyping(in room: String) { typings.end(in: room) }

    /// Tells which accounts are typing, sorted and without the own one, now and whenever that changes. Members see it.
    ///
    /// Somebody who was put out while typing is among them until their connection ends: the members of the room are in
    /// `observeRoom`.
    public func observeTyping(
        in room: String,
        with block: @escaping @Sendable ([String]) -> Void,
        withCancel cancelBlock: (@Sendable (ServiceError) -> Void)? = nil,
    ) -> Observation {
        let own = me.uid
        return observe(
            database.reference(withPath: "typing/\(room)"),
            to: "see who is typing in this room",
            with: { block($0.keys.filter { $0 != own }) },
            withCancel: cancelBlock,
        )
    }
}
