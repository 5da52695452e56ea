import TestSupport
import Testing

@testable import WireProtocol

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
private func text(_ bytes: some Collection<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self)
}

/// `a=1&b=2` as a request has it.
private func query(_ text: String) -> [(name: String, value: String)] {
    text.split(separator: "&").map { part in
        let equals = part.firstIndex(of: "=") ?? part.endIndex
        return (String(part[..<equals]), String(part[equals...].dropFirst()))
    }
}

/// One row: the parameters of a request, and its pieces as `number/count:text`, or an error.
struct PieceCase: Sendable, CustomTestStringConvertible {
    let query: String
    let result: String
    var testDescription: String { query }

    init(_ query: String, _ result: String) {
        self.query = query
        self.result = result
    }
}

private let pieceCases = [
    PieceCase("id=a&pw=b&ser=1", ""),
    PieceCase("seg0=0&ts0=1&d0=e30.", "0/1:e30."),
    PieceCase("d0=a&ts0=2&seg0=7&ns=demo", "7/2:a"),
    PieceCase("seg0=7&ts0=2&d0=a&seg1=8&ts1=2&d1=b", "7/2:a 8/2:b"),
    PieceCase("seg1=8&ts1=2&d1=b&seg0=7&ts0=2&d0=a", "7/2:a 8/2:b"),
    PieceCase("seg0=0&ts0=1&d0=", "0/1:"),
    PieceCase("disconn=t&dframe=t&ts=9&seg=1&d=x&seg0x=1&d-1=2", ""),
    PieceCase("seg0=999999999999&ts0=1&d0=a", "999999999999/1:a"),
    PieceCase("seg0=0&ts0=1", "! piece 0 of an address lacks seg, ts or d"),
    PieceCase("seg0=0&d0=a", "! piece 0 of an address lacks seg, ts or d"),
    PieceCase("ts0=1&d0=a", "! piece 0 of an address lacks seg, ts or d"),
    PieceCase("seg1=0&ts1=1&d1=a", "! piece 0 of an address lacks seg, ts or d"),
    PieceCase(
        "seg0=0&ts0=1&d0=a&seg2=1&ts2=1&d2=b",
        "! piece 1 of an address lacks seg, ts or d"
    ),
    PieceCase("seg0=0&ts0=0&d0=a", "! piece 0 of an address has a bad number"),
    PieceCase("seg0=-1&ts0=1&d0=a", "! piece 0 of an address has a bad number"),
    PieceCase("seg0=&ts0=1&d0=a", "! piece 0 of an address has a bad number"),
    PieceCase("seg0=1e3&ts0=1&d0=a", "! piece 0 of an address has a bad number"),
    PieceCase("seg0=9999999999999&ts0=1&d0=a", "! piece 0 of an address has a bad number"),
]

/// One row: pieces in the order in which they come, and what came of each: `.` nothing yet, messages, or an error.
struct JoinCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let pieces: [(Int, Int, String)]
    let results: [String]

    init(_ name: String, _ pieces: [(Int, Int, String)], _ results: [String]) {
        testDescription = name
        self.pieces = pieces
        self.results = results
    }
}

// "{}" is e30. and "[1]" is WzFd, "é" is w6k. and "ab" is YWI., "a" is YQ..
private let joinCases = [
    JoinCase("a message in one piece", [(0, 1, "e30.")], ["{}"]),
    JoinCase("no padding is padding enough", [(0, 1, "e30"), (1, 1, "YQ")], ["{}", "a"]),
    JoinCase("a message in three", [(0, 3, "e"), (1, 3, "3"), (2, 3, "0.")], [".", ".", "{}"]),
    JoinCase(
        "one in an order of its own",
        [(2, 3, "0."), (0, 3, "e"), (1, 3, "3")],
        [".", ".", "{}"]
    ),
    JoinCase("two at once", [(1, 1, "WzFd"), (0, 1, "e30.")], [".", "{} [1]"]),
    JoinCase(
        "a piece that comes again is not taken again",
        [(0, 1, "e30."), (0, 1, "e30."), (1, 1, "WzFd"), (0, 1, "YQ..")],
        ["{}", ".", "[1]", "."]
    ),
    JoinCase(
        "nor is one that comes again before its turn",
        [(1, 1, "WzFd"), (1, 1, "YQ.."), (0, 1, "e30.")],
        [".", ".", "{} [1]"]
    ),
    JoinCase("scalars may be cut", [(0, 2, "w6"), (1, 2, "k.")], [".", "é"]),
    JoinCase(
        "the alphabet is that for addresses",
        [(0, 1, "Pz8_"), (1, 1, "Pj4-")],
        ["???", ">>>"]
    ),
    JoinCase("an empty text is a message of nothing", [(0, 1, "")], [""]),
    JoinCase("the ordinary alphabet is none", [(0, 1, "Pz8/")], ["! piece 0 is not base64"]),
    JoinCase("nor is its padding", [(0, 1, "e30=")], ["! piece 0 is not base64"]),
    JoinCase(
        "nothing follows padding",
        [(0, 2, "e30."), (1, 2, "e30.")],
        [".", "! piece 1 is not base64"]
    ),
    JoinCase("a digit alone is no byte", [(0, 1, "e30ee")], ["! piece 0 is not base64"]),
    JoinCase(
        "pieces of one message agree on their count",
        [(0, 2, "e"), (1, 3, "30")],
        [".", "! piece 1 is of another message than those before it"]
    ),
    JoinCase(
        "a message has at most as many bytes as the limit says",
        [(0, 1, "YWFhYWFhYWFhYWFh"), (1, 2, "YWFhYWFhYWFhYWFh"), (2, 2, "YQ..")],
        ["aaaaaaaaaaaa", ".", "! message of at least 13 bytes is over the limit of 12"]
    ),
]

@Suite("long polling")
struct PollTests {
    @Test("pieces are read from an address", arguments: pieceCases)
    func reading(row: PieceCase) {
        let result: String
        do throws(PollError) {
            let pieces = try PollPiece.pieces(in: query(row.query))
            result = pieces.map { "\($0.number)/\($0.count):\(text($0.text))" }
                .joined(separator: " ")
        } catch {
            result = "! \(error)"
        }
        #expect(result == row.result)
    }

    @Test("pieces are joined", arguments: joinCases)
    func joining(row: JoinCase) {
        var assembler = PieceAssembler(byteLimit: 12)
        let results = row.pieces.map { number, count, data in
            var messages: [PieceAssembler.Joined] = []
            do throws(PollError) {
                let piece = PollPiece(number: number, count: count, text: bytes(data))
                try assembler.receive(piece, into: &messages)
            } catch {
                return "! \(error)"
            }
            return messages.isEmpty ? "." : messages.map { words($0) }.joined(separator: " ")
        }
        #expect(results == row.results)
    }

    @Test("no more pieces wait for one than the limits say")
    func farAhead() throws {
        var messages: [PieceAssembler.Joined] = []
        var assembler = PieceAssembler(byteLimit: 1 << 20)
        for number in 1...WireLimits.earlyPieces {
            let piece = PollPiece(number: number, count: 1, text: bytes("e30."))
            try assembler.receive(piece, into: &messages)
        }
        #expect(assembler.heldByteCount == 4 * WireLimits.earlyPieces)
        let last = PollPiece(number: WireLimits.earlyPieces + 1, count: 1, text: [])
        #expect(throws: PollError.tooFarAhead(number: 0)) {
            try assembler.receive(last, into: &messages)
        }
        assembler = PieceAssembler(byteLimit: 1 << 20)
        let half = [UInt8](repeating: UInt8(ascii: "A"), count: WireLimits.earlyPieceByteCount / 2)
        try assembler.receive(PollPiece(number: 1, count: 3, text: half), into: &messages)
        try assembler.receive(PollPiece(number: 2, count: 3, text: half), into: &messages)
        #expect(throws: PollError.tooFarAhead(number: 0)) {
            try assembler.receive(PollPiece(number: 3, count: 1, text: [65]), into: &messages)
        }
        #expect(messages.isEmpty)
    }

    @Test(
        "a message that is too big is read to its end, and its request is known",
        arguments: drainedCases
    )
    func drained(row: DrainedCase) throws {
        let message = bytes(row.before + String(repeating: "x\\\" {", count: 1_000) + row.behind)
        var assembler = PieceAssembler(byteLimit: 1_000, drainedByteCount: 10_000)
        var messages: [PieceAssembler.Joined] = []
        let digits = base64(message)
        let starts = Array(stride(from: 0, to: digits.count, by: 333))
        var found: PollError?
        for (number, start) in starts.enumerated() {
            let part = Array(digits[start..<min(start + 333, digits.count)])
            let piece = PollPiece(number: number, count: starts.count, text: part)
            do throws(PollError) {
                try assembler.receive(piece, into: &messages)
            } catch {
                found = error
            }
            #expect(assembler.heldByteCount <= 1_000)
        }
        guard let number = row.number else {
            #expect(found == .messageTooBig(byteCount: message.count, limit: 1_000))
            #expect(messages.isEmpty)
            return
        }
        // What follows is a message again.
        let next = PollPiece(number: starts.count, count: 1, text: bytes("e30."))
        try assembler.receive(next, into: &messages)
        #expect(
            messages == [
                .tooBig(byteCount: message.count, request: number), .message(bytes("{}")),
            ]
        )
    }

    @Test("a message that goes on beyond what is drained ends at once")
    func drainedTooLong() throws {
        var assembler = PieceAssembler(byteLimit: 100, drainedByteCount: 1_000)
        var messages: [PieceAssembler.Joined] = []
        let text = base64(Array(repeating: UInt8(ascii: "x"), count: 600))
        try assembler.receive(PollPiece(number: 0, count: 9, text: text), into: &messages)
        #expect(assembler.heldByteCount == 0)
        #expect(throws: PollError.messageTooBig(byteCount: 1_200, limit: 100)) {
            try assembler.receive(PollPiece(number: 1, count: 9, text: text), into: &messages)
        }
        #expect(messages.isEmpty)
    }

    @Test("any cut and any order give the messages that were sent", arguments: TestSeed.seeds(40))
    func anyOrder(seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed)
        let sent = (0..<Int.random(in: 1...8, using: &chance)).map { _ in
            (0..<Int.random(in: 1...300, using: &chance)).map { _ in
                UInt8.random(in: 0...255, using: &chance)
            }
        }
        let pieces = cutAndShuffled(sent, &chance)
        var assembler = PieceAssembler(byteLimit: 300)
        var received: [PieceAssembler.Joined] = []
        for piece in pieces { try assembler.receive(piece, into: &received) }
        #expect(received == sent.map { .message($0) }, "seed \(seed)")
        #expect(assembler.heldByteCount == 0)
    }

    @Test(
        "any cut and any order tell which messages are too big, and give the others",
        arguments: TestSeed.seeds(40)
    )
    func anyOrderTooBig(seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed)
        var expected: [PieceAssembler.Joined] = []
        let sent = (1...Int.random(in: 2...8, using: &chance)).map { number in
            let text = String(repeating: "x", count: Int.random(in: 0...600, using: &chance))
            let message = bytes(#"{"t":"d","d":{"r":\#(number),"a":"p","b":"\#(text)"}}"#)
            expected.append(
                message.count > 300
                    ? .tooBig(byteCount: message.count, request: Int64(number)) : .message(message)
            )
            return message
        }
        var assembler = PieceAssembler(byteLimit: 300, drainedByteCount: 1_000)
        var received: [PieceAssembler.Joined] = []
        for piece in cutAndShuffled(sent, &chance) {
            try assembler.receive(piece, into: &received)
            #expect(assembler.heldByteCount <= 300 + WireLimits.earlyPieceByteCount)
        }
        #expect(received == expected, "seed \(seed)")
        #expect(assembler.heldByteCount == 0)
    }

    /// Messages in pieces of a size each, somewhat out of order.
    private func cutAndShuffled(
        _ messages: [[UInt8]],
        _ chance: inout SeededGenerator
    ) -> [PollPiece] {
        var pieces: [PollPiece] = []
        for message in messages {
            let digits = base64(message)
            let size = Int.random(in: 1...50, using: &chance)
            let starts = Array(stride(from: 0, to: digits.count, by: size))
            let first = pieces.count
            for (index, start) in starts.enumerated() {
                let part = Array(digits[start..<min(start + size, digits.count)])
                pieces.append(PollPiece(number: first + index, count: starts.count, text: part))
            }
        }
        // Far enough apart to matter, not so far that too many would wait.
        let places = pieces.indices.map { ($0 + Int.random(in: 0...100, using: &chance), $0) }
        return places.sorted { $0 < $1 }.map { pieces[$0.1] }
    }

    @Test(
        "whatever pieces come, no more is held than the limits say",
        arguments: TestSeed.seeds(40)
    )
    func anything(seed: UInt64) {
        var chance = SeededGenerator(seed: seed)
        var assembler = PieceAssembler(byteLimit: 500)
        var messages: [PieceAssembler.Joined] = []
        for _ in 0..<400 {
            let byteCount = Int.random(in: 0...40, using: &chance)
            let characters = (0..<byteCount).map { _ in
                bytes("Az09-_.").randomElement(using: &chance) ?? 0
            }
            let strange = [UInt8.random(in: 0...255, using: &chance)]
            let piece = PollPiece(
                number: Int.random(in: 0...60, using: &chance),
                count: Int.random(in: 1...3, using: &chance),
                text: Int.random(in: 0..<50, using: &chance) == 0 ? strange : characters
            )
            do throws(PollError) {
                try assembler.receive(piece, into: &messages)
            } catch {
                // Its session ends here; another one begins.
                assembler = PieceAssembler(byteLimit: 500)
            }
            #expect(assembler.heldByteCount <= 500 + WireLimits.earlyPieceByteCount)
            for case .message(let text) in messages {
                #expect(text.count <= 500, "seed \(seed)")
            }
        }
    }

    private func words(_ joined: PieceAssembler.Joined) -> String {
        switch joined {
        case .message(let message): text(message)
        case .tooBig(let byteCount, let request): "(\(byteCount) bytes of request \(request))"
        }
    }

    /// The naive twin: one bit after the other.
    private func base64(_ message: [UInt8]) -> [UInt8] {
        let alphabet = bytes("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var bits = message.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
        while bits.count % 6 != 0 { bits.append(0) }
        var digits = stride(from: 0, to: bits.count, by: 6).map { start in
            alphabet[bits[start..<start + 6].reduce(0) { $0 << 1 | Int($1) }]
        }
        while digits.count % 4 != 0 { digits.append(UInt8(ascii: ".")) }
        return digits
    }

    @Test(
        "JSON in a script is the same value and ends nothing",
        arguments: [
            (#"{"a":1}"#, #"{"a":1}"#),
            ("\"</script>\"", #""\u003c/script>""#),
            ("\"<!--<script\"", #""\u003c!--\u003cscript""#),
            ("\"a\u{2028}b\u{2029}\"", #""a\u2028b\u2029""#),
            ("\"\u{2027}\u{202A}€\u{E2}â\"", "\"\u{2027}\u{202A}€\u{E2}â\""),
            ("\u{2029}", #"\u2029"#), ("<", #"\u003c"#), ("", ""),
        ] as [(String, String)]
    )
    func escaping(json: String, script: String) {
        var out = bytes("x")
        PollScript.append(bytes(json)[...], to: &out)
        #expect(text(out) == "x" + script)
    }

    @Test("a slice is escaped as the whole is, wherever it stands in its array")
    func slices() {
        let json = bytes("é<\u{2028}é")
        var out: [UInt8] = []
        PollScript.append(json[0..<2], to: &out)
        PollScript.append(json[2..<6], to: &out)
        PollScript.append(json[6...], to: &out)
        #expect(text(out) == #"é\u003c\u2028é"#)
    }

    @Test("scripts are as clients read them")
    func scripts() {
        #expect(
            text(PollScript.start(id: "a-B", password: "_9")) == "pLPCommand('start','a-B','_9');\n"
        )
        #expect(text(PollScript.batchStart(12)) == "pRTLPCB(12,[")
        #expect(text(PollScript.batchEnd) == "]);\n")
        #expect(text(PollScript.close()) == "pLPCommand('close');\n")
        #expect(text(PollScript.close(after: 3)) == "pLPCommand('close',3);\n")
        let functions = text(PollScript.functions(callback: "1);evil(\u{0662}2"))
        #expect(
            functions
                == """
                function pLPCommand(c,a1,a2,a3,a4){parent.window["pLPCommand12"]&&\
                parent.window["pLPCommand12"](c,a1,a2,a3,a4);}
                function pRTLPCB(pN,data){parent.window["pRTLPCB12"]&&\
                parent.window["pRTLPCB12"](pN,data);}

                """
        )
    }
}
