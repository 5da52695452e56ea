import JSONTree
import TestSupport
import Testing

/// What reading a text came to.
private enum Outcome: Equatable {
    case draft(Draft)
    case refused(JSONError, line: Int, column: Int)
}

@Suite("JSON in pieces")
struct JSONPiecesTests {
    /// The text read whole: the twin of all that follows.
    private func whole(_ text: [UInt8]) -> Outcome {
        do throws(JSONError) {
            return .draft(try Draft(json: text))
        } catch {
            let (line, column) = text.withBytes { error.lineAndColumn(in: $0) }
            return .refused(error, line: line, column: column)
        }
    }

    private func assembled(_ text: [UInt8], window: Int, parts: [Range<Int>]) -> Outcome {
        var assembly = JSONAssembly(windowByteCount: window)
        do throws(JSONError) {
            for part in parts { try assembly.append(Array(text[part])) }
            return .draft(try assembly.finish())
        } catch {
            let place = assembly.faultPosition ?? (0, 0)
            return .refused(error, line: place.line, column: place.column)
        }
    }

    private func pieces(
        _ text: [UInt8],
        byteCount: Int,
        parts: [Range<Int>]
    ) throws(JSONError) -> [JSONPieces.Piece] {
        var cutter = JSONPieces(byteCount: byteCount)
        var pieces: [JSONPieces.Piece] = []
        for part in parts {
            cutter.append(Array(text[part]))
            while let piece = try cutter.next() { pieces.append(piece) }
        }
        cutter.end()
        while let piece = try cutter.next() { pieces.append(piece) }
        return pieces
    }

    /// The tree that the writes make, one after the other.
    private func written(_ pieces: [JSONPieces.Piece]) throws -> Node {
        var root = Node.absent
        let now = Timestamp(milliseconds: 1_000)
        for piece in pieces {
            let place = piece.target.path
            if piece.isWhole {
                let draft = try Draft(json: piece.json)
                let value = draft.resolved(existing: .absent, now: now)
                if piece.target.isPriority {
                    root.setPriority(value, at: place)
                } else {
                    root.set(value, at: place)
                }
                continue
            }
            try piece.json.withBytes { bytes in
                var scanner = JSONScanner(bytes)
                try scanner.enterObject()
                while let name = try scanner.nextMember() {
                    let draft = try scanner.readDraft()
                    let child = draft.resolved(existing: .absent, now: now)
                    root.set(child, at: place.appending(try Key(name)))
                }
                try scanner.expectEnd()
            }
        }
        return root
    }

    private func randomParts(of count: Int, _ random: inout SeededRandom) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var start = 0
        let longest = [1, 7, 60, 1_000][random.below(4)]
        while start < count {
            let end = min(count, start + 1 + random.below(longest))
            parts.append(start..<end)
            start = end
        }
        return parts
    }

    @Test(
        "a text cut anywhere is the value of the whole text",
        arguments: TestSeed.seeds(12)
    )
    func valueTwin(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for round in 0..<40 {
            var text = JSONMaker(random: random)
            text.writeValue(depth: 0)
            random = text.random
            let window = [1, 2, 9, 40, 300, 100_000][random.below(6)]
            let parts = randomParts(of: text.bytes.count, &random)
            let expected = whole(text.bytes)
            let found = assembled(text.bytes, window: window, parts: parts)
            let said = String(decoding: text.bytes, as: UTF8.self)
            #expect(found == expected, "seed \(seed) round \(round) window \(window) text \(said)")
            guard case .draft(let draft) = expected else { continue }
            let made = try written(pieces(text.bytes, byteCount: window, parts: parts))
            let now = Timestamp(milliseconds: 1_000)
            let resolved = draft.resolved(existing: .absent, now: now)
            #expect(made == resolved, "seed \(seed) round \(round) window \(window) text \(said)")
        }
    }

    @Test(
        "a damaged text has the error of the whole text",
        arguments: TestSeed.seeds(12)
    )
    func errorTwin(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for round in 0..<40 {
            var text = JSONMaker(random: random)
            text.writeValue(depth: 0)
            random = text.random
            var bytes = text.bytes
            for _ in 0...random.below(2) where !bytes.isEmpty {
                let place = random.below(bytes.count)
                switch random.below(4) {
                case 0: bytes.remove(at: place)
                case 1: bytes.removeSubrange(place...)
                case 2: bytes[place] = Array(#"{}[],:"\x#.1 "#.utf8)[random.below(13)]
                default: bytes[place] = UInt8(random.below(256))
                }
            }
            let window = [1, 2, 9, 40, 300, 100_000][random.below(6)]
            let parts = randomParts(of: bytes.count, &random)
            let said = String(decoding: bytes, as: UTF8.self)
            #expect(
                assembled(bytes, window: window, parts: parts) == whole(bytes),
                "seed \(seed) round \(round) window \(window) text \(said)"
            )
        }
    }

    @Test("a bracket that follows a closed one without a comma is not taken for it")
    func bracketInStead() {
        let text = Array(#"{"a":{"b":{"c":1}!{"#.utf8)
        for window in 1...text.count {
            let found = assembled(text, window: window, parts: [0..<text.count])
            #expect(found == whole(text), "window \(window)")
        }
    }

    @Test("an escape that is none is so before its last digit is there")
    func escapeCutShort() {
        let text = Array(#"{"\u00"b3":7}"#.utf8)
        for window in 1...text.count {
            let found = assembled(text, window: window, parts: [0..<text.count])
            #expect(found == whole(text), "window \(window)")
        }
    }

    @Test("pieces do not depend on how the text arrives", arguments: TestSeed.seeds(20))
    func arrival(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<20 {
            var text = JSONMaker(random: random)
            text.writeValue(depth: 0)
            random = text.random
            guard case .draft = whole(text.bytes) else { continue }
            let first = try pieces(
                text.bytes,
                byteCount: 50,
                parts: randomParts(of: text.bytes.count, &random)
            )
            let second = try pieces(text.bytes, byteCount: 50, parts: [0..<text.bytes.count])
            #expect(first == second, "seed \(seed)")
        }
    }

    /// The order in which pieces come to be done when some are under way at a time, and those that say so
    /// wait for all before them.
    private func someOrder(
        of pieces: ArraySlice<JSONPieces.Piece>,
        _ random: inout SeededRandom
    ) -> [Int] {
        var done: [Int] = []
        var underWay: [Int] = []
        var next = pieces.startIndex
        while next < pieces.endIndex || !underWay.isEmpty {
            let isFree = next < pieces.endIndex && underWay.count < 5
            if isFree, underWay.isEmpty || !pieces[next].mustFollow && random.below(4) > 0 {
                underWay.append(next)
                next += 1
            } else {
                done.append(underWay.remove(at: random.below(underWay.count)))
            }
        }
        return done
    }

    @Test(
        "pieces may be done in any order but for those that must follow, and again after a stop",
        arguments: TestSeed.seeds(20)
    )
    func concurrency(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for round in 0..<40 {
            var text = JSONMaker(random: random)
            text.writeValue(depth: 0)
            random = text.random
            guard case .draft(let draft) = whole(text.bytes) else { continue }
            let size = [1, 9, 40, 100][random.below(4)]
            let all = try pieces(text.bytes, byteCount: size, parts: [0..<text.bytes.count])
            let said =
                "seed \(seed) round \(round) size \(size) \(String(decoding: text.bytes, as: UTF8.self))"
            let expected = draft.resolved(existing: .absent, now: Timestamp(milliseconds: 1_000))
            let order = someOrder(of: all[...], &random)
            #expect(try written(order.map { all[$0] }) == expected, "\(said)")
            // What counts after a stop is what was done without a gap.
            let stopped = Array(order.prefix(random.below(order.count + 1)))
            let confirmed = all.indices.first { !stopped.contains($0) } ?? all.count
            let rest = someOrder(of: all[confirmed...], &random)
            #expect(try written((stopped + rest).map { all[$0] }) == expected, "\(said)")
            let ends = all.map(\.endOffset)
            #expect(ends == ends.sorted() && Set(ends).count == ends.count, "\(said)")
            #expect(ends.last ?? 0 <= text.bytes.count)
        }
    }

    @Test(
        "a value beside members that later ones of their names take away is read in pieces as it is whole",
        arguments: [
            #"{".value":1,"a":{"k":{"b":2},"k":[]}}"#,
            #"{".value":1,"a":{"k":{"b":2},"k":{"c":[],"b":3}}}"#,
            #"{".value":1,"a":{"k":1,"j":2,"j":null}}"#,
            #"{".value":1,"a":2,"a":null}"#,
            #"{"a":{"k":{".sv":"timestamp"},"k":[]},".value":1}"#,
        ]
    )
    func takenAway(text: String) throws {
        let text = Array(text.utf8)
        for size in 1...text.count {
            guard case .draft(let draft) = whole(text) else {
                #expect(throws: JSONError.self, "size \(size)") {
                    try pieces(text, byteCount: size, parts: [0..<text.count])
                }
                continue
            }
            let found = try written(pieces(text, byteCount: size, parts: [0..<text.count]))
            let expected = draft.resolved(existing: .absent, now: Timestamp(milliseconds: 1_000))
            #expect(found == expected, "size \(size)")
        }
    }

    @Test("more than a thousand members of an object beside a value count as taken by none")
    func manyTakenAway() throws {
        for (count, isTaken) in [(1_000, true), (1_001, false)] {
            let names = (0..<count).map { "\"k\($0)\":" }
            let members = names.map { $0 + "1" } + names.map { $0 + "null" }
            let text = Array(#"{".value":1,"a":{\#(members.joined(separator: ","))}}"#.utf8)
            if isTaken {
                let found = try pieces(text, byteCount: 1, parts: [0..<text.count])
                #expect(try written(found) == Node(json: Array("1".utf8)))
            } else {
                #expect(throws: JSONError.self) {
                    try pieces(text, byteCount: 1, parts: [0..<text.count])
                }
            }
        }
    }

    @Test(
        "no name stands twice in a piece, and pieces in key order need not follow",
        arguments: [
            (#"{"b":1,"a":2,"b":3}"#, 13, [#"+{"b":1,"a":2}"#, #"*{"b":3}"#]),
            (#"{"b":1,"a":2,"b":3,"c":4444444}"#, 20, [#"+{"a":2,"b":3}"#, #"+{"c":4444444}"#]),
            (
                #"{"a":[1,2,3,4],"a":{"b":"12345"}}"#, 8,
                [
                    #"+{"0":1,"1":2,"2":3,"3":4}"#, #"*{"a":null}"#, #"*{"b":"12345"}"#,
                ]
            ),
            (#"{".priority":7,"a":"12345678"}"#, 12, [#"+{"a":"12345678"}"#, "*7"]),
        ]
    )
    func order(text: String, size: Int, expected: [String]) throws {
        let text = Array(text.utf8)
        let found = try pieces(text, byteCount: size, parts: [0..<text.count])
        #expect(
            found.map { ($0.mustFollow ? "*" : "+") + String(decoding: $0.json, as: UTF8.self) }
                == expected
        )
    }

    @Test("a piece is no longer than asked for, names of its place aside")
    func pieceLength() throws {
        let members = (0..<2_000).map { #""k\#($0)":{"a":[1,2,3],"b":"\#($0)"}"# }
        let text = Array(#"{"x":{"y":{\#(members.joined(separator: ","))}}}"#.utf8)
        let found = try pieces(text, byteCount: 500, parts: [0..<text.count])
        #expect(found.count > 100)
        #expect(found.allSatisfy { $0.json.count <= 502 })
        #expect(try written(found) == Node(json: text))
    }

    @Test("a string of 10 MiB that arrives in parts is taken, one byte more refused")
    func stringLimit() throws {
        let long = [UInt8](repeating: 0x61, count: Limits.stringByteCount)
        for (extra, isTaken) in [(0, true), (1, false)] {
            let characters = long + [UInt8](repeating: 0x62, count: extra)
            let text = Array(#"{"a":[1,"#.utf8) + [0x22] + characters + Array(#""],"b":2}"#.utf8)
            var parts: [Range<Int>] = []
            for start in stride(from: 0, to: text.count, by: 100_000) {
                parts.append(start..<min(text.count, start + 100_000))
            }
            let found = assembled(text, window: 50_000, parts: parts)
            #expect(found == whole(text))
            if case .draft = found { #expect(isTaken) } else { #expect(!isTaken) }
        }
    }

    @Test("an update is read in pieces as it is whole", arguments: TestSeed.seeds(20))
    func updates(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for round in 0..<20 {
            var expected: [(String, Draft)] = []
            var text = Array("{ ".utf8)
            for index in 0..<random.below(6) {
                var value = JSONMaker(random: random)
                value.writeValue(depth: 0)
                random = value.random
                guard case .draft(let draft) = whole(value.bytes) else { continue }
                if text.count > 2 { text += Array(" , ".utf8) }
                text += Array(#""a\#(index)/b/.priority" :"#.utf8) + value.bytes
                expected.append(("a\(index)/b/.priority", draft))
            }
            text += Array(" } ".utf8)
            let window = [1, 2, 9, 40, 300, 100_000][random.below(6)]
            var assembly = JSONAssembly(windowByteCount: window, isUpdate: true)
            for part in randomParts(of: text.count, &random) {
                try assembly.append(Array(text[part]))
            }
            let said = String(decoding: text, as: UTF8.self)
            let entries = try assembly.finishUpdate()
            #expect(entries.map(\.path) == expected.map(\.0), "seed \(seed) round \(round) \(said)")
            #expect(
                entries.map(\.draft) == expected.map(\.1),
                "seed \(seed) round \(round) \(said)"
            )
        }
    }
}

/// Writes random texts, most of them values: equal names, dots, nulls, server values, white space.
private struct JSONMaker {
    var random: SeededRandom
    var bytes: [UInt8] = []

    mutating func write(_ text: String) { bytes += Array(text.utf8) }

    private mutating func space() {
        if random.below(6) == 0 { write([" ", "\n", "\t ", "\r\n   "][random.below(4)]) }
    }

    mutating func writeValue(depth: Int) {
        space()
        let kind = depth > 6 ? random.below(6) : random.below(12)
        switch kind {
        case 0: write("null")
        case 1: write(["true", "false"][random.below(2)])
        case 2: write(["0", "-1.5e3", "12345678901", "-0", "7.0"][random.below(5)])
        case 3: write(["\"\"", "\"a\"", "\"é\\u00e9😀\\\"\\\\\"", "\"{[,]}:\""][random.below(4)])
        case 4: write("\"" + String(repeating: "long ", count: random.below(80)) + "\"")
        case 5: write(#"{".sv":"timestamp"}"#)
        case 6, 7: writeArray(depth: depth)
        default: writeObject(depth: depth)
        }
        space()
    }

    private mutating func writeArray(depth: Int) {
        write("[")
        let count = random.below(7)
        for index in 0..<count {
            if index > 0 { write(",") }
            writeValue(depth: depth + 1)
        }
        space()
        write("]")
    }

    private mutating func writeObject(depth: Int) {
        write("{")
        let count = random.below(9)
        for index in 0..<count {
            if index > 0 { write(",") }
            space()
            switch random.below(14) {
            case 0:
                write(#"".priority":"#)
                write(["1", "null", #""p""#, #"{".sv":"timestamp"}"#][random.below(4)])
            case 1 where random.below(4) == 0:
                write(#""\u002evalue":"#)
                write(["1", "null", #""v""#, #"{".sv":{"increment":2}}"#][random.below(4)])
            case 2 where random.below(8) == 0:
                write(#"".sv":"timestamp""#)
            default:
                let isOrdered = depth % 2 == 0
                let name = isOrdered ? "k\(index)" : "k\(random.below(5))"
                write(random.below(9) == 0 ? #""\u006b\#(random.below(5))""# : "\"\(name)\"")
                space()
                write(":")
                writeValue(depth: depth + 1)
            }
            space()
        }
        space()
        write("}")
    }
}

@Suite("JSON in pieces, known cases")
struct JSONPiecesCaseTests {
    @Test("an empty object is whole although a bracket behind it is open")
    func emptyBeforeOpen() throws {
        let text = Array(#"{"k0":true , "k4":{},"k2":["a",1]}"#.utf8)
        for window in 1...40 {
            for length in 1...20 {
                var assembly = JSONAssembly(windowByteCount: window)
                for start in stride(from: 0, to: text.count, by: length) {
                    try assembly.append(Array(text[start..<min(start + length, text.count)]))
                }
                #expect(try assembly.finish() == Draft(json: text))
            }
        }
    }

    @Test("what follows the value is refused, also when it opens a bracket")
    func trailing() {
        for text in ["{} [", "[] {}", "{}}", "1 [", "[1]\n,"] {
            let bytes = Array(text.utf8)
            let expected = #expect(throws: JSONError.self) { try Draft(json: bytes) }
            for window in 1...8 {
                var assembly = JSONAssembly(windowByteCount: window)
                let found = #expect(throws: JSONError.self) {
                    try assembly.append(bytes)
                    _ = try assembly.finish()
                }
                #expect(found == expected, "\(text) in windows of \(window)")
            }
        }
    }
}
