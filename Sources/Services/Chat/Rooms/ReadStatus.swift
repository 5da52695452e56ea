public import Foundation
import Social

/// How far a member has read a room: `readStatus/{r}/{uid}`.
public struct ReadStatus: Equatable, Sendable {
    /// The member.
    public let uid: String
    /// The key of the newest event that they have seen.
    public let upTo: String
    /// When they did, by the server's clock.
    public let at: Date
}

extension ReadStatus: Record {
    package init(key: String, stored: Fields) throws {
        uid = key
        upTo = try stored.text("upTo")
        at = Date(timeIntervalSince1970: try stored.time("at") / 1000)
    }
}
