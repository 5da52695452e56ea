import Foundation
import HearthDatabase
import Party
import ServiceSupport
import TestSupport
import Testing

/// Ann, who hosts, Bob and Cyd, who are friends of hers, and Eve, who is a friend of Bob's.
private final class Stage {
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

    /// Somebody's program ends and starts again.
    func restart(_ index: Int) async throws {
        let device = try await people[index].device(server.url)
        await people[index].app.delete()
        people[index] = device
        try await device.start()
    }

    /// All that these people can see of what is their own, with names for what differs from run to run.
    func state() async throws -> String {
        var lines: [String] = []
        for person in people {
            try await person.start()
            lines.append(try await person.node("users/\(person.uid)"))
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
private struct Step {
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

    /// Where the steps begin that no other flow is cut at.
    fileprivate var firstOwnStep: Int {
        switch self {
        case .friendship, .refusedFriendship, .unfriending, .party, .refusedParty, .ownPhoto: 0
        case .cancellation, .photo, .refusedPhoto, .suggestion, .refusedSuggestion: 3
        case .deletedPhoto: 6
        }
    }

    fileprivate var steps: [Step] {
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
            [
                create,
                .by(cyd) { try await $0.cyd.parties.answer($0.cyd.question(), isComing: false) },
                apply,
            ]
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
        }
    }
}

@Suite("cuts in the middle of a flow")
struct CutTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.parties() }

    @Test(
        "a flow that is cut before or behind any of its steps ends as one that is not",
        arguments: Flow.allCases
    )
    func steps(flow: Flow) async throws {
        let whole = try await Stage(server)
        for step in flow.steps { try await step.act(whole) }
        let expected = try await whole.state()
        let steps = flow.steps
        for cut in steps.indices.dropFirst(flow.firstOwnStep) {
            for isBehind in [false, true] {
                let stage = try await Stage(server)
                for (index, step) in steps.enumerated() {
                    if index == cut, !isBehind { try await stage.restart(step.actor) }
                    try await step.act(stage)
                    if index == cut, isBehind { try await stage.restart(step.actor) }
                }
                let state = try await stage.state()
                #expect(state == expected, "cut \(isBehind ? "behind" : "before") step \(cut)")
            }
        }
    }

    /// A guest's photo whose bytes have arrived, and a program that ended there.
    private func cutUpload() async throws -> (stage: Stage, photo: String) {
        let stage = try await Stage(server)
        for step in Flow.party.steps { try await step.act(stage) }
        let store = PartyPhotoStore(
            database: stage.bob.database,
            uid: stage.bob.uid,
            party: try await stage.bob.parties.show(stage.key),
        )
        let photo = try #require(stage.bob.place("photos").childByAutoId().key)
        try await store.store(Picture.small.get(), forKey: photo)
        let device = try await stage.bob.device(server.url)
        await stage.bob.app.delete()
        stage.people[1] = device
        return (stage, photo)
    }

    @Test("bytes that nothing links to are linked at the next start, and the host is asked once")
    func linked() async throws {
        let (stage, photo) = try await cutUpload()
        #expect(try await stage.bob.accounts.me().uploads == [photo: stage.key])
        #expect(try await stage.bob.photos.mend() == [.finished(photo)])
        #expect(try await stage.bob.photos.mend().isEmpty)
        #expect(try await stage.ann.question().subject == .photo(photo, party: stage.key))
        let bob = try await stage.bob.accounts.me()
        #expect(bob.uploads.isEmpty && bob.photos == [photo])
        try await stage.ann.photos.accept(stage.ann.question())
        try await expect(stage.ann, at: "parties/\(stage.key)/photos", [photo: true])
    }

    @Test("bytes for a party that is no more are deleted at the next start")
    func removed() async throws {
        let (stage, photo) = try await cutUpload()
        try await stage.ann.parties.cancel(stage.key)
        #expect(try await stage.bob.photos.mend() == [.removed(photo)])
        let bob = try await stage.bob.accounts.me()
        #expect(bob.uploads.isEmpty && bob.photos.isEmpty)
        #expect(try await stage.bob.node("photos/\(photo)") == "denied")
    }

    @Test("a program that ends at any moment leaves all of a step or nothing", arguments: 1...6)
    func anyMoment(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let stage = try await Stage(server)
        for step in Flow.party.steps { try await step.act(stage) }
        // The host's program ends as she makes a party, a guest's as he uploads.
        let (ann, bob, key) = (stage.ann, stage.bob, stage.key)
        let making = Task {
            _ = try await ann.parties.create(description: "Coffee", date: midsummer)
        }
        let adding = Task { _ = try await bob.photos.add(Picture.small.get(), to: key) }
        for _ in 0..<random.index(20_000) { await Task.yield() }
        for index in [0, 1] { try await stage.restart(index) }
        // Whether it was done in time or not: both ends are right.
        _ = await (making.result, adding.result)
        for index in [0, 1] { try await stage.people[index].start() }

        let host = try await stage.ann.accounts.me()
        #expect(
            try await stage.ann.parties.owned().records.map(\.key).sorted() == host.ownedParties
        )
        let invitations = try await stage.cyd.inbox.messages().records
        #expect(invitations.count == host.ownedParties.count, "seed \(seed)")
        let guest = try await stage.bob.accounts.me()
        #expect(guest.uploads.isEmpty, "seed \(seed)")
        let asked = try await stage.ann.inbox.messages().records.map(\.subject)
        #expect(asked == guest.photos.map { .photo($0, party: key) }, "seed \(seed)")
        for photo in guest.photos {
            #expect(try await stage.ann.photos.load(photo) == Picture.small.get())
        }
    }
}
