import Foundation
import HearthDatabase
import Party
import ServiceSupport
import TestSupport
import Testing

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
        let start = try await whole.state()
        for step in flow.steps { try await step.act(whole) }
        let expected = try await whole.state()
        // Of a party that is cancelled nothing is left.
        #expect((expected == start) == (flow == .cancellation))
        let steps = flow.steps
        for cut in steps.indices.dropFirst(flow.firstOwnStep) {
            for isBehind in [false, true] where TestSeed.isTurn(of: cut + (isBehind ? 1 : 0), in: 2)
            {
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
        let photo = try await stage.uploadOnly()
        try await stage.move(1, to: server.url)
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

    @Test(
        "a program that ends at any moment leaves all of a step or nothing",
        arguments: TestSeed.seeds(6)
    )
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
