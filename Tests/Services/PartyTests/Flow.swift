import Foundation
import HearthDatabase
import Party
import ServiceSupport
import Testing

/// Ann, who hosts, Bob and Cyd, who are friends of hers, and Eve, who is a friend of Bob's.
final class Stage {
    let server: ServiceServer
    var people: [Person]
    /// The party of those flows that begin with one.
    var key = ""

    var ann: Person { people[0] }
    var bob: Person { people[1] }
    var cyd: Person { people[2] }
    var eve: Person { people[3] }

    init(_ server: ServiceServer) async throws {
        self.server = server
        let (ann, bob, cyd) = try await server.circle()
        people = [ann, bob, cyd, try await server.partygoer("Eve")]
        try await befriend(people[1], people[3])
    }

    /// A person's program ends and starts again.
    func restart(_ index: Int) async throws {
        try await move(index, to: server.url)
        try await people[index].start()
    }

    /// A person goes on with a device that reaches the server at another address.
    func move(_ index: Int, to url: String) async throws {
        let device = try await people[index].device(url)
        await people[index].app.delete()
        people[index] = device
    }

    /// All that these people can see of what is their own, with names for what differs from run to run.
    func state() async throws -> String {
        var lines: [String] = []
        for person in people {
            try await person.start()
            lines.append(try await person.node("users/\(person.uid)"))
            lines.append(try await person.node("profiles/\(person.uid)"))
            lines.append(try await person.node("messages/\(person.uid)"))
            for party in try await person.accounts.me().ownedParties {
                lines.append(try await person.node("parties/\(party)"))
            }
            for photo in try await person.accounts.me().photos {
                lines.append("photo for \(try await person.node("photos/\(photo)/party"))")
            }
        }
        var text = lines.joined(separator: "\n")
        for (person, name) in zip(people, ["ann", "bob", "cyd", "eve"]) {
            text = text.replacing(try await person.accounts.me().email, with: "\(name)@")
                .replacing(person.uid, with: name)
        }
        text = text.replacing(/"-[A-Za-z0-9_-]{19}"/, with: "\"KEY\"")
        // What is sorted by a uid is in another order in each run.
        return text.split(separator: "\n").map { line in
            line.split(separator: /[,{}]/).sorted().joined(separator: ",")
        }.joined(separator: "\n")
    }
}

/// One update of a flow: who makes it, and how.
struct Step {
    let actor: Int
    let act: (Stage) async throws -> Void

    static func by(_ actor: Int, _ act: @escaping (Stage) async throws -> Void) -> Step {
        Step(actor: actor, act: act)
    }
}

/// The flows, each as its steps. Those about a party that Bob comes to begin as `party` does.
enum Flow: CaseIterable, Sendable {
    case friendship, refusedFriendship, unfriending, party, refusedParty, cancellation
    case photo, refusedPhoto, ownPhoto, deletedPhoto, suggestion, refusedSuggestion
    case change, secondInvitation, secondThoughts, photoTakenOff, dismissal, profile

    /// Where the steps begin that no other flow is cut at.
    var firstOwnStep: Int {
        switch self {
        case .friendship, .refusedFriendship, .unfriending, .party, .refusedParty, .ownPhoto,
            .profile:
            0
        case .change, .dismissal: 1
        case .cancellation, .photo, .refusedPhoto, .suggestion, .refusedSuggestion,
            .secondInvitation, .secondThoughts:
            3
        case .deletedPhoto, .photoTakenOff: 6
        }
    }

    var steps: [Step] {
        let (ann, bob, cyd, eve) = (0, 1, 2, 3)
        let create = Step.by(ann) {
            $0.key = try await $0.ann.parties.create(description: "Tea", date: midsummer).key
        }
        let come = Step.by(bob) {
            try await $0.bob.parties.answer($0.bob.question(), isComing: true)
        }
        let apply = Step.by(ann) { try await $0.ann.inbox.apply() }
        let upload = Step.by(bob) { try await $0.bob.photos.add(Picture.small.get(), to: $0.key) }
        let acceptPhoto = Step.by(ann) { try await $0.ann.photos.accept($0.ann.question()) }
        let suggest = Step.by(bob) {
            try await $0.bob.suggestions.suggest($0.eve.uid, for: $0.key)
        }
        let hear = Step.by(bob) { try await $0.bob.inbox.apply() }
        let guests = [create, come, apply]
        let stayAway = Step.by(cyd) {
            try await $0.cyd.parties.answer($0.cyd.question(), isComing: false)
        }
        return switch self {
        case .friendship:
            [
                .by(ann) { try await $0.ann.friends.request($0.eve.uid) },
                .by(eve) { try await $0.eve.friends.accept($0.eve.question()) }, apply,
            ]
        case .refusedFriendship:
            [
                .by(ann) { try await $0.ann.friends.request($0.eve.uid) },
                .by(eve) { try await $0.eve.friends.refuse($0.eve.question()) }, apply,
            ]
        case .unfriending: [.by(ann) { try await $0.ann.friends.unfriend($0.bob.uid) }, hear]
        case .party: guests
        case .refusedParty:
            [create, stayAway, apply]
        case .cancellation: guests + [.by(ann) { try await $0.ann.parties.cancel($0.key) }, hear]
        case .photo: guests + [upload, acceptPhoto, hear]
        case .refusedPhoto:
            guests + [
                upload, .by(ann) { try await $0.ann.photos.refuse($0.ann.question()) }, hear,
            ]
        case .ownPhoto:
            [create, .by(ann) { try await $0.ann.photos.add(Picture.small.get(), to: $0.key) }]
        case .deletedPhoto:
            guests + [
                upload, acceptPhoto, hear,
                .by(bob) { stage in
                    let photos = try await stage.bob.accounts.me().photos
                    for photo in photos { try await stage.bob.photos.delete(photo) }
                },
                apply,
            ]
        case .suggestion:
            guests + [
                suggest,
                .by(ann) { try await $0.ann.suggestions.accept($0.ann.question()) }, hear,
                .by(eve) { stage in
                    for question in try await stage.eve.inbox.messages().records {
                        switch question.subject {
                        case .friendship: try await stage.eve.friends.accept(question)
                        case .party: try await stage.eve.parties.answer(question, isComing: true)
                        case .suggestion, .photo: Issue.record("\(question)")
                        }
                    }
                },
                apply,
            ]
        case .refusedSuggestion:
            guests + [
                suggest, .by(ann) { try await $0.ann.suggestions.refuse($0.ann.question()) }, hear,
            ]
        case .change:
            [
                create,
                .by(ann) {
                    try await $0.ann.parties.change($0.key, description: "Cake", date: midsummer)
                },
            ]
        case .secondInvitation:
            [
                create, stayAway, apply,
                .by(ann) { try await $0.ann.parties.invite($0.cyd.uid, to: $0.key) },
                .by(cyd) { try await $0.cyd.parties.answer($0.cyd.question(), isComing: true) },
                apply,
            ]
        case .secondThoughts:
            guests + [
                .by(bob) {
                    let party = try await $0.bob.parties.show($0.key)
                    try await $0.bob.parties.answer(party, isComing: false)
                }, apply,
            ]
        case .photoTakenOff:
            guests + [
                upload, acceptPhoto, hear,
                .by(ann) { stage in
                    let photos = try await stage.ann.parties.show(stage.key).photos
                    for photo in photos { try await stage.ann.photos.delete(photo) }
                },
            ]
        case .dismissal:
            [create, .by(cyd) { try await $0.cyd.inbox.dismiss($0.cyd.question()) }]
        case .profile:
            [
                .by(ann) { try await $0.ann.accounts.change(name: "Anna") },
                .by(bob) { stage in
                    let name = try await stage.bob.accounts.profile(of: stage.ann.uid)?.name
                    #expect(name == "Anna")
                },
            ]
        }
    }
}
