import Chat
import Foundation
import Social
import Testing

@Suite("rooms and events as values")
struct RoomModelTests {
    private static func event(_ json: String) throws -> RoomEvent {
        let stored = try JSONDecoder().decode(RoomEvent.Stored.self, from: Data(json.utf8))
        return try RoomEvent(key: "-e1", stored: stored)
    }

    @Test("each kind of event is read from its flat form")
    func kinds() throws {
        let message = try RoomEvent.Message(
            text: "hi",
            picture: "https://x/y.png",
            location: Location(latitude: 52.5, longitude: -13),
            style: Style(color: "teal", font: "Serif"),
        )
        let contents: [(String, RoomEvent.Content)] = [
            (
                #""kind":"message","text":"hi","picture":"https://x/y.png","#
                    + #""location":{"lat":52.5,"lng":-13},"style":{"color":"teal","font":"Serif"}"#,
                .message(message)
            ),
            (
                #""kind":"message","picture":"p""#, .message(try RoomEvent.Message(picture: "p"))
            ),
            (#""kind":"createdChat""#, .createdChat),
            (#""kind":"createdChat","name":"Tea""#, .createdChat),
            (#""kind":"addedUser","target":"bea""#, .addedUser("bea")),
            (#""kind":"userLeft","target":"bea""#, .userLeft("bea")),
            (#""kind":"renamedChat","name":"Tea""#, .renamedChat("Tea")),
        ]
        for (fields, content) in contents {
            let event = try Self.event(#"{"at":1700000000123,"by":"ann",\#(fields)}"#)
            #expect(event.content == content)
            #expect(event.by == "ann" && event.key == "-e1")
            #expect(event.at == Date(timeIntervalSince1970: 1_700_000_000.123))
        }
    }

    @Test(
        "a flat form that makes no sense is no event",
        arguments: [
            #"{"at":1,"by":"ann"}"#,
            #"{"kind":"message","by":"ann","text":"hi"}"#,
            #"{"kind":"message","at":1,"text":"hi"}"#,
            #"{"kind":"message","at":1,"by":"","text":"hi"}"#,
            #"{"kind":"message","at":"now","by":"ann","text":"hi"}"#,
            #"{"kind":"message","at":1,"by":"ann"}"#,
            #"{"kind":"message","at":1,"by":"ann","text":""}"#,
            #"{"kind":"message","at":1,"by":"ann","text":7}"#,
            #"{"kind":"message","at":1,"by":"ann","style":{"color":"red"}}"#,
            #"{"kind":"message","at":1,"by":"ann","text":"hi","style":{}}"#,
            #"{"kind":"message","at":1,"by":"ann","text":"hi","target":"bea"}"#,
            #"{"kind":"message","at":1,"by":"ann","text":"hi","name":"Tea"}"#,
            #"{"kind":"message","at":1,"by":"ann","location":{"lat":91,"lng":0}}"#,
            #"{"kind":"message","at":1,"by":"ann","location":{"lat":0,"lng":-180.5}}"#,
            #"{"kind":"message","at":1,"by":"ann","location":{"lat":0}}"#,
            #"{"kind":"createdChat","at":1,"by":"ann","target":"bea"}"#,
            #"{"kind":"createdChat","at":1,"by":"ann","text":"hi"}"#,
            #"{"kind":"addedUser","at":1,"by":"ann"}"#,
            #"{"kind":"addedUser","at":1,"by":"ann","target":""}"#,
            #"{"kind":"addedUser","at":1,"by":"ann","target":"bea","name":"Tea"}"#,
            #"{"kind":"userLeft","at":1,"by":"ann"}"#,
            #"{"kind":"userLeft","at":1,"by":"ann","target":"bea","text":"bye"}"#,
            #"{"kind":"renamedChat","at":1,"by":"ann"}"#,
            #"{"kind":"renamedChat","at":1,"by":"ann","name":""}"#,
            #"{"kind":"renamedChat","at":1,"by":"ann","name":"Tea","picture":"p"}"#,
            #"{"kind":"deletedChat","at":1,"by":"ann"}"#,
        ]
    )
    func nonsense(json: String) {
        #expect(throws: (any Error).self) { try Self.event(json) }
    }

    @Test("a message says something, and no more than the rules allow")
    func messages() throws {
        let far = Location(latitude: 0, longitude: 180.1)
        #expect(throws: ServiceError.self) { try RoomEvent.Message() }
        #expect(throws: ServiceError.self) { try RoomEvent.Message(style: Style(color: "red")) }
        #expect(throws: ServiceError.self) { try RoomEvent.Message(text: "") }
        #expect(throws: ServiceError.self) {
            try RoomEvent.Message(text: String(repeating: "a", count: 4001))
        }
        // Two UTF-16 units each: 4,002 of them.
        #expect(throws: ServiceError.self) {
            try RoomEvent.Message(text: String(repeating: "😀", count: 2001))
        }
        #expect(throws: ServiceError.self) { try RoomEvent.Message(picture: "") }
        #expect(throws: ServiceError.self) {
            try RoomEvent.Message(picture: String(repeating: "p", count: 2001))
        }
        #expect(throws: ServiceError.self) { try RoomEvent.Message(location: far) }
        #expect(throws: ServiceError.self) {
            try RoomEvent.Message(location: Location(latitude: .nan, longitude: 0))
        }
        #expect(throws: ServiceError.self) { try RoomEvent.Message(text: "hi", style: Style()) }
        #expect(throws: ServiceError.self) {
            let font = String(repeating: "f", count: 65)
            return try RoomEvent.Message(text: "hi", style: Style(font: font))
        }
        #expect(
            try RoomEvent.Message(text: String(repeating: "😀", count: 2000)).text?.utf16.count
                == 4000
        )
    }

    @Test("the time decides the order, and of one moment the key")
    func order() {
        let positions = [
            EventPosition(milliseconds: 5, key: "-b"), EventPosition(milliseconds: 5, key: "-a"),
            EventPosition(milliseconds: 4, key: "-z"), EventPosition(milliseconds: 5, key: "-B"),
        ]
        #expect(positions.sorted().map(\.key) == ["-z", "-B", "-a", "-b"])
    }

    @Test("a room with a word that is no role or type is a fault")
    func rooms() throws {
        func room(_ type: String, _ role: String, _ last: String) throws -> Room {
            let json = """
                {"name":"Tea","createdAt":1,"createdBy":"ann","type":"\(type)",\
                "members":{"ann":"\(role)","bea":"banned"},"lastEvent":{\(last)}}
                """
            let stored = try JSONDecoder().decode(Room.Stored.self, from: Data(json.utf8))
            return try Room(key: "r", stored: stored)
        }
        let last = #""key":"-e1","kind":"createdChat","at":1,"by":"ann""#
        let tea = try room("private", "owner", last)
        #expect(tea.people == ["ann"])
        #expect(tea.role(of: "bea") == .banned && !tea.has("bea"))
        #expect(tea.lastEvent.key == "-e1")
        #expect(throws: (any Error).self) { try room("secret", "owner", last) }
        #expect(throws: (any Error).self) { try room("private", "king", last) }
        #expect(throws: (any Error).self) {
            try room("private", "owner", #""kind":"createdChat","at":1,"by":"ann""#)
        }
    }
}
