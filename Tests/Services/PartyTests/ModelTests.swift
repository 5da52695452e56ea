import Foundation
import HearthDatabase
import Testing

@testable import Party

@Suite("models of parties")
struct ModelTests {
    @Test(
        "the key of an address is as the rules compute it",
        arguments: [
            ("ann@example.com", "ann@example=2Ecom"), ("Ann@Example.COM", "ann@example=2Ecom"),
            ("a=b#c$d/e@[::1]", "a=3Db=23c=24d=2Fe@=5B::1=5D"), ("ÄNN@x.de", "änn@x=2Ede"),
        ]
    )
    func emailKey(email: String, key: String) {
        #expect(EmailKey.encoded(email) == key)
    }

    @Test(
        "a date's text is a moment, or none",
        arguments: [
            ("2026-06-21", 1_782_000_000.0), ("2026-06-21T00:00", 1_782_000_000),
            ("2026-06-21T02:00+02:00", 1_782_000_000), ("2026-06-20T19:00:00-05:00", 1_782_000_000),
            ("2026-06-21T00:00:00Z", 1_782_000_000), ("2026-06-21T00:00:01.250Z", 1_782_000_001.25),
            ("2024-02-29", 1_709_164_800), ("2026-02-29", nil), ("2026-02-31", nil),
            ("2026-13-01", nil), ("2026-06-21T24:00", nil), ("2026-06-21T00:60", nil), ("", nil),
            ("2026-06-21T00:00:60", nil), ("tomorrow", nil), ("21.06.2026", nil),
            ("2026-6-21", nil),
            ("2026-06-21T00:00:00+99:00", nil), ("2026-06-21 00:00", nil), ("٢٠٢٦-06-21", nil),
        ] as [(String, Double?)]
    )
    func dateText(text: String, seconds: Double?) {
        #expect(PartyDate.moment(text)?.timeIntervalSince1970 == seconds)
    }

    @Test("a text without a zone is read in the one that is given, one with a zone in its own")
    func zones() throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let winter = PartyDate.moment("2026-12-31T20:00", in: zone)
        #expect(winter == PartyDate.moment("2026-12-31T19:00:00Z"))
        #expect(PartyDate.moment("2026-12-31T20:00Z", in: zone) == winter?.addingTimeInterval(3600))
        // On that night the clock went from 2 to 3.
        #expect(PartyDate.moment("2026-03-29T02:30", in: zone) == nil)
    }

    @Test("a moment outside of the years that the rules allow is refused, and so is none at all")
    func years() throws {
        for seconds in [-0.001, 253_402_300_800, .infinity, -.infinity, .nan] {
            #expect(throws: ServiceError.self) {
                try PartyDate.milliseconds(Date(timeIntervalSince1970: seconds))
            }
            #expect(PartyDate.moment(milliseconds: seconds * 1000) == nil)
        }
        #expect(try PartyDate.milliseconds(Date(timeIntervalSince1970: 0)) == 0)
    }

    private static let message = [
        "from": "ann", "to": "bob", "messageType": "friend_request", "messageContent": "invite",
        "party": "null", "photo": "null",
    ]

    private func message(_ changes: [String: Any], key: String = "k") throws -> PartyMessage {
        let whole: [String: Any] = Self.message
        let fields = whole.merging(changes) { $1 }.filter { !($0.value is NSNull) }
        return try PartyMessage(
            key: key,
            stored: DatabaseDecoder().decode(PartyMessage.Stored.self, from: fields),
        )
    }

    @Test("a message knows what it is about")
    func subjects() throws {
        let invite = ["messageType": "party_invite", "party": "p"]
        #expect(try message([:]).subject == .friendship)
        #expect(try message(invite).subject == .party("p"))
        #expect(
            try message(invite.merging(["guest": "eve"]) { $1 }).subject
                == .suggestion(guest: "eve", party: "p")
        )
        #expect(
            try message(["messageType": "image_uploaded", "party": "p", "photo": "f"]).subject
                == .photo("f", party: "p")
        )
        #expect(try message(["sentAt": 1500]).sentAt == Date(timeIntervalSince1970: 1.5))
    }

    @Test("messages are in the order of their times, those without one last, of equal ones by key")
    func order() throws {
        let messages = try [("a", nil), ("b", 2000), ("c", 1000), ("d", nil), ("A", 2000)].map {
            try message(["sentAt": $1 ?? NSNull()], key: $0)
        }
        for order in [messages, messages.reversed()] {
            #expect(
                order.sorted(by: PartyMessage.isBefore).map(\.key) == ["c", "A", "b", "a", "d"]
            )
        }
    }

    @Test("a half-valid message is none")
    func halfValidMessages() {
        let cases: [[String: Any]] = [
            ["from": NSNull()], ["from": ""], ["from": "a/b"], ["from": 5], ["from": "bob"],
            ["to": NSNull()], ["messageType": NSNull()], ["messageType": "hello"],
            ["messageContent": NSNull()], ["messageContent": "reject"], ["party": NSNull()],
            ["party": false], ["party": "p"], ["party": "p/guests"], ["photo": "f"],
            ["photo": NSNull()], ["messageType": "party_invite"], ["guest": "eve"],
            ["messageType": "party_invite", "party": "p", "photo": "f"],
            ["messageType": "party_invite", "party": "p", "guest": "../eve"],
            ["messageType": "party_invite", "party": "p", "guest": true],
            ["messageType": "image_uploaded", "party": "p"],
            ["messageType": "image_uploaded", "photo": "f"], ["sentAt": "now"],
        ]
        for changes in cases {
            #expect(throws: (any Error).self, "\(changes)") { try message(changes) }
        }
    }

    private func party(_ changes: [String: Any]) throws -> HostedParty {
        let whole: [String: Any] = ["owner": "ann", "description": "Tea", "date": 1500]
        let fields = whole.merging(changes) { $1 }.filter { !($0.value is NSNull) }
        return try HostedParty(
            key: "p",
            stored: DatabaseDecoder().decode(HostedParty.Stored.self, from: fields),
        )
    }

    @Test("a party's guests are invited, coming or not, and its date is milliseconds or text")
    func parties() throws {
        let guests: [String: Any] = ["bob": true, "cyd": "invited", "dan": false]
        let made = try party(["guests": guests, "photos": ["g": true, "f": true]])
        #expect(made.guests == ["bob": .coming, "cyd": .invited, "dan": .notComing])
        #expect(made.confirmedGuests == ["bob"] && made.photos == ["f", "g"])
        #expect(made.date == Date(timeIntervalSince1970: 1.5))
        #expect(
            ["ann", "bob", "cyd", "dan", "eve"].filter(made.isVisible) == ["ann", "bob", "cyd"]
        )
        #expect(
            try party(["date": "2026-06-21"]).date == Date(timeIntervalSince1970: 1_782_000_000)
        )
    }

    @Test("a half-valid party is none")
    func halfValidParties() {
        let cases: [[String: Any]] = [
            ["owner": NSNull()], ["owner": 1], ["owner": "a/b"], ["description": NSNull()],
            ["description": ""], ["description": false], ["date": NSNull()], ["date": true],
            ["date": "soon"], ["date": -5], ["date": 1e15], ["guests": ["bob": "maybe"]],
            ["guests": ["bob": 1]], ["guests": "bob"], ["photos": "f"],
        ]
        for changes in cases {
            #expect(throws: (any Error).self, "\(changes)") { try party(changes) }
        }
    }
}
