import Foundation
import JSONTree
import Queries
import Testing

@testable import HearthDatabase

private enum Mood: String, Codable { case good, bad }

private struct Address: Codable, Equatable {
    var street: String
    var zip: Int?
}

private struct Person: Codable, Equatable {
    var name: String
    var age: Int
    var height: Double
    var isAdmin: Bool
    var mood: Mood
    var nickname: String?
    var address: Address
    var tags: [String]
    var scores: [String: Int]
    var born: Date
    var photo: Data
    var home: URL
    var big: Int64
}

private class Animal: Codable {
    var name: String
    init(name: String) { self.name = name }
}

private final class Dog: Animal {
    var tricks: [String]
    private enum CodingKeys: String, CodingKey { case tricks }

    init(name: String, tricks: [String]) {
        self.tricks = tricks
        super.init(name: name)
    }

    required init(from decoder: any Swift.Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        tricks = try container.decode([String].self, forKey: .tricks)
        try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Swift.Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(tricks, forKey: .tricks)
        try super.encode(to: container.superEncoder())
    }
}

private enum Shape: Codable, Equatable {
    case circle(radius: Double)
    case square(side: Double)
}

@Suite("a value of a Codable type")
struct CodingTests {
    private let ada = Person(
        name: "Ada",
        age: 36,
        height: 1.65,
        isAdmin: true,
        mood: .good,
        nickname: nil,
        address: Address(street: "Main St", zip: nil),
        tags: ["a", "b"],
        scores: ["chess": 3, "go": -1],
        born: Date(timeIntervalSince1970: 86_400),
        photo: Data([1, 2, 3]),
        home: URL(filePath: "/tmp"),
        big: .max,
    )

    /// What `value` is when it has been stored and is read again.
    private func stored<Value: Encodable>(
        _ value: Value,
        _ encoder: Database.Encoder = Database.Encoder(),
    ) throws -> DataSnapshot {
        let node = try Draft(app: try encoder.encode(value)).node
        return DataSnapshot(try FakeWorld().root, node, .everything)
    }

    private func json<Value: Encodable>(
        _ value: Value,
        _ encoder: Database.Encoder = Database.Encoder(),
    ) throws -> String {
        String(decoding: try stored(value, encoder).node.json(), as: UTF8.self)
    }

    @Test("a value is read as the type that was asked for, not as the one it is held by")
    func subclass() throws {
        let kept: [String: Any] = ["tricks": ["roll"], "super": ["name": "Rex"]]
        let type: Animal.Type = Dog.self
        let animal = try Database.Decoder().decode(type, from: kept)
        #expect(animal.name == "Rex")
        #expect((animal as? Dog)?.tricks == ["roll"])
    }

    @Test("a CGFloat is written and read as a number")
    func screenNumber() throws {
        let encoded = try Database.Encoder().encode(["x": CGFloat(2.5)])
        #expect(try Draft(app: encoded).node.appValue as? [String: CGFloat] == ["x": 2.5])
        #expect(try Draft(app: CGFloat(0.25)).node.appValue as? CGFloat == 0.25)
        #expect(try Database.Decoder().decode(CGFloat.self, from: 2.5) == 2.5)
        #expect("2.5" as Any as? CGFloat == nil)
    }

    @Test("comes back as it was")
    func roundTrip() throws {
        #expect(try stored(ada).data(as: Person.self) == ada)
        #expect(try stored([ada, ada]).data(as: [Person].self) == [ada, ada])
        #expect(try stored(["x": ada]).data(as: [String: Person].self) == ["x": ada])
        #expect(try stored("text").data(as: String.self) == "text")
        #expect(try stored(5).data(as: Int.self) == 5)
        #expect(try stored(true).data(as: Bool.self))
        #expect(try stored(Shape.circle(radius: 2)).data(as: Shape.self) == .circle(radius: 2))
        let dog = try stored(Dog(name: "Rex", tricks: ["sit"])).data(as: Dog.self)
        #expect(dog.name == "Rex")
        #expect(dog.tricks == ["sit"])
        let nested = [[1, 2], [3]]
        #expect(try stored(nested).data(as: [[Int]].self) == nested)
        #expect(try stored([1: "a", 2: "b"]).data(as: [Int: String].self) == [1: "a", 2: "b"])
        let decimal = try #require(Decimal(string: "12.5"))
        #expect(try stored(decimal).data(as: Decimal.self) == decimal)
    }

    @Test("is stored member by member")
    func shape() throws {
        let address = Address(street: "s", zip: 1)
        #expect(try json(address) == #"{"street":"s","zip":1}"#)
        #expect(try json(["a": Address(street: "s", zip: nil)]) == #"{"a":{"street":"s"}}"#)
        #expect(try json([true, false]) == #"{"0":true,"1":false}"#)
        #expect(try json(Optional<Int>.none) == "null")
    }

    @Test("that may be missing is nil")
    func missing() throws {
        let nothing = DataSnapshot(try FakeWorld().root, .absent, .everything)
        #expect(try nothing.data(as: Person?.self) == nil)
        #expect(throws: DecodingError.self) { try nothing.data(as: Person.self) }
        #expect(try stored([1, nil, 3]).data(as: [Int?].self) == [1, nil, 3])
    }

    @Test("whose dictionary has the keys of an array is read all the same")
    func arrayLike() throws {
        let scores = ["0": 5, "1": 7]
        #expect(try stored(scores).data(as: [String: Int].self) == scores)
        #expect(try stored(scores).data(as: [Int].self) == [5, 7])
    }

    @Test("of another type is refused with its place")
    func mismatch() throws {
        let snapshot = try stored(["name": "Ada", "address": "none"])
        do {
            _ = try snapshot.data(as: Person.self)
            Issue.record("it was read")
        } catch DecodingError.keyNotFound(let key, _) {
            #expect(key.stringValue == "age")
        }
        for text in ["true", "1.5", #""1""#, "300", "-1"] {
            let snapshot = DataSnapshot(
                try FakeWorld().root,
                try Node(json: #"{"a":\#(text)}"#),
                .everything,
            )
            do {
                _ = try snapshot.data(as: [String: UInt8].self)
                Issue.record("\(text) was read")
            } catch let error as DecodingError {
                switch error {
                case .typeMismatch(_, let context), .dataCorrupted(let context):
                    #expect(context.codingPath.map(\.stringValue) == ["a"])
                default: Issue.record("\(error)")
                }
            }
        }
    }

    @Test("has dates by the strategy")
    func dates() throws {
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        let cases:
            [(Database.Encoder.DateEncodingStrategy, Database.Decoder.DateDecodingStrategy, String)] =
                [
                    (.deferredToDate, .deferredToDate, "721692800"),
                    (.secondsSince1970, .secondsSince1970, "1700000000"),
                    (.millisecondsSince1970, .millisecondsSince1970, "1700000000000"),
                    (.iso8601, .iso8601, #""2023-11-14T22:13:20Z""#),
                    (
                        .custom { date, encoder in
                            var container = encoder.singleValueContainer()
                            try container.encode("\(Int(date.timeIntervalSince1970))")
                        },
                        .custom { decoder in
                            let text = try decoder.singleValueContainer().decode(String.self)
                            return Date(timeIntervalSince1970: Double(text) ?? 0)
                        }, #""1700000000""#
                    ),
                ]
        for (encoding, decoding, expected) in cases {
            let encoder = Database.Encoder()
            encoder.dateEncodingStrategy = encoding
            let decoder = Database.Decoder()
            decoder.dateDecodingStrategy = decoding
            #expect(try json(date, encoder) == expected)
            #expect(try stored(date, encoder).data(as: Date.self, decoder: decoder) == date)
        }
    }

    @Test("has keys by the strategy, dictionaries keep theirs")
    func keys() throws {
        struct Named: Codable, Equatable {
            var firstName: String
            var myURLValue: Int
            var perUser: [String: Int]
        }
        let value = Named(firstName: "Ada", myURLValue: 1, perUser: ["someKey": 2])
        let encoder = Database.Encoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        #expect(
            try json(value, encoder)
                == #"{"first_name":"Ada","my_url_value":1,"per_user":{"someKey":2}}"#
        )
        struct Read: Codable, Equatable {
            var firstName: String
            var perUser: [String: Int]
        }
        let decoder = Database.Decoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let read = try stored(value, encoder).data(as: Read.self, decoder: decoder)
        #expect(read == Read(firstName: "Ada", perUser: ["someKey": 2]))
    }

    @Test("has infinities by the strategy")
    func floats() throws {
        let encoder = Database.Encoder()
        #expect(throws: EncodingError.self) { try encoder.encode([Double.infinity]) }
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan",
        )
        let decoder = Database.Decoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan",
        )
        let snapshot = try stored([Double.infinity, -.infinity, 1], encoder)
        #expect(
            try snapshot.data(as: [Double].self, decoder: decoder) == [.infinity, -.infinity, 1]
        )
    }

    @Test("can have a time that the server fills in")
    func serverTimestamp() throws {
        struct Message: Codable, Equatable {
            var text: String
            @ServerTimestamp var sentAt: Date?
        }
        let draft = try Draft(app: try Database.Encoder().encode(Message(text: "a", sentAt: nil)))
        #expect(
            draft.serverValues == [
                DraftServerValue(target: try WriteTarget("sentAt"), value: .timestamp)
            ]
        )
        let node = draft.resolved(existing: .absent, now: Timestamp(milliseconds: 5_500))
        let read = try DataSnapshot(try FakeWorld().root, node, .everything).data(as: Message.self)
        #expect(read.sentAt == Date(timeIntervalSince1970: 5.5))
        #expect(try json(read) == #"{"sentAt":5500,"text":"a"}"#)
    }
}
