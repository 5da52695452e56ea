import Foundation
import HearthDatabase
import Party
import ServiceSupport
import Testing

extension Person {
    var accounts: PartyAccountService { PartyAccountService(database: database, uid: uid) }
    var friends: FriendService { FriendService(database: database, uid: uid) }
    var parties: PartyService { PartyService(database: database, uid: uid) }
    var photos: PartyPhotoService { PartyPhotoService(database: database, uid: uid) }
    var suggestions: SuggestionService { SuggestionService(database: database, uid: uid) }
    var inbox: Inbox { Inbox(database: database, uid: uid) }

    /// The only question in the inbox.
    func question() async throws -> PartyMessage {
        let questions = try await inbox.messages().records.filter(\.isQuestion)
        return try #require(questions.count == 1 ? questions[0] : nil, "\(questions)")
    }

    /// What a program does when it starts.
    func start() async throws {
        try await inbox.apply()
        try await inbox.mend()
        try await photos.mend()
    }

    /// A whole node as this user sees it: JSON with sorted keys, `denied`, or `null`.
    ///
    /// Times of messages are left out: they are the server's.
    func node(_ path: String) async throws -> String {
        do {
            let value = try await place(path).getData().value ?? NSNull()
            return try text(of: value)
        } catch DatabaseError.permissionDenied {
            return "denied"
        }
    }

    /// Whether the server takes an update.
    func mayWrite(_ values: [String: Any]) async throws -> Bool {
        do {
            try await database.reference().updateChildValues(values)
            return true
        } catch DatabaseError.permissionDenied {
            return false
        }
    }

    /// A message as any app writes it.
    func message(
        to receiver: String,
        _ type: String,
        _ content: String,
        party: String = "null",
        photo: String = "null",
    ) -> [String: Any] {
        [
            "from": uid, "to": receiver, "messageType": type, "messageContent": content,
            "party": party, "photo": photo,
        ]
    }
}

extension ServiceServer {
    /// The one that tests of parties share.
    static func parties() throws -> ServiceServer { try shared("party") }

    /// A new person with an entry, a profile and an address.
    func partygoer(_ name: String) async throws -> Person {
        let (person, email) = try await newcomer(name)
        try await person.accounts.signUp(email: email, name: name)
        return person
    }

    /// A new person with an account and nothing else.
    func newcomer(_ name: String) async throws -> (person: Person, email: String) {
        let person = try stranger()
        let email = "\(unique(name).lowercased())@example.com"
        try await person.signUp(email: email)
        return (person, email)
    }

    /// A host and two friends of hers.
    func circle() async throws -> (ann: Person, bob: Person, cyd: Person) {
        let (ann, bob, cyd) = (
            try await partygoer("Ann"), try await partygoer("Bob"), try await partygoer("Cyd")
        )
        for friend in [bob, cyd] { try await befriend(ann, friend) }
        return (ann, bob, cyd)
    }
}

/// One asks, the other accepts, and the answer is applied.
func befriend(_ one: Person, _ other: Person) async throws {
    try await one.friends.request(other.uid)
    try await other.friends.accept(other.question())
    try await one.inbox.apply()
}

/// JSON with sorted keys; `sentAt` is left out.
func text(of value: Any) throws -> String {
    let data = try JSONSerialization.data(
        withJSONObject: timeless(value),
        options: [.sortedKeys, .fragmentsAllowed, .withoutEscapingSlashes],
    )
    return String(decoding: data, as: UTF8.self)
}

private func timeless(_ value: Any) -> Any {
    guard var fields = value as? [String: Any] else { return value }
    fields["sentAt"] = nil
    return fields.mapValues { timeless($0) }
}

/// What a person sees is this.
func expect(
    _ person: Person,
    at path: String,
    _ expected: Any?,
    sourceLocation: SourceLocation = #_sourceLocation,
) async throws {
    let wanted = try text(of: expected ?? NSNull())
    let found = try await person.node(path)
    #expect(found == wanted, "\(path)", sourceLocation: sourceLocation)
}

/// A moment without parts of a millisecond.
let midsummer = Date(timeIntervalSince1970: 1_782_000_000)

/// Gray PNGs.
enum Picture {
    /// 640 by 4 points.
    static let wide = photo(
        """
        iVBORw0KGgoAAAANSUhEUgAAAoAAAAAECAAAAAA7GNEYAAABMElEQVR42mNgYGRiZmFlY+fg5OLm4eXjFxAUEhYRFROXkJSSlpGVk1dQVFJW\
        UVVT19DU0tbR1dM3MDQyNjE1M7ewtLK2sbWzd3B0cnZxdXP38PTy9vH18w8IDAoOCQ0Lj4iMio6JjYtPSExKTklNS8/IzMrOyc3LLygsKi4pLSuv\
        qKyqrqmtq29obGpuaW1r7+js6u7p7eufMHHS5ClTp02fMXPW7Dlz581fsHDR4iVLly1fsXLV6jVr163fsHHT5i1bt23fsXPX7j179+0/cPDQ4SNH\
        jx0/cfLU6TNnz52/cPHS5StXr12/cfPW7Tt3791/8PDR4ydPnz1/8fLV6zdv373/8PHT5y9fv33/8fPXqNcHgddHI2HU6wPqdYbRSBj1+kB6nWE0\
        Eka9PpBeBwA2JGulc01CigAAAABJRU5ErkJggg==
        """
    )
    /// 3 by 2 points.
    static let small = photo(
        "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAAAAAC4HznGAAAADklEQVR42mNgYGQCImYAACIACgVnnvUAAAAASUVORK5CYII="
    )

    private static func photo(_ text: String) -> Result<Photo, any Error> {
        Result {
            try Photo(png: [UInt8](#require(Data(base64Encoded: text))))
        }
    }
}
