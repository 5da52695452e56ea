public import Foundation
import Records

/// What one user tells another through their inbox: `messages/{receiver}/{key}`.
///
///     {from, to, messageType, messageContent, party, photo, guest?, sentAt?}
///
/// `party` and `photo` are the text `null` where there is none.
public struct PartyMessage: Hashable, Sendable {
    /// What a message is about.
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

    /// What a message says of its subject.
    public enum Content: String, Sendable {
        /// A question that somebody answers.
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
    /// What it is about.
    public let subject: Subject
    /// What it says.
    public let content: Content
    /// When the server got it; nil from an app that does not tell, whose messages come last in an inbox.
    public let sentAt: Date?

    /// Whether somebody has to decide: an answer is applied without asking.
    public var isQuestion: Bool { content == .invite }

    /// The order of an inbox: by the server's time, then by key. What has no time comes behind what has one: nobody is
    /// first by leaving it away.
    static func isBefore(_ one: PartyMessage, _ other: PartyMessage) -> Bool {
        let (a, b) = (one.sentAt ?? .distantFuture, other.sentAt ?? .distantFuture)
        return a == b ? one.key < other.key : a < b
    }
}

extension PartyMessage: Record {
    package struct Stored: Decodable {
        let from: String
        let to: String
        let messageType: String
        let messageContent: String
        let party: String
        let photo: String
        let guest: String?
        let sentAt: Double?
    }

    package init(key: String, stored: Stored) throws {
        guard PartyLimits.isKey(key) else { throw Nonsense("its key is none") }
        guard PartyLimits.isUser(stored.from) else { throw Nonsense("from: it is no user") }
        guard stored.from != stored.to else { throw Nonsense("from: it is the receiver") }
        guard let content = Content(rawValue: stored.messageContent) else {
            throw Nonsense("messageContent: there is no \"\(stored.messageContent.prefix(64))\"")
        }
        self.key = key
        from = stored.from
        to = stored.to
        subject = try Subject(stored)
        self.content = content
        sentAt = stored.sentAt.map { Date(timeIntervalSince1970: $0 / 1000) }
    }
}

extension PartyMessage.Subject {
    fileprivate init(_ stored: PartyMessage.Stored) throws {
        let party = PartyLimits.isKey(stored.party) ? stored.party : nil
        let photo = PartyLimits.isKey(stored.photo) ? stored.photo : nil
        guard party != nil || stored.party == "null" else { throw Nonsense("party: it is no key") }
        guard photo != nil || stored.photo == "null" else { throw Nonsense("photo: it is no key") }
        switch (stored.messageType, party, photo, stored.guest) {
        case ("friend_request", nil, nil, nil): self = .friendship
        case ("party_invite", let party?, nil, nil): self = .party(party)
        case ("party_invite", let party?, nil, let guest?):
            guard PartyLimits.isUser(guest) else { throw Nonsense("guest: it is no user") }
            self = .suggestion(guest: guest, party: party)
        case ("image_uploaded", let party?, let photo?, nil): self = .photo(photo, party: party)
        case ("friend_request", _, _, _), ("party_invite", _, _, _), ("image_uploaded", _, _, _):
            throw Nonsense("messageType: a \(stored.messageType) does not have these fields")
        default: throw Nonsense("messageType: there is no \"\(stored.messageType.prefix(64))\"")
        }
    }

    /// `messageType`, as it is stored.
    fileprivate var type: String {
        switch self {
        case .friendship: "friend_request"
        case .party, .suggestion: "party_invite"
        case .photo: "image_uploaded"
        }
    }

    /// The fields of a message that is sent now.
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
