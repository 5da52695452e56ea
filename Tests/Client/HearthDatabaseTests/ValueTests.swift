import Foundation
import JSONTree
import Testing
import WireProtocol

@testable import HearthDatabase

/// A value of an app, and the JSON text of what is stored.
struct Kept: CustomTestStringConvertible, Sendable {
    let name: String
    let json: String
    let make: @Sendable () -> Any?
    var testDescription: String { name }

    init(_ name: String, _ json: String, _ make: @escaping @Sendable () -> Any?) {
        self.name = name
        self.json = json
        self.make = make
    }
}

@Suite("values of apps")
struct ValueTests {
    static let kept: [Kept] = [
        Kept("nil", "null") { nil },
        Kept("NSNull", "null") { NSNull() },
        Kept("an optional of nothing", "null") { Optional<Int>.none as Any },
        Kept("an optional of a number", "7") { Optional(7) as Any },
        Kept("an optional of an optional", "7") { Optional(Optional(7)) as Any },
        Kept("a text", #""a\"ü""#) { "a\"ü" },
        Kept("NSString", #""a""#) { NSString(string: "a") },
        Kept("a part of a text", #""bc""#) { "abcd".dropFirst().dropLast() },
        Kept("true", "true") { true },
        Kept("false", "false") { false },
        Kept("NSNumber of true", "true") { NSNumber(value: true) },
        Kept("NSNumber of false", "false") { NSNumber(value: false) },
        Kept("NSNumber of 1", "1") { NSNumber(value: 1) },
        Kept("NSNumber of an 8-bit 1", "1") { NSNumber(value: Int8(1)) },
        Kept("NSNumber of an 8-bit 0", "0") { NSNumber(value: UInt8(0)) },
        Kept("NSNumber of an 8-bit number that Foundation keeps no copy of", "-5") {
            NSNumber(value: Int8(-5))
        },
        Kept("NSNumber of 1.5", "1.5") { NSNumber(value: 1.5) },
        Kept("NSNumber of a float", "0.25") { NSNumber(value: Float(0.25)) },
        Kept("NSNumber of the greatest integer", "9223372036854775807") {
            NSNumber(value: Int64.max)
        },
        Kept("NSNumber above all integers", "18446744073709552000") {
            NSNumber(value: UInt64.max)
        },
        Kept("Int", "-3") { -3 },
        Kept("Int8", "-128") { Int8.min },
        Kept("UInt16", "65535") { UInt16.max },
        Kept("Int64", "-9223372036854775808") { Int64.min },
        Kept("UInt64 in the range of Int64", "5") { UInt64(5) },
        Kept("UInt64 above it", "18446744073709552000") { UInt64.max },
        Kept("Double", "0.1") { 0.1 },
        Kept("a whole Double", "3") { 3.0 },
        Kept("a great Double", "1e+300") { 1e300 },
        Kept("Float", "0.5") { Float(0.5) },
        Kept("Decimal", "12.5") { Decimal(string: "12.5") },
        Kept("a whole Decimal", "-7") { Decimal(-7) },
        Kept("NSDecimalNumber", "0.25") { NSDecimalNumber(string: "0.25") },
        Kept("CGFloat", "2.5") { CGFloat(2.5) },
        Kept("a dictionary of anything", #"{"a":1,"b":true,"c":{"d":"e"}}"#) {
            ["a": 1, "b": true, "c": ["d": "e"]] as [String: Any]
        },
        Kept("a dictionary of booleans", #"{"x":true}"#) { ["x": true] },
        Kept("a dictionary with AnyHashable keys", #"{"x":1}"#) {
            ["x": 1] as [AnyHashable: Any]
        },
        Kept("NSDictionary", #"{"k":{"n":1}}"#) {
            NSDictionary(dictionary: ["k": NSDictionary(dictionary: ["n": 1])])
        },
        Kept("members that are nothing", #"{"b":1}"#) {
            ["a": NSNull(), "b": 1, "c": Optional<String>.none as Any] as [String: Any]
        },
        Kept("an empty dictionary", "null") { [String: Any]() },
        Kept("a list", #"{"0":"a","1":"b"}"#) { ["a", "b"] },
        Kept("a list with a gap", #"{"0":1,"2":3}"#) { [1, NSNull(), 3] as [Any] },
        Kept("NSArray", #"{"0":1,"1":true}"#) { NSArray(array: [1, true]) },
        Kept("an empty list", "null") { [Any]() },
        Kept("a value with a priority", #"{".priority":2,".value":"a"}"#) {
            [".value": "a", ".priority": 2] as [String: Any]
        },
        Kept("a map with a priority", #"{".priority":"p","a":1}"#) {
            [".priority": "p", "a": 1] as [String: Any]
        },
    ]

    @Test("are stored as what they are", arguments: kept)
    func stored(_ kept: Kept) throws {
        let draft = try Draft(app: kept.make())
        let expected = try Node(json: kept.json)
        #expect(draft.node == expected, "\(String(decoding: draft.node.json(), as: UTF8.self))")
        #expect(draft.serverValues.isEmpty)
    }

    @Test("of servers are left to the server")
    func serverValues() throws {
        let draft = try Draft(
            app: ["at": ServerValue.timestamp(), "n": ServerValue.increment(2)] as [String: Any]
        )
        #expect(draft.node.isAbsent)
        #expect(
            draft.serverValues == [
                DraftServerValue(target: try WriteTarget("at"), value: .timestamp),
                DraftServerValue(
                    target: try WriteTarget("n"),
                    value: .increment(Node(integer: 2)),
                ),
            ]
        )
        let fraction = try Draft(app: ServerValue.increment(0.5))
        #expect(fraction.serverValues.map(\.value) == [.increment(Node(double: 0.5))])
    }

    static let refusals: [(Kept, where: String)] = [
        (Kept("NaN", "") { Double.nan }, ""),
        (Kept("infinity", "") { ["a": ["b": Float.infinity]] }, "a/b"),
        (Kept("NSNumber of infinity", "") { [NSNumber(value: -Double.infinity)] }, "0"),
        (Kept("a date", "") { ["a": Date()] }, "a"),
        (Kept("data", "") { Data([1]) }, ""),
        (Kept("an object", "") { NSObject() }, ""),
        (Kept("a text that is too long", "") { String(repeating: "x", count: 10 << 20 | 1) }, ""),
        (Kept("too deep", "") { (0..<40).reduce(1 as Any) { value, _ in ["a": value] } }, "..."),
    ]

    @Test("that cannot be stored are refused with their place", arguments: refusals)
    func isRefused(_ kept: Kept, place: String) {
        let error = #expect(throws: DatabaseError.self) { try Draft(app: kept.make()) }
        guard case .invalidValue(let found, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        if place != "..." { #expect(found == place) }
    }

    @Test(
        "with keys that cannot be are refused with the key",
        arguments: [
            "a.b", "a#", "$a", "a/b", "[", "]", "", "a\u{1}", String(repeating: "k", count: 769),
        ]
    )
    func badKeys(_ key: String) {
        let error = #expect(throws: DatabaseError.self) { try Draft(app: ["ok": [key: 1]]) }
        guard case .invalidKey(let found, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(found == key)
    }

    @Test("have a number, a text or nothing as priority")
    func priorities() throws {
        #expect(try Draft(priority: 1.5).node == Node(double: 1.5))
        #expect(try Draft(priority: "p").node == Node(string: "p"))
        #expect(try Draft(priority: nil).node.isAbsent)
        #expect(try Draft(priority: ServerValue.timestamp()).serverValues.count == 1)
        for bad: Any in [true, ["a": 1], [1]] {
            #expect(throws: DatabaseError.self) { try Draft(priority: bad) }
        }
        let draft = try Draft(app: ["a": 1], priority: "p")
        #expect(draft.node == (try Node(json: #"{".priority":"p","a":1}"#)))
    }

    private func seen(_ json: String) throws -> Any { try Node(json: json).appValue }

    @Test("come back as what tutorials cast them to")
    func casts() throws {
        #expect(try seen("1") as? Int == 1)
        #expect(try seen("1") as? Double == 1)
        #expect(try seen("1") as? NSNumber == 1)
        #expect(try seen("1.5") as? Double == 1.5)
        #expect(try seen("1.5") as? Int == nil)
        #expect(try seen("9223372036854775807") as? Int64 == .max)
        #expect(try seen("1700000000000") as? TimeInterval == 1_700_000_000_000)
        #expect(try seen("true") as? Bool == true)
        #expect(try seen("false") as? Bool == false)
        #expect(try seen(#""a""#) as? String == "a")
        #expect(try seen(#""a""#) as? NSString == "a")
        #expect(try seen("null") is NSNull)
        #expect(try seen("null") as? String == nil)
        let map = try seen(#"{"a":true,"b":false}"#)
        #expect(map as? [String: Bool] == ["a": true, "b": false])
        #expect((map as? NSDictionary)?["a"] as? Bool == true)
        #expect((map as? [String: AnyObject])?.count == 2)
        #expect(map as? [String: String] == nil)
        #expect(try seen(#"{"a":1,"b":2}"#) as? [String: Int] == ["a": 1, "b": 2])
        let nested = try seen(#"{"u":{"name":"Ada","age":36}}"#) as? [String: [String: Any]]
        #expect(nested?["u"]?["name"] as? String == "Ada")
        #expect(nested?["u"]?["age"] as? Int == 36)
    }

    @Test("with the keys of an array come back as one")
    func arrays() throws {
        #expect(try seen(#"{"0":"a","1":"b"}"#) as? [String] == ["a", "b"])
        let gap = try #require(try seen(#"{"0":"a","2":"c"}"#) as? [Any])
        #expect(gap.count == 3)
        #expect(gap[1] is NSNull)
        #expect(try seen(#"{"0":"a","1":"b"}"#) as? NSArray == ["a", "b"])
        #expect(try seen(#"{"0":"a","5":"b"}"#) as? [String: String] == ["0": "a", "5": "b"])
        #expect(try seen(#"{"00":"a"}"#) as? [String: String] == ["00": "a"])
    }

    @Test("are exported with their priorities")
    func exported() throws {
        let json = #"{".priority":1,"a":{".priority":"p",".value":2},"b":true}"#
        let node = try Node(json: json)
        let exported = node.appExport as? [String: Any]
        #expect(exported?[".priority"] as? Int == 1)
        #expect((exported?["a"] as? [String: Any])?[".value"] as? Int == 2)
        #expect((exported?["a"] as? [String: Any])?[".priority"] as? String == "p")
        #expect(try Draft(app: exported).node == node)
        #expect(try Node(json: #"{"0":1}"#).appExport is [String: Any])
    }

    @Test("of updates are placed by their paths")
    func updates() throws {
        let base = try Path("a")
        let values: [AnyHashable: Any] = ["x/y": 1, "b": NSNull(), "c/.priority": 3]
        let entries = try MergeEntry.reading(values, base: base)
        #expect(entries.map(\.target.description) == ["/a/b", "/a/c/.priority", "/a/x/y"])
        let bad: [([AnyHashable: Any], String)] = [
            (["x": 1, "x/y": 2], "INVALID_VALUE"), (["a.b": 1], "INVALID_PATH"),
            (["": 1], "INVALID_VALUE"), ([1: 2], "INVALID_KEY"),
            (["x": Double.nan], "INVALID_VALUE"), (["x": ["$": 1]], "INVALID_KEY"),
            (["x/.priority": true], "INVALID_VALUE"),
        ]
        for (values, code) in bad {
            let error = #expect(throws: DatabaseError.self) {
                try MergeEntry.reading(values, base: base)
            }
            #expect(error?.code == code, "\(values)")
        }
    }
}
