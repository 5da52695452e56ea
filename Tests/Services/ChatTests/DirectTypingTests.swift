import Chat
import Foundation
import HearthDatabase
import ServiceSupport
import Testing

@Suite("typing in direct chats")
struct DirectTypingTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.shared("social") }

    private func rooms(_ chatter: Chatter) -> RoomService {
        RoomService(database: chatter.person.database, me: chatter.profile)
    }

    @Test("is seen by the other, and ends with the connection")
    func seen() async throws {
        let pair = try await DirectPair(server)
        let (ann, key) = (rooms(pair.ann), pair.chat.key)
        let reported = Recorder<[String]>()
        let observation = rooms(pair.bob).observeTyping(in: key) { reported.record($0) }
        defer { observation.remove() }
        try await reported.wait { $0 == [[]] }
        try await ann.startTyping(in: key)
        try await reported.wait { $0 == [[], [pair.ann.uid]] }
        ann.stopTyping(in: key)
        try await reported.wait { $0 == [[], [pair.ann.uid], []] }
        try await ann.startTyping(in: key)
        try await reported.wait { $0.last == [pair.ann.uid] && $0.count == 4 }
        pair.ann.person.database.goOffline()
        try await reported.wait { $0.last == [] && $0.count == 5 }
    }

    @Test("is no one's but of the two, and of neither whom the other has blocked")
    func refused() async throws {
        let pair = try await DirectPair(server)
        let eve = try await Chatter(server, "eve")
        let key = pair.chat.key
        func isShown(_ chatter: Chatter, _ value: Any = true) async throws -> Bool {
            try await chatter.isAllowed(["typing/\(key)/\(chatter.uid)": value])
        }
        #expect(try await isShown(pair.ann))
        #expect(try await isShown(pair.bob))
        #expect(try await isShown(eve) == false)
        #expect(try await isShown(pair.ann, "a long story") == false)
        #expect(try await pair.ann.isAllowed(["typing/\(key)/\(pair.bob.uid)": true]) == false)
        #expect(try await pair.bob.mayRead("typing/\(key)"))
        #expect(try await eve.mayRead("typing/\(key)") == false)
        await #expect(throws: ServiceError.refused("be seen typing in this room")) {
            try await rooms(eve).startTyping(in: key)
        }

        let block = pair.bob.person.place("blocks/\(pair.bob.uid)/\(pair.ann.uid)")
        try await block.setValue(true)
        #expect(try await isShown(pair.ann, NSNull()))
        #expect(try await isShown(pair.ann) == false)
        #expect(try await isShown(pair.bob))
        try await block.removeValue()
        #expect(try await isShown(pair.ann))
    }

    @Test(
        "under the key of a room is decided by the room, regardless of who has claimed the key as a pair"
    )
    func claimed() async throws {
        let ann = try await Chatter(server, "ann")
        let mal = try await Chatter(server, "mal")
        let eve = try await Chatter(server, "eve", follows: mal)
        let room = try await rooms(ann).create(name: "Tea")
        for key in [room, "free-\(room)"] {
            #expect(try await eve.isAllowed(RawDirect.start(eve, mal, key: key)))
            let isFree = key != room
            #expect(try await eve.mayRead("typing/\(key)") == isFree)
            #expect(try await eve.isAllowed(["typing/\(key)/\(eve.uid)": true]) == isFree)
        }
        try await rooms(ann).startTyping(in: room)
        #expect(try await ann.mayRead("typing/\(room)"))
    }
}
