import Testing

@testable import PushWorker

@Suite("who is notified of what")
struct PushCoreTests {
    private let minute = PushWorld.minute

    /// A line of what happens, and who was posted to at the end.
    struct Story: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let posted: [String]
        let happens: @Sendable (inout PushWorld) -> Void

        init(
            _ name: String,
            _ posted: [String],
            _ happens: @escaping @Sendable (inout PushWorld) -> Void,
        ) {
            testDescription = name
            self.posted = posted
            self.happens = happens
        }
    }

    private static let m = PushWorld.minute

    static let stories = [
        Story("who is away for ten minutes is notified of a direct message", ["bea/c1"]) {
            $0.leaves("bea")
            $0.writes("ann", to: "bea")
            $0.pass(10 * m)
        },
        Story("no one is notified before", []) {
            $0.leaves("bea")
            $0.writes("ann", to: "bea")
            $0.pass(10 * m - 2)
        },
        Story("nor of a direct message that was read on a device that says nothing", []) {
            $0.leaves("bea")
            $0.writes("ann", to: "bea", counts: true)
            $0.reads("bea", "c1")
            $0.pass(60 * m)
        },
        Story("but of one that came while they were there and was not read", ["bea/c1"]) {
            $0.comes("bea")
            $0.writes("ann", to: "bea", counts: true)
            $0.pass(PushLimits.unnoticed)
            $0.leaves("bea")
            $0.pass(60 * m)
        },
        Story("and again of one behind those that were read", ["bea/c1", "bea/c1"]) {
            $0.leaves("bea")
            $0.writes("ann", to: "bea", counts: true)
            $0.pass(20 * m)
            $0.reads("bea", "c1")
            $0.writes("ann", to: "bea", counts: true)
            $0.pass(20 * m)
        },
        Story("but not of one behind those that were not", ["bea/c1"]) {
            $0.leaves("bea")
            $0.writes("ann", to: "bea", counts: true)
            $0.pass(20 * m)
            $0.writes("ann", to: "bea", counts: true)
            $0.pass(m)
            $0.writes("ann", to: "bea", counts: false)
            $0.pass(20 * m)
        },
        Story("a message of a client that keeps no count goes by presence", ["bea/c1"]) {
            $0.comes("bea")
            $0.writes("ann", to: "bea", counts: true)
            $0.reads("bea", "c1")
            $0.leaves("bea")
            $0.pass(m)
            $0.writes("ann", to: "bea", counts: false)
            $0.pass(60 * m)
        },
        Story("no one is notified of their own message, however much is unread", []) {
            $0.comes("bea")
            $0.writes("ann", to: "bea", counts: true)
            $0.pass(m)
            $0.writes("bea", to: "ann", counts: true)
            $0.leaves("bea")
            $0.pass(60 * m)
        },
        Story("who is away for long is notified at once", ["bea/c1"]) {
            $0.leaves("bea")
            $0.pass(60 * m)
            $0.writes("ann", to: "bea")
        },
        Story("who is there is not notified", []) {
            $0.comes("bea")
            $0.writes("ann", to: "bea")
            $0.pass(60 * m)
        },
        Story("nor of what came while they were there", []) {
            $0.comes("bea")
            $0.writes("ann", to: "bea")
            $0.pass(PushLimits.unnoticed)
            $0.leaves("bea")
            $0.pass(60 * m)
        },
        Story("but of what came when their connection may have been dead", ["bea/c1"]) {
            $0.comes("bea")
            $0.writes("ann", to: "bea")
            $0.pass(PushLimits.unnoticed - 1)
            $0.leaves("bea")
            $0.pass(60 * m)
        },
        Story("not before they have been away for ten minutes", []) {
            $0.comes("bea")
            $0.writes("ann", to: "bea")
            $0.pass(20_000)
            $0.leaves("bea")
            $0.pass(10 * m - 2)
        },
        Story("and once, however often they come and go behind it", ["bea/c1"]) {
            $0.comes("bea")
            $0.writes("ann", to: "bea")
            for _ in 0..<3 {
                $0.leaves("bea")
                $0.pass(11 * m)
                $0.comes("bea")
            }
            $0.leaves("bea")
            $0.restart()
            $0.pass(60 * m)
        },
        Story("nor once more for one that they come back from within that time", ["bea/c1"]) {
            $0.leaves("bea")
            $0.writes("ann", to: "bea")
            $0.pass(10 * m)
            $0.comes("bea")
            $0.leaves("bea")
            $0.pass(60 * m)
        },
        Story("nor of what they wrote themselves just before they left", []) {
            $0.leaves("ann")
            $0.comes("bea")
            $0.writes("ann", to: "bea")
            $0.pass(1000)
            $0.writes("bea", to: "ann")
            $0.give(.threads("ann", .direct, [:]))
            $0.leaves("bea")
            $0.pass(5 * m)
            $0.restart()
            $0.pass(60 * m)
        },
        Story("of a room that they did not read while they were there", ["bea/r1"]) {
            $0.comes("bea")
            $0.speaks("ann", in: "r1", to: ["bea"])
            $0.pass(60 * m)
            $0.leaves("bea")
            $0.pass(60 * m)
            $0.comes("bea")
            $0.leaves("bea")
            $0.pass(60 * m)
        },
        Story("not of one that they read and left at once", []) {
            $0.comes("bea")
            $0.speaks("ann", in: "r1", to: ["bea"])
            $0.reads("bea", "r1")
            $0.leaves("bea")
            $0.pass(60 * m)
        },
        Story("who comes in time is not notified", []) {
            $0.leaves("bea")
            $0.writes("ann", to: "bea")
            $0.pass(9 * m)
            $0.comes("bea")
            $0.pass(m)
            $0.leaves("bea")
            $0.pass(60 * m)
        },
        Story("the sender is not notified, though away", ["bea/c1"]) {
            $0.leaves("ann")
            $0.leaves("bea")
            $0.pass(20 * m)
            $0.writes("ann", to: "bea")
            $0.pass(60 * m)
        },
        Story("nor a sender in a room, whatever else they have not read", ["bea/r1"]) {
            $0.leaves("ann")
            $0.leaves("bea")
            $0.speaks("bea", in: "r1", to: ["ann"])
            $0.pass(m)
            $0.speaks("ann", in: "r1", to: ["bea"])
            $0.pass(60 * m)
        },
        Story("a muted thread is silent, another one is not", ["bea/r1"]) {
            $0.leaves("bea")
            $0.give(.mutes("bea", ["c1"]))
            $0.writes("ann", to: "bea")
            $0.speaks("ann", in: "r1", to: ["bea"])
            $0.pass(60 * m)
        },
        Story("a thread that is muted while it waits is silent", []) {
            $0.leaves("bea")
            $0.writes("ann", to: "bea")
            $0.pass(9 * m)
            $0.give(.mutes("bea", ["c1"]))
            $0.pass(60 * m)
        },
        Story("a thread that is muted no more is pushed", ["bea/c1"]) {
            $0.leaves("bea")
            $0.give(.mutes("bea", ["c1"]))
            $0.writes("ann", to: "bea")
            $0.pass(60 * m)
            $0.give(.mutes("bea", []))
        },
        Story("a room that was read elsewhere is not pushed", []) {
            $0.leaves("bea")
            $0.speaks("ann", in: "r1", to: ["bea"])
            $0.pass(9 * m)
            $0.reads("bea", "r1")
            $0.pass(60 * m)
        },
        Story("one push for a thread in one absence", ["bea/c1"]) {
            $0.leaves("bea")
            for _ in 0..<30 {
                $0.writes("ann", to: "bea")
                $0.pass(m)
            }
        },
        Story("and one for each thread", ["bea/c1", "bea/c2", "bea/r1"]) {
            $0.leaves("bea")
            $0.writes("ann", to: "bea")
            $0.writes("cid", to: "bea", chat: "c2")
            $0.speaks("ann", in: "r1", to: ["bea"])
            $0.pass(60 * m)
        },
        Story("and one more for the next absence", ["bea/c1", "bea/c1"]) {
            for _ in 0..<2 {
                $0.leaves("bea")
                $0.pass(m)
                $0.writes("ann", to: "bea")
                $0.pass(60 * m)
                $0.comes("bea")
            }
        },
        Story("what was pushed and still not read is not pushed in the next absence", ["bea/r1"]) {
            $0.leaves("bea")
            $0.pass(m)
            $0.speaks("ann", in: "r1", to: ["bea"])
            $0.pass(60 * m)
            $0.comes("bea")
            $0.pass(m)
            $0.leaves("bea")
            $0.pass(60 * m)
        },
        Story("a room that was read is pushed again without a return", ["bea/r1", "bea/r1"]) {
            $0.leaves("bea")
            $0.speaks("ann", in: "r1", to: ["bea"])
            $0.pass(60 * m)
            $0.reads("bea", "r1")
            $0.pass(m)
            $0.speaks("ann", in: "r1", to: ["bea"])
            $0.pass(60 * m)
        },
        Story("who has never been there is away since the message", ["bea/c1"]) {
            $0.pass(m)
            $0.writes("ann", to: "bea")
            $0.pass(10 * m)
        },
        Story("and later messages do not put it off", ["bea/c1"]) {
            for _ in 0..<11 {
                $0.writes("ann", to: "bea")
                $0.pass(m)
            }
        },
        Story("the person who writes is there, whatever presence says", []) {
            $0.writes("ann", to: "bea")
            $0.pass(m)
            $0.writes("bea", to: "ann")
            $0.give(.presence("ann", isOnline: true))
            $0.pass(60 * m)
        },
        Story("a message of yesterday is no news", []) {
            $0.give(.watching(false))
            $0.leaves("bea")
            $0.pass(m)
            $0.writes("ann", to: "bea")
            $0.pass(24 * 60 * m + 1)
            $0.give(.watching(true))
            $0.pass(60 * m)
        },
        Story("without a connection nothing begins", []) {
            $0.give(.watching(false))
            $0.leaves("bea")
            $0.writes("ann", to: "bea")
            $0.pass(60 * m)
        },
        Story("and who came meanwhile is not notified when there is one again", []) {
            $0.leaves("bea")
            $0.writes("ann", to: "bea")
            $0.give(.watching(false))
            $0.pass(60 * m)
            $0.comes("bea")
            $0.give(.watching(true))
        },
        Story("a chat that is deleted is not pushed", []) {
            $0.leaves("bea")
            $0.writes("ann", to: "bea")
            $0.pass(m)
            $0.give(.threads("bea", .direct, [:]))
            $0.pass(60 * m)
        },
        Story("a name that no one has any more is another person's", ["bea/c1"]) {
            $0.leaves("bea")
            $0.usernames = [:]
            $0.writes("ann", to: "bea")
            $0.pass(60 * m)
        },
    ]

    @Test("pushed or not", arguments: stories)
    func reported(story: Story) {
        var world = PushWorld()
        story.happens(&world)
        #expect(world.posted == story.posted)
        let open = world.pushed.values.flatMap(\.values).filter { $0.state == .sending }
        #expect(open.isEmpty)
    }

    @Test("if each message is to be pushed, each is, once")
    func each() {
        var options = PushOptions()
        options.pushesEach = true
        var world = PushWorld(options)
        world.leaves("bea")
        world.pass(60 * minute)
        for _ in 0..<3 {
            world.writes("ann", to: "bea")
            world.pass(minute)
        }
        world.restart()
        #expect(world.posted == ["bea/c1", "bea/c1", "bea/c1"])
        #expect(Set(world.posts.map(\.id)).count == 3)
    }

    @Test("the absence can be set, to nothing too", arguments: [0, 1, 3600] as [Int64])
    func absence(seconds: Int64) {
        var options = PushOptions()
        options.absence = .seconds(seconds)
        var world = PushWorld(options)
        world.leaves("bea")
        world.writes("ann", to: "bea")
        if seconds > 0 {
            world.pass(seconds * 1000 - 2)
            #expect(world.posted == [])
            world.pass(1)
        }
        #expect(world.posted == ["bea/c1"])
    }

    @Test("the end of presence that comes before the new last time does not count as an old one")
    func leaving() {
        var world = PushWorld()
        world.give(.lastOnline("bea", world.now - 600 * minute))
        world.comes("bea")
        world.writes("ann", to: "bea")
        world.pass(PushLimits.unnoticed)
        world.give(.presence("bea", isOnline: false))
        #expect(world.posted == [])
        world.give(.lastOnline("bea", world.now))
        world.pass(60 * minute)
        #expect(world.posted == [])
    }

    @Test("what is posted says who, where, what and when")
    func body() {
        var world = PushWorld()
        world.leaves("bea")
        world.writes("ann", to: "bea", "so: \"hi\" / 👋")
        world.speaks("ann", in: "r1", to: ["bea"], "tea?")
        world.pass(60 * minute)
        let at = 1_700_000_000_001
        #expect(
            world.posts.map(\.body) == [
                """
                {"recipient":"bea","sender":"Ann","sentAt":\(at),"text":"so: \\"hi\\" / 👋",\
                "thread":{"key":"c1","kind":"direct","title":"Ann, Bea"},"type":"message"}
                """,
                """
                {"recipient":"bea","sentAt":\(at),"text":"tea?",\
                "thread":{"key":"r1","kind":"room","title":"Tea"},"type":"message","unread":1}
                """,
            ]
        )
    }

    @Test("of 600 who wait, 256 are taken on at a time and 8 posted, and all in the end")
    func bounds() {
        var world = PushWorld()
        for number in 0..<600 {
            world.leaves("p\(number)")
            world.comes("s\(number)")
            world.writes("s\(number)", to: "p\(number)", chat: "c\(number)")
        }
        world.isAnswering = false
        world.pass(10 * minute)
        #expect(world.core.deliveries.count == PushLimits.deliveryCount)
        var most = 0
        while !world.unanswered.isEmpty {
            most = max(most, world.core.deliveries.values.count { $0.phase == .posting })
            #expect(world.core.deliveries.count <= PushLimits.deliveryCount)
            world.answerOne()
        }
        #expect(most == PushLimits.postCount)
        #expect(Set(world.posted).count == 600)
        #expect(world.posted.count == 600)
    }
}
