public import Foundation
import Records

/// Up to which event a member has read a room: `readStatus/{r}/{uid}`.
public struct ReadStatus: Equatable, Sendable {
    /// The member.
    public let uid: String
    /// The key of the newest event that they have seen.
    public let upTo: String
    /// When they did, by the server's clock.
    public let at: Date
}

extension ReadStatus: Record {
    package struct Stored: Decodable {
        let upTo: String
        let at: Double
    }

    package init(key: String, stored: Stored) throws {
        guard !stored.upTo.isEmpty else { throw Nonsense("upTo: it is empty") }
        uid = key
        upTo = stored.upTo
        at = Date(timeIntervalSince1970: stored.at / 1000)
    }
}
