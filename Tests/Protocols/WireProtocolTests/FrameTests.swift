import Testing
import WireProtocol

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// What came of each frame: `.` incomplete, `k` keep-alive, `m(text)` a message, `!` an error.
private func assemble(_ frames: [String], byteLimit: Int = 100) -> [String] {
    var assembler = FrameAssembler(byteLimit: byteLimit)
    return frames.map { frame in
        do throws(FrameError) {
            switch try assembler.receive(bytes(frame)) {
            case .incomplete: return "."
            case .keepAlive: return "k"
            case .message(let message): return "m(\(String(decoding: message, as: UTF8.self)))"
            }
        } catch {
            return "!\(error)"
        }
    }
}

struct AssemblyCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let frames: [String]
    let results: [String]

    init(_ name: String, _ frames: [String], _ results: [String]) {
        testDescription = name
        self.frames = frames
        self.results = results
    }
}

let assemblyCases: [AssemblyCase] = [
    AssemblyCase("a bare message", ["{}"], ["m({})"]),
    AssemblyCase("a count of one", ["1", "{}"], [".", "m({})"]),
    AssemblyCase(
        "three segments",
        ["3", "{", "\"a\":1", "}", "{}"],
        [".", ".", ".", "m({\"a\":1})", "m({})"]
    ),
    AssemblyCase(
        "keep-alives between messages",
        ["0", "{}", "0", "2", "{", "}", "0"],
        ["k", "m({})", "k", ".", ".", "m({})", "k"]
    ),
    AssemblyCase(
        "a segment that looks like a keep-alive is data",
        ["3", "[1", "0", "]"],
        [".", ".", ".", "m([10])"]
    ),
    AssemblyCase(
        "a segment that looks like a count is data",
        ["2", "[1", "2"],
        [".", ".", "m([12)"]
    ),
    AssemblyCase(
        "halves of a cut surrogate pair arrive as U+FFFD",
        ["2", "\"\u{FFFD}", "\u{FFFD}\""],
        [".", ".", "m(\"\u{FFFD}\u{FFFD}\")"]
    ),
    AssemblyCase("a count of six digits", ["999999", "{"], [".", "."]),
    AssemblyCase("a text that is no JSON is still a message here", ["hello"], ["m(hello)"]),
    AssemblyCase("white space may come first", [" {}"], ["m( {})"]),
    AssemblyCase(
        "an empty frame",
        ["", "{}"],
        ["!empty frame where a message or a segment count was expected", "m({})"]
    ),
    AssemblyCase(
        "a count of seven digits",
        ["1000000"],
        ["!a frame of 7 bytes is neither a message nor a segment count of 1 to 999999"]
    ),
    AssemblyCase(
        "a count with a leading zero",
        ["02"],
        ["!a frame of 2 bytes is neither a message nor a segment count of 1 to 999999"]
    ),
    AssemblyCase(
        "a double zero",
        ["00"],
        ["!a frame of 2 bytes is neither a message nor a segment count of 1 to 999999"]
    ),
    AssemblyCase(
        "a negative count",
        ["-1"],
        ["!a frame of 2 bytes is neither a message nor a segment count of 1 to 999999"]
    ),
    AssemblyCase(
        "a signed count",
        ["+2"],
        ["!a frame of 2 bytes is neither a message nor a segment count of 1 to 999999"]
    ),
    AssemblyCase(
        "a fraction",
        ["1.5"],
        ["!a frame of 3 bytes is neither a message nor a segment count of 1 to 999999"]
    ),
    AssemblyCase(
        "a count with a space",
        ["2 "],
        ["!a frame of 2 bytes is neither a message nor a segment count of 1 to 999999"]
    ),
    AssemblyCase(
        "a count in hexadecimal",
        ["0x2"],
        ["!a frame of 3 bytes is neither a message nor a segment count of 1 to 999999"]
    ),
    AssemblyCase("an empty segment", ["3", "{", ""], [".", ".", "!segment 2 of 3 is empty"]),
    AssemblyCase(
        "a bare message over the limit",
        [String(repeating: "x", count: 101)],
        ["!message of at least 101 bytes is over the limit of 100"]
    ),
    AssemblyCase(
        "a bare message at the limit",
        [String(repeating: "x", count: 100)],
        ["m(\(String(repeating: "x", count: 100)))"]
    ),
    AssemblyCase(
        "segments over the limit together",
        ["3", String(repeating: "x", count: 60), String(repeating: "x", count: 41)],
        [".", ".", "!message of at least 101 bytes is over the limit of 100"]
    ),
]

@Test("frames become messages", arguments: assemblyCases)
func assembly(_ row: AssemblyCase) {
    #expect(assemble(row.frames) == row.results)
}

/// A message that is too big: what stands around its body, and the number that is found.
struct DrainedCase: Sendable, CustomTestStringConvertible {
    let before: String
    let behind: String
    let number: Int64?

    init(_ before: String, _ behind: String, _ number: Int64?) {
        self.before = before
        self.behind = behind
        self.number = number
    }

    var testDescription: String { "\(before)...\(behind)" }
}

let drainedCases: [DrainedCase] = [
    // As JavaScript and Hearth's client write it, as Java's maps do, and with the body first.
    DrainedCase(#"{"t":"d","d":{"r":3,"a":"p","b":{"p":"/b","d":""#, #""}}}"#, 3),
    DrainedCase(#"{"t":"d","d":{"a":"p","r":0,"b":{"d":""#, #"","p":"/b"}}}"#, 0),
    DrainedCase(#"{"d":{"b":{"p":"/b","d":""#, #""},"r":12,"a":"p"},"t":"d"}"#, 12),
    DrainedCase(
        #"{"t":"d","d":{"b":{"p":"/b","d":{"r":7,"x":""#,
        #"","r":8}},"a":"p","r":-9}}"#,
        -9
    ),
    DrainedCase(#" { "t" : "d" , "d" : { "b" : {"d":""#, #""} , "r" : 5 } } "#, 5),
    // No request, or none that can be found.
    DrainedCase(#"{"t":"d","d":{"a":"p","b":{"p":"/b","r":3,"d":""#, #""}}}"#, nil),
    DrainedCase(#"{"t":"d","d":{"r":"3","a":"p","b":{"d":""#, #""}}}"#, nil),
    DrainedCase(#"{"t":"d","d":{"b":{"d":{"r":3,"x":""#, #"","r":4}}}}"#, nil),
    DrainedCase(#"{"r":3,"x":""#, #""}"#, nil),
    DrainedCase(#"["#, #""]"#, nil),
    DrainedCase("xxx", "xxx", nil),
]

@Test(
    "a message in segments that is too big is read to its end, and its request is known",
    arguments: drainedCases
)
func drained(_ row: DrainedCase) throws {
    var assembler = FrameAssembler(byteLimit: 1_000, drainedByteCount: 10_000)
    let filler = String(repeating: "x\\\" {", count: 200)
    var found: FrameError?
    #expect(try assembler.receive(bytes("7")) == .incomplete)
    for segment in [row.before] + Array(repeating: filler, count: 5) {
        #expect(try assembler.receive(bytes(segment)) == .incomplete)
        #expect(assembler.heldByteCount <= 1_000)
    }
    do throws(FrameError) { _ = try assembler.receive(bytes(row.behind)) } catch { found = error }
    let count = row.before.utf8.count + 5 * filler.utf8.count + row.behind.utf8.count
    #expect(found == .messageTooBig(byteCount: count, limit: 1_000, request: row.number))
    // What follows is a message again.
    #expect(try assembler.receive(bytes("{}")) == .message(bytes("{}")))
}

@Test("a message that goes on beyond what is drained ends at once, without a request")
func drainedTooLong() throws {
    var assembler = FrameAssembler(byteLimit: 100, drainedByteCount: 1_000)
    #expect(try assembler.receive(bytes("999999")) == .incomplete)
    #expect(try assembler.receive(bytes(#"{"t":"d","d":{"r":3,"a":"p","b":{"#)) == .incomplete)
    let segment = bytes(String(repeating: "x", count: 500))
    #expect(try assembler.receive(segment) == .incomplete)
    #expect(try assembler.receive(segment) == .incomplete)
    #expect(assembler.heldByteCount == 0)
    #expect(throws: FrameError.messageTooBig(byteCount: 1_533, limit: 100)) {
        try assembler.receive(segment)
    }
}

@Test("an announced count reserves no memory")
func announcedCount() throws {
    var assembler = FrameAssembler(byteLimit: 1 << 20)
    #expect(try assembler.receive(bytes("999999")) == .incomplete)
    #expect(assembler.heldByteCount == 0)
    #expect(try assembler.receive(bytes("ab")) == .incomplete)
    #expect(assembler.heldByteCount == 2)
}

@Test("what ends a connection has a close code")
func closeCodes() {
    #expect(FrameError.emptyFrame.closeCode == 1003)
    #expect(FrameError.messageTooBig(byteCount: 2, limit: 1).closeCode == 1009)
}

// MARK: Segments

/// Plays the frames the way a client does and returns the messages it ends up with.
private func clientMessages(_ frames: [[UInt8]]) -> [[UInt8]] {
    var messages: [[UInt8]] = []
    var missing = 0
    var joined: [UInt8] = []
    for frame in frames {
        #expect(frame.count <= 16_384)
        #expect(String(validating: frame, as: UTF8.self) != nil)
        if missing == 0, frame.count <= 6, let count = Int(String(decoding: frame, as: UTF8.self)) {
            #expect(count > 0 && frame.count <= 4)
            missing = count
            continue
        }
        #expect(!frame.isEmpty)
        joined += frame
        missing = max(0, missing - 1)
        if missing == 0 {
            messages.append(joined)
            joined = []
        }
    }
    #expect(missing == 0)
    return messages
}

func frames(_ message: [UInt8]) throws -> [[UInt8]] {
    let ranges = try #require(Segments.frames(of: message))
    let segments = ranges.map { Array(message[$0]) }
    return ranges.count == 1 ? segments : [Segments.countFrame(ranges.count)] + segments
}

@Test(
    "a message is cut between scalars and arrives whole",
    arguments: ["x", "é", "\u{FFFF}", "\u{1F600}", "aé\u{FFFF}\u{1F600}"],
    [1, 16_380, 16_381, 16_382, 16_383, 16_384, 16_385, 32_762, 32_763, 49_152, 100_000]
)
func cutting(scalar: String, byteCount: Int) throws {
    for offset in 0..<4 {
        var message = Array(String(repeating: "{", count: offset).utf8)
        while message.count < byteCount { message += Array(scalar.utf8) }
        #expect(clientMessages(try frames(message)) == [message])
    }
}

@Test("a message of 16384 bytes is one frame and one byte more makes two and a count")
func boundary() throws {
    #expect(try frames(Array(repeating: 0x78, count: 16_384)).count == 1)
    let cut = try frames(Array(repeating: 0x78, count: 16_385))
    #expect(cut.count == 3)
    #expect(cut[0] == bytes("2"))
}

@Test("no message has more than 9999 segments")
func segmentLimit() {
    #expect(Segments.count(byteCount: 9_999 * 16_381) == 9_999)
    #expect(Segments.count(byteCount: 9_999 * 16_381 + 1) == nil)
    #expect(Segments.count(byteCount: 16_384) == 1)
    #expect(WireLimits.sentMessageByteCount == 9_999 * 16_381)
}

@Test("what one side cuts the other joins")
func roundTrip() throws {
    let message = Array((String(repeating: "aé\u{1F600}", count: 20_000)).utf8)
    var assembler = FrameAssembler(byteLimit: 1 << 20)
    var result = Assembled.incomplete
    for frame in try frames([0x7B] + message) { result = try assembler.receive(frame) }
    #expect(result == .message([0x7B] + message))
}
