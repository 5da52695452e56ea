import JSONTree
import TestSupport
import Testing

struct RefusedCase: Decodable, Sendable {
    let json: String
    let reason: String
    let line: Int
    let column: Int
}

struct AcceptedCase: Decodable, Sendable {
    let json: String
    let export: String
}

struct ValueCase: Decodable, Sendable {
    let json: String
    let value: String
}

struct PrettyCase: Decodable, Sendable {
    let json: String
    let form: String
    let text: String
}

@Suite("JSON text")
struct JSONTests {
    @Test(
        "text that is no value is refused, saying why and where",
        arguments: spec("refused-json", of: RefusedCase.self)
    )
    func refused(testCase: RefusedCase) {
        let json = Array(testCase.json.utf8)
        let error = #expect(throws: JSONError.self) { try Draft(json: json) }
        guard let error else { return }
        #expect("\(error.reason)" == testCase.reason)
        let (line, column) = json.withBytes { error.lineAndColumn(in: $0) }
        #expect(line == testCase.line)
        #expect(column == testCase.column)
    }

    @Test(
        "a value is read and written in export form",
        arguments: spec("accepted-json", of: AcceptedCase.self)
    )
    func accepted(testCase: AcceptedCase) throws {
        #expect(try Node(json: testCase.json).text == testCase.export)
    }

    @Test("array-like maps are arrays in value form", arguments: spec("values", of: ValueCase.self))
    func values(testCase: ValueCase) throws {
        let node = try Node(json: testCase.json)
        #expect(String(decoding: node.json(.value), as: UTF8.self) == testCase.value)
    }

    @Test("the layout for people", arguments: spec("pretty", of: PrettyCase.self))
    func pretty(testCase: PrettyCase) throws {
        let form: Node.JSONForm = testCase.form == "export" ? .export : .value
        let text = try Node(json: testCase.json).json(form, .pretty()) + [0x0A]
        #expect(String(decoding: text, as: UTF8.self) == testCase.text)
    }

    @Test("cutting a text anywhere is an error, never a trap")
    func truncated() throws {
        let text = Array(
            #"{"a":[1,-2.5e3,"x\u00e9\"é😀"],"b":{".value":true,".priority":"p"},"c":{".sv":{"increment":1}}}"#
                .utf8
        )
        _ = try Draft(json: text)
        for count in 0..<text.count {
            #expect(throws: JSONError.self) { try Draft(json: Array(text.prefix(count))) }
            #expect(throws: JSONError.self) { try skip(Array(text.prefix(count))) }
        }
    }

    @Test("changing a byte of a text never traps", arguments: TestSeed.seeds(4))
    func mutated(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let text = Array(
            #"{"a":[1,-2.5e3,"x\u00e9\ud83d\ude00é😀"],"b":{".value":true,".priority":"p"},"c":null}"#
                .utf8
        )
        for _ in 0..<3_000 {
            var changed = text
            for _ in 0...random.below(3) {
                changed[random.below(changed.count)] = UInt8(random.below(256))
            }
            let draft = try? Draft(json: changed)
            if let draft {
                // What was read is written as text that reads back as the same value.
                #expect((try? Node(json: draft.node.json(.export))) == draft.node, "seed \(seed)")
            }
            _ = try? skip(changed)
        }
    }

    @Test(
        "text that is not UTF-8 is refused",
        arguments: [
            [0x80], [0xC3], [0xC0, 0xAF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80],
            [0xF4, 0x90, 0x80, 0x80],
            [0xF8, 0x88, 0x80, 0x80], [0xFF], [0xE2, 0x82], [0xF0, 0x9F, 0x98],
        ] as [[UInt8]]
    )
    func invalidUTF8(bytes: [UInt8]) {
        for padding in 0..<9 {
            let text = [0x22] + Array(repeating: 0x61, count: padding) + bytes + [0x22]
            let error = #expect(throws: JSONError.self) { try Node(json: text) }
            #expect(error?.reason == .invalidUTF8)
            #expect(error?.offset == 1 + padding)
        }
    }

    @Test("a key of 768 bytes is taken, one of 769 refused")
    func keyLength() throws {
        let key = String(repeating: "é", count: 384)
        let node = try Node(json: #"{"\#(key)":1}"#)
        #expect(node.child(try Key(key)).integer == 1)
        let error = #expect(throws: JSONError.self) { try Node(json: #"{"\#(key)x":1}"#) }
        #expect(error == JSONError(.badKey(.keyTooLong(byteCount: 769)), offset: 1))
    }

    @Test("a string of 10 MiB is taken, one byte more refused")
    func stringLength() throws {
        let characters = [UInt8](repeating: 0x61, count: Limits.stringByteCount)
        let node = try Node(json: [0x22] + characters + [0x22])
        #expect(node.withText { $0.count } == Limits.stringByteCount)
        let error = #expect(throws: JSONError.self) {
            try Node(json: [0x22] + characters + [0x61, 0x22])
        }
        #expect(error == JSONError(.stringTooLong, offset: 0))
    }

    @Test("32 keys deep is taken, 33 refused, in objects and arrays")
    func depth() throws {
        let objects =
            String(repeating: #"{"a":"#, count: 32) + "1" + String(repeating: "}", count: 32)
        #expect(try Draft(json: Array(objects.utf8)).depth == 32)
        #expect(try Node(json: objects).depth == 32)
        for text in [#"{"a":\#(objects)}"#, "[\(objects)]"] {
            let error = #expect(throws: JSONError.self) { try Node(json: text) }
            #expect(error?.reason == .tooDeep)
        }
        let arrays = String(repeating: "[", count: 32) + "1" + String(repeating: "]", count: 32)
        #expect(try Node(json: arrays).depth == 32)
    }

    @Test("a million open brackets are refused without recursion")
    func nesting() throws {
        let brackets = [UInt8](repeating: 0x5B, count: 1_000_000)
        #expect(throws: JSONError.self) { try Node(json: brackets) }
        let error = #expect(throws: JSONError.self) { try skip(brackets) }
        #expect(error == JSONError(.tooDeep, offset: Limits.textNesting))
        let depth = Limits.textNesting
        let closed = Array(brackets.prefix(depth)) + [UInt8](repeating: 0x5D, count: depth)
        #expect(try skip(closed) == 0..<2 * depth)
    }

    @Test("numbers in shortest form whatever their text")
    func numberForms() throws {
        for text in ["7", "7.0", "70e-1", "0.7E1", "7.000"] {
            #expect(try Node(json: text) == Node(integer: 7))
            #expect(try Node(json: text).integer == 7)
        }
        #expect(try Node(json: "-0") != Node(integer: 0))
        #expect(Node(double: 9_007_199_254_740_992).integer == 9_007_199_254_740_992)
        #expect(Node(double: 9_007_199_254_740_994).integer == nil)
        #expect(try Node(json: "9007199254740993").integer == 9_007_199_254_740_993)
    }

    @Test("a string is escaped where it must be and nowhere else, at every place of a word")
    func escapes() {
        for place in 0..<20 {
            for byte in 0..<0x80 as Range<UInt8> {
                var bytes = [UInt8](repeating: 0x61, count: 20)
                bytes[place] = byte
                let node = bytes.withBytes { Node(text: $0) }
                let text = node.json(.export)
                #expect((try? Node(json: text)) == node)
                let isEscaped = byte < 0x20 || byte == 0x22 || byte == 0x5C
                #expect((text.count == 22) != isEscaped)
            }
        }
    }

    private func skip(_ text: [UInt8]) throws(JSONError) -> Range<Int> {
        try text.withBytes { (bytes) throws(JSONError) in
            var scanner = JSONScanner(bytes)
            let range = try scanner.skipValue()
            try scanner.expectEnd()
            return range
        }
    }
}

@Suite("JSON scanner")
struct JSONScannerTests {
    @Test("a message is pulled piece by piece")
    func pull() throws {
        let text = Array(
            #" { "t" : "d", "n":[ 1 , -2 , 2.5 ], "x":{"deep":[{}]} , "b":true, "z":null } "#.utf8
        )
        try text.withBytes { bytes in
            var scanner = JSONScanner(bytes)
            try scanner.enterObject()
            #expect(try scanner.nextMember() == "t")
            #expect(try scanner.readString() == "d")
            #expect(try scanner.nextMember() == "n")
            try scanner.enterArray()
            var numbers: [Int64?] = []
            while try scanner.nextElement() { numbers.append(try scanner.readInteger()) }
            #expect(numbers == [1, -2, nil])
            #expect(try scanner.nextMember() == "x")
            let range = try scanner.skipValue()
            #expect(bytes.slice(range).string == #"{"deep":[{}]}"#)
            #expect(try scanner.nextMember() == "b")
            #expect(try scanner.readBoolean())
            #expect(try scanner.nextMember() == "z")
            try scanner.readNull()
            #expect(try scanner.nextMember() == nil)
            try scanner.expectEnd()
        }
    }

    @Test("an empty object and an empty array have no members")
    func empty() throws {
        try Array("[{},[],{}]".utf8).withBytes { bytes in
            var scanner = JSONScanner(bytes)
            try scanner.enterArray()
            #expect(try scanner.nextElement())
            try scanner.enterObject()
            #expect(try scanner.nextMember() == nil)
            #expect(try scanner.nextElement())
            try scanner.enterArray()
            #expect(try !scanner.nextElement())
            #expect(try scanner.nextElement())
            #expect(try scanner.readDraft().node.isAbsent)
            #expect(try !scanner.nextElement())
        }
    }

    @Test("claims may have any key, and dots mean nothing in them")
    func anyKeys() throws {
        let text = #"{"a.b":1,"":2,".sv":"timestamp",".value":{"$":[true,null]},"n":null}"#
        let node = try Array(text.utf8).withBytes { bytes in
            var scanner = JSONScanner(bytes)
            return try scanner.readNode(anyKeys: true)
        }
        #expect(node.text == #"{"":2,".sv":"timestamp",".value":{"$":{"0":true}},"a.b":1}"#)
    }

    @Test("a value without server values refuses them")
    func noServerValues() {
        let text = #"{"a":{".sv":"timestamp"}}"#
        let error = #expect(throws: JSONError.self) { try Node(json: text) }
        #expect(error == JSONError(.unexpectedServerValue, offset: 0))
    }
}
