import Foundation
import HearthDatabase
import Party
import ServiceSupport
import TestSupport
import Testing

/// What happens to a party between a write whose answer is lost and the moment when its client sends it again.
///
/// In each the rules refuse what is sent again, and it is reported as done: it is.
enum Meanwhile: CaseIterable, Sendable {
    case guestAnswered, guestLinkedPhoto, guestFinishedUpload, hostAcceptedPhoto
    case hostRefusedPhoto, hostTookOffPhoto, hostAcceptedSuggestion, hostRefusedSuggestion
    case hostAppliedAnswer

    /// Who is there beside the actor, and the actor's other device.
    fileprivate struct Others {
        let ann: Person
        let bob: Person
        let device: Person
        let key: String
    }

    fileprivate struct Course {
        /// What comes before.
        var steps: [Step]
        /// Who makes the write.
        var actor: Int
        /// The write of `act` whose answer is lost.
        var write = 1
        var act: (Stage) async throws -> Void
        /// What others do, or the actor with another device.
        var meanwhile: @Sendable (Others) async throws -> Void
        var check: (Stage) async throws -> Void
    }

    fileprivate var course: Course {
        let (ann, bob) = (0, 1)
        let cancel: @Sendable (Others) async throws -> Void = {
            try await $0.ann.parties.cancel($0.key)
        }
        let isForgotten: (Stage) async throws -> Void = { stage in
            for person in [stage.ann, stage.bob] { try await person.start() }
            try await expect(stage.bob, at: "users/\(stage.bob.uid)/attendingParties", nil)
            try await expect(stage.bob, at: "messages/\(stage.bob.uid)", nil)
        }
        let cancelElsewhere: @Sendable (Others) async throws -> Void = {
            try await $0.device.parties.cancel($0.key)
        }
        let takeOff: @Sendable (Others) async throws -> Void = { others in
            let place = "parties/\(others.key)/guests/\(others.bob.uid)"
            try await others.ann.place(place).setValue(false)
        }
        let isLinked: (Stage) async throws -> Void = { stage in
            let user = try await stage.bob.accounts.me()
            #expect(user.uploads.isEmpty && user.photos.count == 1)
            for photo in user.photos {
                #expect(try await stage.bob.photos.load(photo) == Picture.small.get())
            }
            #expect(
                try await stage.ann.question().subject == .photo(user.photos[0], party: stage.key)
            )
        }
        switch self {
        case .guestAnswered:
            return Course(
                steps: Array(Flow.party.steps[..<1]),
                actor: bob,
                act: { try await $0.bob.parties.answer($0.bob.question(), isComing: true) },
                meanwhile: cancel,
                check: isForgotten,
            )
        case .guestLinkedPhoto:
            return Course(
                steps: Flow.party.steps,
                actor: bob,
                write: 2,
                act: { try await $0.bob.photos.add(Picture.small.get(), to: $0.key) },
                meanwhile: takeOff,
                check: isLinked,
            )
        case .guestFinishedUpload:
            return Course(
                steps: Flow.party.steps + [.by(bob) { _ = try await $0.uploadOnly() }],
                actor: bob,
                act: { stage in
                    let mended = try await stage.bob.photos.mend()
                    let photos = try await stage.bob.accounts.me().photos
                    #expect(mended == photos.map { .finished($0) })
                },
                meanwhile: takeOff,
                check: isLinked,
            )
        case .hostAcceptedPhoto:
            return Course(
                steps: Array(Flow.photo.steps[..<4]),
                actor: ann,
                act: { try await $0.ann.photos.accept($0.ann.question()) },
                meanwhile: { others in
                    try await others.bob.photos.delete(others.bob.accounts.me().photos[0])
                },
                check: { stage in
                    try await stage.ann.start()
                    try await expect(stage.ann, at: "parties/\(stage.key)/photos", nil)
                },
            )
        case .hostRefusedPhoto:
            return Course(
                steps: Array(Flow.photo.steps[..<4]),
                actor: ann,
                act: { try await $0.ann.photos.refuse($0.ann.question()) },
                meanwhile: cancelElsewhere,
                check: isForgotten,
            )
        case .hostTookOffPhoto:
            return Course(
                steps: Flow.photo.steps,
                actor: ann,
                act: { stage in
                    let photos = try await stage.ann.parties.show(stage.key).photos
                    try await stage.ann.photos.takeOff(photos[0], from: stage.key)
                },
                meanwhile: cancelElsewhere,
                check: isForgotten,
            )
        case .hostAcceptedSuggestion:
            return Course(
                steps: Array(Flow.suggestion.steps[..<4]),
                actor: ann,
                act: { try await $0.ann.suggestions.accept($0.ann.question()) },
                meanwhile: cancelElsewhere,
                check: isForgotten,
            )
        case .hostRefusedSuggestion:
            return Course(
                steps: Array(Flow.suggestion.steps[..<4]),
                actor: ann,
                act: { try await $0.ann.suggestions.refuse($0.ann.question()) },
                meanwhile: cancelElsewhere,
                check: isForgotten,
            )
        case .hostAppliedAnswer:
            return Course(
                steps: Array(Flow.party.steps[..<2]),
                actor: ann,
                act: { stage in
                    let events = try await stage.ann.inbox.apply()
                    #expect(events.count == 1)
                    for event in events {
                        guard case .applied = event else {
                            Issue.record("\(event)")
                            continue
                        }
                    }
                },
                meanwhile: cancelElsewhere,
                check: isForgotten,
            )
        }
    }
}

@Suite("writes that were done and whose answer was lost")
struct LostAnswerTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.parties() }

    @Test(
        "a flow ends as it does with all answers when any one of them is lost, and nothing is reported as refused",
        arguments: Flow.allCases
    )
    func flows(flow: Flow) async throws {
        let (whole, counter) = (try await Stage(server), try AnswerProxy(to: server.url))
        for index in whole.people.indices { try await whole.move(index, to: counter.url) }
        var writeCounts: [Int] = []
        for step in flow.steps {
            let before = counter.writeCount
            try await step.act(whole)
            writeCounts.append(counter.writeCount - before)
        }
        let expected = try await whole.state()
        #expect(writeCounts.dropFirst(flow.firstOwnStep).contains { $0 > 0 })
        for cut in flow.steps.indices.dropFirst(flow.firstOwnStep) {
            for number in 0..<writeCounts[cut] where TestSeed.isTurn(of: cut + number, in: 2) {
                let (stage, proxy) = (try await Stage(server), try AnswerProxy(to: server.url))
                for (index, step) in flow.steps.enumerated() {
                    guard index == cut else {
                        try await step.act(stage)
                        continue
                    }
                    try await stage.move(step.actor, to: proxy.url)
                    proxy.lose(number + 1)
                    await #expect(throws: Never.self, "write \(number) of step \(cut)") {
                        try await step.act(stage)
                    }
                    #expect(proxy.losses.values.count == 1)
                }
                #expect(try await stage.state() == expected, "write \(number) of step \(cut)")
            }
        }
    }

    @Test(
        "what was done is reported as done though the rules would not allow it any more when it is sent again",
        arguments: Meanwhile.allCases
    )
    func meanwhile(what: Meanwhile) async throws {
        let (stage, proxy) = (try await Stage(server), try AnswerProxy(to: server.url))
        let course = what.course
        let meanwhile = course.meanwhile
        for step in course.steps { try await step.act(stage) }
        let others = Meanwhile.Others(
            ann: stage.ann,
            bob: stage.bob,
            device: try await stage.people[course.actor].device(server.url),
            key: stage.key,
        )
        let actor = stage.people[course.actor]
        stage.people[course.actor] = try await actor.device(proxy.url)
        proxy.lose(course.write, closingDoor: true)
        async let happened: Void = {
            defer { proxy.open() }
            try await proxy.losses.wait(count: 1)
            try await meanwhile(others)
        }()
        await #expect(throws: Never.self) { try await course.act(stage) }
        try await happened
        try await course.check(stage)
    }

    @Test("a sign-up is reported as done though a party is given before it is sent again")
    func signUp() async throws {
        let (gus, email) = try await server.newcomer("Gus")
        let proxy = try AnswerProxy(to: server.url)
        let device = try await gus.device(proxy.url)
        proxy.lose(closingDoor: true)
        async let profile = device.accounts.signUp(email: email, name: "Gus")
        try await proxy.losses.wait(count: 1)
        _ = try await gus.parties.create(description: "Tea", date: midsummer)
        proxy.open()
        #expect(try await profile.name == "Gus")
        #expect(try await gus.accounts.me().ownedParties.count == 1)
    }

    @Test("a photo of a store is deleted, and reported so, when the answer is lost")
    func storedPhoto() async throws {
        let (stage, proxy) = (try await Stage(server), try AnswerProxy(to: server.url))
        for step in Flow.party.steps { try await step.act(stage) }
        let photo = try await stage.uploadOnly()
        try await stage.move(1, to: proxy.url)
        proxy.lose()
        try await stage.store().delete(forKey: photo)
        #expect(proxy.losses.values.count == 1)
        #expect(try await stage.bob.accounts.me().uploads.isEmpty)
        #expect(try await stage.bob.node("photos/\(photo)") == "denied")
    }

    @Test(
        "what cannot be linked any more is removed, and reported so, when the answer to that is lost"
    )
    func removedPhoto() async throws {
        let (stage, proxy) = (try await Stage(server), try AnswerProxy(to: server.url))
        for step in Flow.party.steps { try await step.act(stage) }
        let photo = try await stage.uploadOnly()
        try await stage.ann.parties.cancel(stage.key)
        try await stage.move(1, to: proxy.url)
        // The first is refused, with or without its answer.
        proxy.lose(2)
        #expect(try await stage.bob.photos.mend() == [.removed(photo)])
        #expect(proxy.losses.values.count == 1)
        #expect(try await stage.bob.accounts.me().uploads.isEmpty)
        #expect(try await stage.bob.node("photos/\(photo)") == "denied")
    }

    @Test("what was never done is reported as refused, whatever is there from before")
    func refused() async throws {
        let stage = try await Stage(server)
        for step in Flow.party.steps { try await step.act(stage) }
        let party = try await stage.bob.parties.show(stage.key)
        try await stage.ann.parties.cancel(stage.key)
        // The own list says yes already.
        let purpose = "answer: the party may be cancelled, or you off its list"
        await #expect(throws: ServiceError.refused(purpose)) {
            try await stage.bob.parties.answer(party, isComing: true)
        }
        await #expect(throws: ServiceError.refused(purpose)) {
            try await stage.bob.parties.answer(party, isComing: false)
        }
        // Decided with another device, as it was and otherwise.
        for isYes in [true, false] {
            let gus = try await server.partygoer("Gus")
            try await gus.friends.request(stage.eve.uid)
            let request = try await stage.eve.question()
            if isYes {
                try await stage.eve.friends.accept(request)
            } else {
                try await stage.eve.friends.refuse(request)
            }
            await #expect(throws: ServiceError.refused("accept this friendship")) {
                try await stage.eve.friends.accept(request)
            }
        }
    }
}

extension Stage {
    /// The photos that Bob brings to the party.
    fileprivate func store() async throws -> PartyPhotoStore {
        PartyPhotoStore(
            database: bob.database,
            uid: bob.uid,
            party: try await bob.parties.show(key),
        )
    }

    /// Bytes of Bob's that nothing links to yet.
    func uploadOnly() async throws -> String {
        let photo = try #require(bob.place("photos").childByAutoId().key)
        try await store().store(Picture.small.get(), forKey: photo)
        return photo
    }
}
