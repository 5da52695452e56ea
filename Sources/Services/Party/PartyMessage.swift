public import Foundation
import Social

/// A message in a user's inbox: `messages/{receiver}/{key}`.
///
///     {from, to, messageType, messageContent, party, photo, guest?, sentAt?}
///
/// `party` and `photo` are the text `null` where there is none.
public struct PartyMessage: Hashable, Sendable {
    /// The subject of a message.
    public enum Subject: Hashable, Sendable {
        /// Being friends.
        case friendship
        /// Coming to the party of this key.
        case party(String)
        /// Having a friend of a guest at a party as well.
        case suggestion(guest: String, party: String)
        /// A photo of a party.
        case photo(String, party: String)

        /// The party that it is about.
        public var party: String? {
            switch self {
            case .friendship: nil
            case .party(let key), .suggestion(_, let key), .photo(_, let key): key
            }
        }
    }

    /// The content of a message about its subject.
    public enum Content: String, Sendable {
        /// A question that its receiver answers.
        case invite
        /// Yes.
        case accept
        /// No, or no longer.
        case refuse
    }

    /// Its key; an answer has the key of its question.
    public let key: String
    /// Who sent it.
    public let from: String
    /// Whose inbox it is in.
    public let to: String
    /// Its subject.
    public let subject: Subject
    /// Its content.
    public let content: Content
    /// When the server received it; nil from an app that does not set it, whose messages come last in an inbox.
    public let sentAt: Date?

    /// Whether its receiver must decide; an answer is applied without asking.
    public var isQuestion: Bool { content == .invite }

    /// The order of an inbox: by the server's time, then by key. Messages without a time come last, so leaving it out
    /// gains nothing.
    static func isBefore(_ one: PartyMessage, _ other: PartyMessage) -> Bool {
        let (a, b) = (one.sentAt ?? .distantFuture, other.sentAt ?? .distantFuture)
        return a == b ? one.key < other.key : a < b
    }
}

extension PartyMessage: Record {
    package init(key: String, stored: Fields) throws {
        guard PartyLimits.isKey(key) else { throw Nonsense("its key is none") }
        self.key = key
        from = try stored.value("from")
        guard PartyLimits.isUser(from) else { throw Nonsense("from: it is no user") }
        to = try stored.value("to")
        guard from != to else { throw Nonsense("from: it is the receiver") }
        let word: String = try stored.value("messageContent")
        guard let content = Content(rawValue: word) else {
            throw Nonsense("messageContent: there is no \"\(word.prefix(64))\"")
        }
        self.content = content
        subject = try Subject(stored)
        sentAt = try stored.optional("sentAt").map { Date(timeIntervalSince1970: $0 / 1000) }
    }
}

extension PartyMessage.Subject {
    fileprivate init(_ stored: Fields) throws {
        let type: String = try stored.value("messageType")
        let party = try Self.key("party", in: stored)
        let photo = try Self.key("photo", in: stored)
        switch (type, party, photo, try stored.optional("guest") as String?) {
        case ("friend_request", nil, nil, nil): self = .friendship
        case ("party_invite", let party?, nil, nil): self = .party(party)
        case ("party_invite", let party?, nil, let guest?):
            guard PartyLimits.isUser(guest) else { throw Nonsense("guest: it is no user") }
            self = .suggestion(guest: guest, party: party)
        case ("image_uploaded", let party?, let photo?, nil): self = .photo(photo, party: party)
        case ("friend_request", _, _, _), ("party_invite", _, _, _), ("image_uploaded", _, _, _):
            throw Nonsense("messageType: a \(type) does not have these fields")
        default: throw Nonsense("messageType: there is no \"\(type.prefix(64))\"")
        }
    }

    /// The key in a field; nil for the text that means none.
    private static func key(_ name: String, in stored: Fields) throws -> String? {
        let text: String = try stored.value(name)
        guard text != "null" else { return nil }
        guard PartyLimits.isKey(text) else { throw Nonsense("\(name): it is no key") }
        return text
    }

    fileprivate var type: String {
        switch self {
        case .friendship: "friend_request"
        case .party, .suggestion: "party_invite"
        case .photo: "image_uploaded"
        }
    }

    func fields(from sender: String, to receiver: String, _ content: PartyMessage.Content)
        -> [String: Any]
    {
        var fields: [String: Any] = [
            "from": sender, "to": receiver, "messageType": type,
            "messageContent": content.rawValue, "party": party ?? "null", "photo": "null",
            "sentAt": ServerValue.timestamp(),
        ]
        switch self {
        case .friendship, .party: break
        case .suggestion(let guest, _): fields["guest"] = guest
        case .photo(let photo, _): fields["photo"] = photo
        }
        return fields
    }
}
