import TestSupport
import Testing

@testable import PushWorker

@Suite("how a push is delivered")
struct DeliveryTests {
    private let minute = PushWorld.minute

    /// Bea is away and has a message; the push is due.
    private func due(_ answers: [PostAnswer] = []) -> PushWorld {
        var world = PushWorld()
        world.answers = answers
        world.leaves("bea")
        world.writes("ann", to: "bea")
        world.pass(10 * minute - 1)
        return world
    }

    private let state: (PushWorld) -> PushRecord.State? = { $0.pushed["bea"]?["c1"]?.state }

    @Test("what is accepted is done, and has no text left behind")
    func done() {
        let world = due()
        #expect(world.posted.count == 1)
        #expect(world.reports == [.delivered(PushThread("bea", "c1"), tries: 1)])
        #expect(state(world) == .done)
        #expect(world.pushed["bea"]?["c1"]?.body == nil)
    }

    @Test("what fails is tried again after growing waits, with the same id and bytes")
    func again() {
        let failures = Array(repeating: PostAnswer.later("503", seconds: nil), count: 8)
        var world = due(failures)
        world.pass(5 * 60 * minute)
        #expect(world.posts.count == 9)
        #expect(Set(world.posts.map(\.id)).count == 1)
        #expect(Set(world.posts.map(\.body)).count == 1)
        let waits = zip(world.posts.dropFirst(), world.posts).map { ($0.at - $1.at) / 1000 }
        #expect(waits == [1, 5, 30, 120, 600, 1800, 3600, 3600])
        #expect(state(world) == .done)
    }

    @Test(
        "the receiver may ask for longer, within limits",
        arguments: [(0, 1), (20, 20), (100_000, 3600), (nil, 1)] as [(Int64?, Int64)]
    )
    func retryAfter(asked: Int64?, waited: Int64) {
        var world = due([.later("429", seconds: asked)])
        world.pass(waited * 1000 - 1)
        #expect(world.posts.count == 1)
        world.pass(1)
        #expect(world.posts.count == 2)
    }

    @Test("what is refused is given up and never tried again")
    func refused() {
        var world = due([.refused("410")])
        world.pass(20 * 60 * minute)
        world.restart()
        #expect(world.posts.count == 1)
        #expect(state(world) == .refused)
        #expect(world.reports == [.gaveUp(PushThread("bea", "c1"), "410")])
    }

    @Test("a webhook that is down for a day is given up")
    func tooLate() {
        var world = due(Array(repeating: .later("down", seconds: nil), count: 100))
        world.pass(25 * 60 * minute)
        #expect(state(world) == .refused)
        #expect(world.posts.count < 40)
    }

    @Test("between tries it is looked whether the push is still wanted", arguments: 0..<4)
    func droppedBetweenTries(way: Int) {
        var world = due([.later("503", seconds: 60)])
        switch way {
        case 0: world.comes("bea")
        case 1:
            world.comes("bea")
            world.leaves("bea")
        case 2: world.give(.mutes("bea", ["c1"]))
        default: world.give(.threads("bea", .direct, [:]))
        }
        world.pass(60 * minute)
        #expect(world.posts.count == 1)
        #expect(world.reports.last == .dropped(PushThread("bea", "c1")))
        #expect(state(world) == .done)
    }

    @Test("a claim is stored before anything is posted")
    func claimFirst() {
        var world = due()
        world.pass(minute)
        world.comes("bea")
        world.pass(minute)
        world.leaves("bea")
        world.isAnswering = false
        world.writes("ann", to: "bea")
        world.pass(10 * minute)
        world.answerOne()
        #expect(world.unanswered.count == 1)
        guard case .claim(_, let record) = world.unanswered.first else {
            Issue.record("no claim")
            return
        }
        #expect(world.posts.count == 1)
        world.answerOne()
        #expect(world.posts.count == 2)
        #expect(world.posts.last?.id == record.id)
    }

    @Test("killed at each step and started again, each push has one id and nothing is lost")
    func killed() {
        // Steps: looked up, claimed, posted, recorded.
        for stepCount in 0...4 {
            var world = PushWorld()
            world.leaves("bea")
            world.pass(1)
            world.writes("ann", to: "bea")
            world.isAnswering = false
            world.pass(10 * minute)
            for _ in 0..<stepCount { world.answerOne() }
            let before = world.posts.count
            world.restart()
            world.pass(60 * minute)
            // A post of which no one knows how it ended is the only one that is repeated.
            let isUnknown = stepCount == 2 || stepCount == 3
            #expect(world.posts.count == (isUnknown ? 2 : 1), "\(stepCount)")
            #expect(world.posts.count - before == (stepCount == 4 ? 0 : 1), "\(stepCount)")
            #expect(Set(world.posts.map(\.id)).count == 1)
            #expect(Set(world.posts.map(\.body)).count == 1)
            #expect(state(world) == .done)
        }
    }

    @Test("what was claimed and is not wanted any more is not posted by the next worker")
    func orphan() {
        var world = due([.later("503", seconds: 600)])
        world.comes("bea")
        world.leaves("bea")
        world.restart()
        world.pass(60 * minute)
        #expect(world.posts.count == 1)
        #expect(state(world) == .done)
    }

    @Test("a restart sends nothing again, nor does the message that comes behind it")
    func restart() {
        var world = due()
        world.restart()
        world.writes("ann", to: "bea")
        world.pass(60 * minute)
        #expect(world.posts.count == 1)
    }

    @Test("asked to stop, a worker begins nothing and waits for what is under way")
    func stop() {
        var world = PushWorld()
        world.leaves("bea")
        world.leaves("cid")
        world.writes("ann", to: "bea")
        world.isAnswering = false
        world.pass(10 * minute)
        world.answerOne()
        world.answerOne()
        world.writes("ann", to: "cid", chat: "c2")
        world.give(.stop)
        #expect(!world.isFinished)
        world.answerOne()
        world.answerOne()
        world.answer()
        #expect(world.isFinished)
        #expect(world.posted == ["bea/c1"])
        #expect(state(world) == .done)
    }

    @Test("a claim that the database refuses is reported, and not asked again")
    func claimRefused() {
        var world = PushWorld()
        world.leaves("bea")
        world.writes("ann", to: "bea")
        world.isAnswering = false
        world.pass(10 * minute)
        world.answerOne()
        world.give(.claimed(PushThread("bea", "c1"), fault: "no"))
        world.give(.records("bea", [:]))
        world.pass(60 * minute)
        #expect(world.posts.isEmpty)
        #expect(world.reports == [.fault(PushThread("bea", "c1"), "no")])
        #expect(world.unanswered.count == 1)
    }

    @Test("a look-up that fails is done again")
    func lookUpFails() {
        var world = PushWorld()
        world.leaves("bea")
        world.writes("ann", to: "bea")
        world.isAnswering = false
        world.pass(10 * minute)
        world.give(.sender(PushThread("bea", "c1"), .unknown))
        #expect(world.core.deliveries.isEmpty)
        world.isAnswering = true
        world.pass(minute)
        #expect(world.posted == ["bea/c1"])
    }

    @Test("what is kept about a thread goes with the thread")
    func forget() {
        var world = due()
        world.give(.threads("bea", .direct, [:]))
        #expect(world.pushed["bea"]?.isEmpty == true)
        world.pushed["bea"] = [
            "old": PushRecord(id: "x", at: 1, claimedAt: 1, state: .done, unread: nil, body: nil)
        ]
        world.restart()
        #expect(world.pushed["bea"]?.isEmpty == true)
    }

    @Test("an id is of recipient, thread and message, wherever one ends and the next begins")
    func ids() {
        let id = PushID.of(PushThread("ann", "c1"), "-m1")
        #expect(id == PushID.of(PushThread("ann", "c1"), "-m1"))
        let others = [
            PushID.of(PushThread("annc", "1"), "-m1"), PushID.of(PushThread("ann", "c1-"), "m1"),
            PushID.of(PushThread("bea", "c1"), "-m1"), PushID.of(PushThread("ann", "c1"), "-m2"),
        ]
        #expect(Set(others + [id]).count == 5)
        #expect(id.count == 69)
    }

    @Test("an agenda gives what is due in order, each thread once and at its latest time")
    func agenda() {
        for seed in TestSeed.seeds(20) {
            var random = SeededGenerator(seed: seed)
            func next(_ limit: Int) -> Int { random.index(limit) }
            var agenda = Agenda()
            var model: [PushThread: Int64] = [:]
            for _ in 0..<300 {
                let thread = PushThread("p\(next(20))", "c")
                switch next(4) {
                case 0:
                    agenda.remove(thread)
                    model[thread] = nil
                case 1:
                    let now = Int64(next(100))
                    var taken: [PushThread] = []
                    while let thread = agenda.take(until: now) { taken.append(thread) }
                    let expected = model.filter { $0.value <= now }
                        .sorted { ($0.value, $0.key) < ($1.value, $1.key) }
                    #expect(taken == expected.map(\.key), "seed \(seed)")
                    for thread in taken { model[thread] = nil }
                default:
                    let time = Int64(next(100))
                    agenda.set(thread, at: time)
                    model[thread] = time
                }
            }
        }
    }
}
