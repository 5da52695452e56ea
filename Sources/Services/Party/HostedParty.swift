public import Foundation
import Social

/// A party that its owner alone changes: `parties/{key}`.
public struct HostedParty: Equatable, Sendable {
    /// The state of a guest's answer.
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
    /// Its description; 1 to 2,000 characters.
    public let description: String
    /// When it is.
    public let date: Date
    /// The invited guests and their answers.
    public let guests: [String: Answer]
    /// Keys of its photos, in order.
    public let photos: [String]

    /// The guests who accepted, in order of their ids.
    public var confirmedGuests: [String] { guests.filter { $0.value == .coming }.keys.sorted() }

    /// Whether a person may see it: its owner, and each guest who has not refused.
    public func isVisible(to uid: String) -> Bool {
        uid == owner || guests[uid] == .invited || guests[uid] == .coming
    }
}

extension HostedParty: Record {
    package init(key: String, stored: Fields) throws {
        self.key = key
        owner = try stored.value("owner")
        guard PartyLimits.isUser(owner) else { throw Nonsense("owner: it is no user") }
        description = try stored.text("description")
        let date: StoredDate = try stored.value("date")
        self.date = date.moment
        let guests: [String: StoredAnswer]? = try stored.optional("guests")
        self.guests = guests?.mapValues(\.answer) ?? [:]
        photos = try stored.set("photos")
    }
}

/// `"invited"`, `true` or `false`.
private struct StoredAnswer: Decodable {
    let answer: HostedParty.Answer

    init(from decoder: any Decoder) throws {
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
