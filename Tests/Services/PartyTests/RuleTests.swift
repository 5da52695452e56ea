import Foundation
import HearthDatabase
import Party
import ServiceSupport
import Testing

@Suite("what the rules hold every client to")
struct RuleTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.parties() }

    /// Ann gives a party; Bob comes, Cyd is invited, Dan has refused, Eve knows no one, and no one is signed out.
    private struct Evening {
        let ann, bob, cyd, dan, eve, stranger: Person
        let key: String
    }

    private func evening() async throws -> Evening {
        let (ann, bob, cyd) = try await server.circle()
        let (dan, eve) = (try await server.partygoer("Dan"), try await server.partygoer("Eve"))
        try await befriend(ann, dan)
        let key = try await ann.parties.create(description: "Tea", date: midsummer).key
        try await bob.parties.answer(bob.question(), isComing: true)
        try await dan.parties.answer(dan.question(), isComing: false)
        try await ann.start()
        let stranger = try server.stranger()
        return Evening(
            ann: ann,
            bob: bob,
            cyd: cyd,
            dan: dan,
            eve: eve,
            stranger: stranger,
            key: key
        )
    }

    @Test("anybody signed in puts a message in anybody's inbox, as themselves and no one else")
    func senders() async throws {
        let at = try await evening()
        let inbox = "messages/\(at.ann.uid)"
        let own = at.eve.message(to: at.ann.uid, "friend_request", "invite")
        let forged = at.bob.message(to: at.ann.uid, "friend_request", "invite")
        #expect(try await at.eve.mayWrite(["\(inbox)/a": own]))
        #expect(try await !at.eve.mayWrite(["\(inbox)/b": forged]))
        #expect(try await !at.stranger.mayWrite(["\(inbox)/c": own]))
        #expect(try await !at.stranger.mayWrite(["\(inbox)/d": forged]))
        #expect(try await !at.eve.mayWrite(["\(inbox)/a/from": at.bob.uid]))
        #expect(try await at.ann.inbox.messages().records.map(\.from) == [at.eve.uid])
    }

    @Test("sender and receiver change or delete a message, and no one else")
    func bystanders() async throws {
        let at = try await evening()
        let inbox = "messages/\(at.ann.uid)"
        for key in ["a", "b"] {
            let sent = at.eve.message(to: at.ann.uid, "friend_request", "invite")
            #expect(try await at.eve.mayWrite(["\(inbox)/\(key)": sent]))
        }
        for other in [at.bob, at.stranger] {
            #expect(try await !other.mayWrite(["\(inbox)/a": NSNull()]))
            #expect(try await !other.mayWrite(["\(inbox)/a/messageContent": "refuse"]))
            #expect(try await other.node(inbox) == "denied")
        }
        #expect(try await at.eve.node(inbox) == "denied")
        #expect(try await at.eve.mayWrite(["\(inbox)/a/messageContent": "refuse"]))
        #expect(try await at.ann.mayWrite(["\(inbox)/b/messageContent": "refuse"]))
        #expect(try await at.eve.mayWrite(["\(inbox)/a": NSNull()]))
        #expect(try await at.ann.mayWrite(["\(inbox)/b": NSNull()]))
        #expect(try await at.ann.node(inbox) == "null")
    }

    @Test(
        "a party is seen by its owner and by guests who have not refused, and all are listed for no one"
    )
    func readers() async throws {
        let at = try await evening()
        for guest in [at.ann, at.bob, at.cyd] {
            #expect(try await guest.parties.show(at.key).description == "Tea")
        }
        for other in [at.dan, at.eve, at.stranger] {
            #expect(try await other.node("parties/\(at.key)") == "denied")
        }
        for person in [at.ann, at.bob, at.stranger] {
            #expect(try await person.node("parties") == "denied")
        }
        let mine = at.ann.place("parties").queryOrdered(byChild: "owner")
            .queryEqual(toValue: at.ann.uid)
        await #expect(throws: DatabaseError.permissionDenied(path: "/parties")) {
            try await mine.getData()
        }
    }

    @Test("the owner changes a party, part by part, and no one else does")
    func owners() async throws {
        let at = try await evening()
        let place = "parties/\(at.key)"
        #expect(try await at.ann.mayWrite(["\(place)/description": "Coffee"]))
        #expect(try await at.ann.mayWrite(["\(place)/date": "2030-12-31T20:00:00Z"]))
        for other in [at.bob, at.cyd, at.dan, at.eve, at.stranger] {
            #expect(try await !other.mayWrite(["\(place)/description": "Mine"]))
            #expect(try await !other.mayWrite(["\(place)/guests/\(at.cyd.uid)": true]))
            #expect(try await !other.mayWrite(["\(place)/owner": other.uid]))
            #expect(try await !other.mayWrite([place: NSNull()]))
        }
        let date = try await at.bob.parties.show(at.key).date
        #expect(date == PartyDate.moment("2030-12-31T20:00:00Z"))
    }

    @Test(
        "a guest's answer is written under the party's key and the guest's own, never as a whole list"
    )
    func guestList() async throws {
        let at = try await evening()
        let list = "parties/\(at.key)/guests"
        let before = try await at.ann.node(list)
        #expect(try await !at.ann.mayWrite([list: [at.cyd.uid: true]]))
        #expect(try await !at.ann.mayWrite([list: NSNull()]))
        #expect(try await !at.ann.mayWrite(["parties/guests": [at.cyd.uid: true]]))
        #expect(try await !at.ann.mayWrite(["parties/guests/\(at.cyd.uid)": true]))
        #expect(try await !at.cyd.mayWrite(["\(list)/\(at.cyd.uid)": true]))
        #expect(try await !at.ann.mayWrite(["\(list)/\(at.cyd.uid)": "maybe"]))
        #expect(try await at.ann.node(list) == before)
        #expect(try await at.ann.mayWrite(["\(list)/\(at.cyd.uid)": true]))
        try await expect(
            at.ann,
            at: list,
            [at.bob.uid: true, at.cyd.uid: true, at.dan.uid: false]
        )
    }

    @Test("an e-mail finds its user, and neither e-mails nor users are listed")
    func addresses() async throws {
        let at = try await evening()
        let email = try await at.ann.accounts.me().email
        #expect(try await at.eve.accounts.find(email: email)?.uid == at.ann.uid)
        let encoded = email.replacing(".", with: "=2E")
        for (person, path) in [
            (at.stranger, "emails/\(encoded)"), (at.eve, "emails"), (at.eve, "users"),
            (at.eve, "users/\(at.ann.uid)"), (at.eve, "users/\(at.ann.uid)/email"),
            (at.bob, "users/\(at.ann.uid)/email"), (at.stranger, "users/\(at.ann.uid)"),
            (at.stranger, "profiles/\(at.ann.uid)"), (at.eve, "profiles"),
        ] {
            #expect(try await person.node(path) == "denied", "\(path)")
        }
        let query = at.eve.place("users").queryOrdered(byChild: "email")
            .queryEqual(toValue: email)
        await #expect(throws: DatabaseError.permissionDenied(path: "/users")) {
            try await query.getData()
        }
        #expect(try await !at.eve.mayWrite(["emails/\(encoded)": at.eve.uid]))
    }

    @Test("an entry is its user's own to write")
    func entries() async throws {
        let at = try await evening()
        let friend = "users/\(at.ann.uid)/friends/\(at.eve.uid)"
        for other in [at.eve, at.bob, at.stranger] {
            #expect(try await !other.mayWrite([friend: true]))
        }
        #expect(try await at.ann.mayWrite([friend: true]))
    }

    @Test("refuse is an answer and reject is none")
    func words() async throws {
        let at = try await evening()
        for (content, isAllowed) in [("reject", false), ("REFUSE", false), ("refuse", true)] {
            let answer = at.cyd.message(to: at.ann.uid, "party_invite", content, party: at.key)
            #expect(
                try await at.cyd.mayWrite(["messages/\(at.ann.uid)/w": answer]) == isAllowed,
                "\(content)"
            )
        }
    }

    @Test("no one accepts what they were not asked")
    func unasked() async throws {
        let at = try await evening()
        let inbox = "messages/\(at.ann.uid)"
        let friend = at.eve.message(to: at.ann.uid, "friend_request", "accept")
        #expect(try await !at.eve.mayWrite(["\(inbox)/x": friend]))
        for (guest, isAllowed) in [(at.eve, false), (at.dan, false), (at.cyd, true)] {
            let answer = guest.message(to: at.ann.uid, "party_invite", "accept", party: at.key)
            #expect(try await guest.mayWrite(["\(inbox)/y": answer]) == isAllowed)
        }
    }

    @Test("a photo's key is written when its bytes are there, and not before")
    func photoKeys() async throws {
        let at = try await evening()
        let key = try #require(at.bob.place("photos").childByAutoId().key)
        let link = "users/\(at.bob.uid)/photos/\(key)"
        let note = "users/\(at.bob.uid)/uploads/\(key)"
        let question = at.bob.message(
            to: at.ann.uid,
            "image_uploaded",
            "invite",
            party: at.key,
            photo: key
        )
        let bytes = [
            "owner": at.bob.uid, "host": at.ann.uid, "party": at.key,
            "png": "iVBORw0KGgoAAAANSUhEUg==",
        ]
        #expect(try await !at.bob.mayWrite([link: true]))
        #expect(try await !at.bob.mayWrite([note: at.key]))
        #expect(try await !at.bob.mayWrite(["photos/\(key)": bytes, link: true]))
        #expect(try await !at.bob.mayWrite(["messages/\(at.ann.uid)/\(key)": question]))
        #expect(try await !at.ann.mayWrite(["parties/\(at.key)/photos/\(key)": true]))
        #expect(try await !at.eve.mayWrite(["photos/\(key)": bytes]))
        #expect(try await !at.stranger.mayWrite(["photos/\(key)": bytes]))
        #expect(try await at.bob.mayWrite(["photos/\(key)": bytes, note: at.key]))
        #expect(try await at.bob.mayWrite([link: true, note: NSNull()]))
        #expect(try await at.bob.mayWrite(["messages/\(at.ann.uid)/\(key)": question]))
        #expect(try await at.ann.mayWrite(["parties/\(at.key)/photos/\(key)": true]))
        #expect(try await !at.ann.mayWrite(["photos/\(key)": NSNull()]))
        #expect(try await at.bob.mayWrite(["photos/\(key)": NSNull()]))
    }

    @Test("a date is one, and so is a description")
    func values() async throws {
        let at = try await evening()
        let cases: [(String, Any, Bool)] = [
            ("date", 1_798_747_200_000, true), ("date", "2026-12-31", true),
            ("date", "soon", false), ("date", true, false), ("date", -1, false),
            ("date", "2026-13-01", false), ("description", "Tea", true), ("description", "", false),
            ("description", String(repeating: "d", count: 2001), false), ("owner", "bob", false),
            ("public", true, false),
        ]
        for (field, value, isAllowed) in cases {
            #expect(
                try await at.ann.mayWrite(["parties/\(at.key)/\(field)": value]) == isAllowed,
                "\(field): \(value)"
            )
        }
    }

    /// Of `base` each change is refused, and leaves nothing; `base` itself is taken, so the change alone is why.
    private func expectRefused(
        _ person: Person,
        at path: String,
        _ base: [String: Any],
        _ changes: [[String: Any]],
    ) async throws {
        let before = try await person.node(path)
        for change in changes {
            let changed = base.merging(change) { $1 }.filter { !($0.value is NSNull) }
            #expect(try await !person.mayWrite([path: changed]), "\(path): \(change.keys)")
        }
        #expect(try await person.node(path) == before)
        #expect(try await person.mayWrite([path: base]), "\(path)")
    }

    @Test("an entry and a profile hold what they are for, and nothing else")
    func entryValues() async throws {
        let at = try await evening()
        let (fay, email) = try await server.newcomer("Fay")
        let address = try await at.bob.accounts.me().email
        try await expectRefused(
            fay,
            at: "users/\(fay.uid)",
            ["uid": fay.uid, "email": email],
            [
                ["uid": at.bob.uid], ["uid": NSNull()], ["uid": true], ["email": address],
                ["email": NSNull()], ["email": 5], ["email": ""], ["name": "Fay"],
                ["friends": [fay.uid: true]], ["friends": [at.bob.uid: "yes"]],
                ["ownedParties": [at.key: true]], ["attendingParties": [at.key: "maybe"]],
                ["photos": ["none": true]], ["uploads": ["none": at.key]],
            ]
        )
        for (field, value) in [("email", address), ("uid", at.bob.uid), ("name", "Fay")] {
            #expect(try await !fay.mayWrite(["users/\(fay.uid)/\(field)": value]), "\(field)")
        }
        let (longName, longAddress) = (
            String(repeating: "n", count: 100), String(repeating: "p", count: 2000)
        )
        try await expectRefused(
            fay,
            at: "profiles/\(fay.uid)",
            ["name": longName, "picture": longAddress],
            [
                ["name": NSNull()], ["name": ""], ["name": 5], ["name": longName + "n"],
                ["picture": 5], ["picture": longAddress + "p"], ["email": email],
            ]
        )
        #expect(try await !at.bob.mayWrite(["profiles/\(fay.uid)/name": "Bob"]))
        #expect(try await !fay.mayWrite(["profiles/\(fay.uid)/name": NSNull()]))
    }

    @Test("a message says what one may say, and nothing else")
    func messageValues() async throws {
        let at = try await evening()
        let inbox = "messages/\(at.ann.uid)"
        let changes: [[String: Any]] = [
            ["messageType": "hello"], ["messageType": 5], ["messageType": NSNull()],
            ["messageContent": "reject"], ["messageContent": true], ["messageContent": NSNull()],
            ["from": at.cyd.uid], ["from": at.ann.uid], ["from": NSNull()], ["to": at.cyd.uid],
            ["to": NSNull()], ["party": NSNull()], ["party": false], ["party": "p/guests"],
            ["photo": NSNull()], ["photo": false], ["photo": "f/owner"],
            ["sentAt": 1_782_000_000_000], ["sentAt": 1], ["sentAt": "now"],
            ["sentAt": 32_503_680_000_000], ["text": "hi"], [".priority": 1], [".priority": "a"],
        ]
        let request = at.bob.message(to: at.ann.uid, "friend_request", "invite")
        let suggestion = at.bob.message(to: at.ann.uid, "party_invite", "invite", party: at.key)
            .merging(["guest": at.eve.uid, "sentAt": ServerValue.timestamp()]) { $1 }
        try await expectRefused(
            at.bob,
            at: "\(inbox)/r",
            request,
            changes + [["party": at.key], ["photo": "f"], ["guest": at.eve.uid]]
        )
        try await expectRefused(
            at.bob,
            at: "\(inbox)/s",
            suggestion,
            changes + [
                ["guest": "stranger"], ["guest": ""], ["guest": 5], ["guest": NSNull()],
                ["guest": [".value": at.eve.uid, ".priority": 1]], ["party": "elsewhere"],
                ["party": "null"], ["messageContent": "accept"],
            ]
        )
        // Of what refuses nothing else depends on the kind.
        try await expectRefused(
            at.bob,
            at: "\(inbox)/t",
            at.bob.message(to: at.ann.uid, "party_invite", "refuse", party: at.key),
            changes + [["messageType": "PARTY_INVITE"], ["messageType": "image_uploaded"]]
        )
        let own = try await at.ann.inbox.messages()
        #expect(own.faults.isEmpty && Set(own.records.map(\.key)) == ["r", "s", "t"])
    }

    @Test("a photo is a PNG of a guest for a party and its host, and nothing else")
    func photoValues() async throws {
        let at = try await evening()
        let key = try #require(at.bob.place("photos").childByAutoId().key)
        let png = "iVBORw0KGgo" + String(repeating: "A", count: 1_000_000 - 11)
        let base = ["owner": at.bob.uid, "host": at.ann.uid, "party": at.key, "png": png]
        let changes: [[String: Any]] = [
            ["host": at.bob.uid], ["host": at.cyd.uid], ["host": NSNull()], ["host": true],
            ["owner": at.ann.uid], ["owner": NSNull()], ["party": "elsewhere"],
            ["party": NSNull()], ["party": "\(at.key)/owner"], ["png": NSNull()], ["png": 5],
            ["png": ""], ["png": "R0lGODlhAQABAAAAACw="], ["png": "AiVBORw0KGgo"],
        ]
        // All but the length with few bytes.
        let small = base.merging(["png": "iVBORw0KGgoAAAANSUhEUg=="]) { $1 }
        try await expectRefused(
            at.bob,
            at: "photos/\(key)",
            small,
            changes + [["name": "lake.png"]]
        )
        let long = try #require(at.bob.place("photos").childByAutoId().key)
        try await expectRefused(at.bob, at: "photos/\(long)", base, [["png": png + "A"]])
        #expect(try await !at.bob.mayWrite(["photos/null": small]))
        // Nothing of it is changed afterwards, by whomever.
        for person in [at.ann, at.bob] {
            #expect(try await !person.mayWrite(["photos/\(key)/png": "iVBORw0KGgoB"]))
            #expect(try await !person.mayWrite(["photos/\(key)/host": at.cyd.uid]))
            #expect(try await !person.mayWrite(["photos/\(key)": small]))
        }
    }

    @Test("a party and its key in the owner's list come and go together")
    func ownedParties() async throws {
        let at = try await evening()
        let entry = "users/\(at.ann.uid)/ownedParties/\(at.key)"
        #expect(try await !at.ann.mayWrite(["parties/\(at.key)": NSNull()]))
        #expect(try await !at.ann.mayWrite([entry: NSNull()]))
        #expect(try await at.ann.mayWrite(["parties/\(at.key)": NSNull(), entry: NSNull()]))
    }

    @Test("a refused write changes nothing here either, and is reported once")
    func rollback() async throws {
        let at = try await evening()
        let invitation = try await at.cyd.question()
        let seen = Recorder<UInt>()
        let place = at.cyd.place("users/\(at.cyd.uid)/attendingParties")
        let handle = place.observe(.value) { seen.record($0.childrenCount) }
        defer { place.removeObserver(withHandle: handle) }
        try await seen.wait(count: 1)
        try await at.ann.parties.cancel(at.key)
        let purpose = "answer: the party may be cancelled, or you off its list"
        await #expect(throws: ServiceError.refused(purpose)) {
            try await at.cyd.parties.answer(invitation, isComing: true)
        }
        // Shown at once, and taken back.
        try await seen.wait { $0 == [0, 1, 0] }
        #expect(try await at.cyd.node("users/\(at.cyd.uid)/attendingParties") == "null")
        #expect(try await at.cyd.inbox.messages().records == [invitation])
    }
}
