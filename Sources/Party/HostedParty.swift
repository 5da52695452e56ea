public import Foundation
import Records

/// A party that its owner alone changes: `parties/{key}`.
public struct HostedParty: Equatable, Sendable {
    /// Where a guest stands.
    public enum Answer: Sendable {
        /// No answer yet, or none that the owner's client has applied.
        case invited
        /// `true`.
        case coming
        /// `false`; the guest does not see the party any more.
        case notComing
    }

    /// Its key.
    public let key: String
    /// Who gives it.
    public let owner: String
    /// What it is; 1 to 2,000 characters.
    public let description: String
    /// When it is.
    public let date: Date
    /// Who is asked, and what they said.
    public let guests: [String: Answer]
    /// Keys of its photos, in order.
    public let photos: [String]

    /// Who said yes, in order of their ids.
    public var confirmedGuests: [String] {
        guests.filter { $0.value == .coming }.keys.sorted()
    }

    /// Whether somebody sees it: its owner, and each guest who has not refused.
    public func isVisible(to uid: String) -> Bool {
        uid == owner || guests[uid] == .invited || guests[uid] == .coming
    }
}

extension HostedParty: Record {
    package struct Stored: Decodable {
        let owner: String
        let description: String
        let date: StoredDate
        let guests: [String: StoredAnswer]?
        let photos: [String: Bool]?
    }

    package init(key: String, stored: Stored) throws {
        guard PartyLimits.isUser(stored.owner) else { throw Nonsense("owner: it is no user") }
        guard !stored.description.isEmpty else { throw Nonsense("description: it is empty") }
        self.key = key
        owner = stored.owner
        description = stored.description
        date = stored.date.moment
        guests = (stored.guests ?? [:]).mapValues(\.answer)
        photos = stored.photos?.filter(\.value).keys.sorted() ?? []
    }
}

/// `"invited"`, `true` or `false`.
package struct StoredAnswer: Decodable {
    let answer: HostedParty.Answer

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            guard text == "invited" else {
                throw Nonsense("guests: there is no \"\(text.prefix(64))\"")
            }
            answer = .invited
        } else {
            answer = try container.decode(Bool.self) ? .coming : .notComing
        }
    }
}
