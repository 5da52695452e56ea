import Foundation
import HearthDatabase
import Party
import ServiceSupport
import Testing

@Suite("friends and parties, from the first question to the last answer")
struct FlowTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.parties() }

    @Test("signing up writes the entry, the profile and the address, and no one does so twice")
    func signUp() async throws {
        let (fay, email) = try await server.newcomer("Fay")
        let noEntry = ServiceError.notFound("entry of this account: sign up with a name first")
        await #expect(throws: noEntry) { try await fay.accounts.me() }
        try await fay.accounts.signUp(email: email, name: "Fay", picture: "fay.png")
        try await expect(fay, at: "users/\(fay.uid)", ["uid": fay.uid, "email": email])
        try await expect(fay, at: "profiles/\(fay.uid)", ["name": "Fay", "picture": "fay.png"])
        #expect(try await fay.accounts.me().email == email)
        await #expect(throws: ServiceError.taken("this account's entry")) {
            try await fay.accounts.signUp(email: email, name: "Fay")
        }
        let bob = try await server.partygoer("Bob")
        #expect(try await bob.accounts.find(email: email.uppercased())?.uid == fay.uid)
        #expect(try await bob.accounts.find(email: "stranger@example.com") == nil)
        // The address of another is not signed up with.
        let (eve, _) = try await server.newcomer("Eve")
        await #expect(throws: ServiceError.taken(email)) {
            try await eve.accounts.signUp(email: email, name: "Fay?")
        }
        await #expect(throws: ServiceError.invalid(field: "name", why: "it is empty")) {
            try await eve.accounts.signUp(email: "eve@example.com", name: "")
        }
        #expect(try await eve.node("users/\(eve.uid)") == "null")
    }

    @Test("an accepted request stands on both sides, and applying it twice changes nothing")
    func friendship() async throws {
        let (ann, bob) = (try await server.partygoer("Ann"), try await server.partygoer("Bob"))
        #expect(try await ann.friends.request(bob.uid) == .sent)
        let request = try await bob.question()
        #expect(request.subject == .friendship && request.from == ann.uid)
        #expect(request.sentAt != nil)
        try await bob.friends.accept(request)
        try await expect(bob, at: "users/\(bob.uid)/friends", [ann.uid: true])
        try await expect(bob, at: "messages/\(bob.uid)", nil)
        try await expect(
            ann,
            at: "messages/\(ann.uid)",
            [request.key: bob.message(to: ann.uid, "friend_request", "accept")]
        )
        try await expect(ann, at: "users/\(ann.uid)/friends", nil)
        let answer = try #require(try await ann.inbox.messages().records.first)
        #expect(try await ann.inbox.apply() == [.applied(answer)])
        for _ in 1...2 {
            try await expect(ann, at: "users/\(ann.uid)/friends", [bob.uid: true])
            try await expect(ann, at: "messages/\(ann.uid)", nil)
            #expect(try await ann.inbox.apply().isEmpty)
        }
        #expect(try await ann.friends.friends().map(\.name) == ["Bob"])
        // Accepted once: not a second time, nor by asking a friend again.
        await #expect(throws: ServiceError.refused("accept this friendship")) {
            try await bob.friends.accept(request)
        }
        for (other, why) in [(bob, "you are friends already"), (ann, "that is yourself")] {
            await #expect(throws: ServiceError.invalid(field: "friend", why: why)) {
                try await ann.friends.request(other.uid)
            }
        }
    }

    @Test("a refused request leaves false on the asker's side and nothing on the other")
    func refusedFriendship() async throws {
        let (ann, bob) = (try await server.partygoer("Ann"), try await server.partygoer("Bob"))
        try await ann.friends.request(bob.uid)
        try await bob.friends.refuse(bob.question())
        try await ann.inbox.apply()
        try await expect(ann, at: "users/\(ann.uid)/friends", [bob.uid: false])
        try await expect(bob, at: "users/\(bob.uid)/friends", nil)
        try await expect(ann, at: "messages/\(ann.uid)", nil)
        try await expect(bob, at: "messages/\(bob.uid)", nil)
    }

    @Test("who asks a person that asked already accepts")
    func crossed() async throws {
        let (ann, bob) = (try await server.partygoer("Ann"), try await server.partygoer("Bob"))
        try await ann.friends.request(bob.uid)
        try await ann.friends.request(bob.uid)
        #expect(try await bob.friends.request(ann.uid) == .accepted)
        try await expect(bob, at: "messages/\(bob.uid)", nil)
        try await ann.inbox.apply()
        try await expect(ann, at: "users/\(ann.uid)/friends", [bob.uid: true])
        try await expect(bob, at: "users/\(bob.uid)/friends", [ann.uid: true])
    }

    @Test("unfriending sets the own side to false, and the other when their client starts")
    func unfriend() async throws {
        let (ann, bob, _) = try await server.circle()
        try await ann.friends.unfriend(bob.uid)
        #expect(try await ann.accounts.me().friendships[bob.uid] == false)
        try await expect(bob, at: "users/\(bob.uid)/friends", [ann.uid: true])
        try await bob.start()
        try await expect(bob, at: "users/\(bob.uid)/friends", [ann.uid: false])
        try await expect(bob, at: "messages/\(bob.uid)", nil)
        await #expect(throws: ServiceError.invalid(field: "friend", why: "you are no friends")) {
            try await ann.friends.unfriend(bob.uid)
        }
        // They may become friends again.
        try await befriend(bob, ann)
        try await expect(bob, at: "users/\(bob.uid)/friends", [ann.uid: true])
    }

    @Test(
        "a party invites all friends, their answers stand on its list, and cancelling leaves nothing"
    )
    func party() async throws {
        let (ann, bob, cyd) = try await server.circle()
        let party = try await ann.parties.create(description: "Midsummer", date: midsummer)
        let key = party.key
        let fields: [String: Any] = [
            "owner": ann.uid, "description": "Midsummer", "date": 1_782_000_000_000,
        ]
        let invited = fields.merging(["guests": [bob.uid: "invited", cyd.uid: "invited"]]) { $1 }
        for person in [ann, bob, cyd] { try await expect(person, at: "parties/\(key)", invited) }
        try await expect(ann, at: "users/\(ann.uid)/ownedParties", [key: true])
        #expect(try await bob.parties.show(key) == party)
        let invitation = try await bob.question()
        try await expect(
            bob,
            at: "messages/\(bob.uid)",
            [invitation.key: ann.message(to: bob.uid, "party_invite", "invite", party: key)]
        )

        try await bob.parties.answer(invitation, isComing: true)
        try await cyd.parties.answer(cyd.question(), isComing: false)
        try await expect(bob, at: "messages/\(bob.uid)", nil)
        try await expect(bob, at: "users/\(bob.uid)/attendingParties", [key: true])
        try await expect(cyd, at: "users/\(cyd.uid)/attendingParties", [key: false])
        try await expect(ann, at: "parties/\(key)", invited)
        try await ann.inbox.apply()
        let answered = fields.merging(["guests": [bob.uid: true, cyd.uid: false]]) { $1 }
        for person in [ann, bob] { try await expect(person, at: "parties/\(key)", answered) }
        #expect(try await cyd.node("parties/\(key)") == "denied")
        #expect(try await bob.parties.attending().records.map(\.confirmedGuests) == [[bob.uid]])

        try await ann.parties.cancel(key)
        try await expect(ann, at: "users/\(ann.uid)/ownedParties", nil)
        for person in [ann, bob, cyd] {
            #expect(try await person.node("parties/\(key)") == "denied")
        }
        try await expect(cyd, at: "messages/\(cyd.uid)", nil)
        try await bob.start()
        try await expect(bob, at: "users/\(bob.uid)/attendingParties", nil)
        try await expect(bob, at: "messages/\(bob.uid)", nil)
    }

    @Test("a description and a date change, and the person who refused is invited again")
    func change() async throws {
        let (ann, bob, cyd) = try await server.circle()
        let key = try await ann.parties.create(description: "Tea", date: midsummer).key
        try await ann.parties.change(key, description: "Coffee", date: midsummer + 3600)
        let shown = try await bob.parties.show(key)
        #expect(shown.description == "Coffee" && shown.date == midsummer + 3600)
        let why = "it is another's, who alone changes it"
        await #expect(throws: ServiceError.invalid(field: "party", why: why)) {
            try await bob.parties.change(key, description: "Beer")
        }
        await #expect(throws: ServiceError.invalid(field: "description", why: "it is empty")) {
            try await ann.parties.change(key, description: "")
        }
        try await cyd.parties.answer(cyd.question(), isComing: false)
        // The old refusal still waits: it is no answer to the new invitation.
        try await ann.parties.invite(cyd.uid, to: key)
        try await ann.start()
        try await cyd.parties.answer(cyd.question(), isComing: true)
        try await ann.start()
        try await expect(ann, at: "parties/\(key)/guests", [bob.uid: "invited", cyd.uid: true])
        // Who thinks again is off it.
        try await cyd.parties.answer(cyd.parties.show(key), isComing: false)
        try await ann.start()
        try await expect(ann, at: "parties/\(key)/guests", [bob.uid: "invited", cyd.uid: false])
        try await expect(cyd, at: "users/\(cyd.uid)/attendingParties", [key: false])
    }

    @Test(
        "cancelling tells who said yes though no one has applied it, and mending who was only invited"
    )
    func cancelEarly() async throws {
        let (ann, bob, cyd) = try await server.circle()
        let key = try await ann.parties.create(description: "Tea", date: midsummer).key
        try await bob.parties.answer(bob.question(), isComing: true)
        let invitation = try await cyd.question()
        try await ann.parties.cancel(key)
        try await expect(ann, at: "messages/\(ann.uid)", nil)
        try await bob.start()
        try await expect(bob, at: "users/\(bob.uid)/attendingParties", nil)
        let purpose = "answer: the party may be cancelled, or you off its list"
        await #expect(throws: ServiceError.refused(purpose)) {
            try await cyd.parties.answer(invitation, isComing: true)
        }
        #expect(try await cyd.inbox.mend() == [key])
        try await expect(cyd, at: "messages/\(cyd.uid)", nil)
        #expect(try await cyd.inbox.mend().isEmpty)
    }

    @Test("a guest suggests a friend, who becomes the host's friend and guest")
    func suggestion() async throws {
        let (ann, bob, _) = try await server.circle()
        let eve = try await server.partygoer("Eve")
        try await befriend(bob, eve)
        let key = try await ann.parties.create(description: "Tea", date: midsummer).key
        let why = "they know of this party already"
        await #expect(throws: ServiceError.invalid(field: "guest", why: why)) {
            try await bob.suggestions.suggest(ann.uid, for: key)
        }
        try await bob.suggestions.suggest(eve.uid, for: key)
        let suggestion = try await ann.question()
        #expect(suggestion.subject == .suggestion(guest: eve.uid, party: key))
        try await ann.suggestions.accept(suggestion)
        try await expect(ann, at: "messages/\(ann.uid)", nil)
        let questions = try await eve.inbox.messages().records
        #expect(questions.map(\.subject) == [.friendship, .party(key)])
        try await eve.friends.accept(questions[0])
        try await eve.parties.answer(questions[1], isComing: true)
        try await ann.start()
        try await expect(ann, at: "parties/\(key)/guests/\(eve.uid)", true)
        #expect(try await ann.accounts.me().friends.contains(eve.uid))
        #expect(try await bob.inbox.messages().records.last?.content == .accept)
        try await bob.inbox.apply()
        #expect(try await bob.inbox.messages().records.map(\.isQuestion) == [true])
    }

    @Test("a host refuses a suggestion, and only its guest is notified of it")
    func refusedSuggestion() async throws {
        let (ann, bob, cyd) = try await server.circle()
        let eve = try await server.partygoer("Eve")
        try await befriend(bob, eve)
        let key = try await ann.parties.create(description: "Tea", date: midsummer).key
        let why = "they are no friend of yours"
        await #expect(throws: ServiceError.invalid(field: "guest", why: why)) {
            try await cyd.suggestions.suggest(eve.uid, for: key)
        }
        try await bob.suggestions.suggest(eve.uid, for: key)
        try await ann.suggestions.refuse(ann.question())
        try await expect(ann, at: "messages/\(ann.uid)", nil)
        try await expect(eve, at: "messages/\(eve.uid)", nil)
        #expect(try await bob.inbox.apply().count == 1)
        try await expect(ann, at: "parties/\(key)/guests/\(eve.uid)", nil)
    }
}
