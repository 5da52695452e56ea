import JSONTree
import Testing

@testable import WireProtocol

/// Measures and sends a message in steps of `stepByteCount`.
private func play(_ message: StreamedMessage, _ stepByteCount: Int) throws -> [[UInt8]] {
    var message = message
    while try !message.measure(atLeast: stepByteCount) {}
    var frames: [[UInt8]] = []
    while let frame = message.nextFrame() { frames.append(frame) }
    #expect(message.nextFrame() == nil)
    return frames
}

/// Measures a message and takes its text as it goes where nothing is cut into frames.
private func text(_ message: StreamedMessage) throws -> [UInt8] {
    var message = message
    while try !message.measure(atLeast: 65_536) {}
    var text: [UInt8] = []
    while let part = message.nextText() {
        #expect(String(validating: part, as: UTF8.self) != nil)
        text += part
    }
    return text
}

private func wideNode(_ childCount: Int, _ text: String) -> Node {
    var node = Node.absent
    for number in 0..<childCount {
        node.set(Node(string: text), at: Path([Key(unchecked: Array("k\(number)".utf8))]))
    }
    return node.settingPriority(Node(string: "\u{1F600}"))
}

@Test("a streamed message has the frames of the same message made whole")
func sameFrames() throws {
    let target = try WriteTarget("/room/a")
    let nodes = [
        Node.absent, Node(integer: 5), wideNode(3, "x"), wideNode(900, "aé\u{FFFF}\u{1F600}"),
        wideNode(400, String(repeating: "\u{1F600}", count: 30)),
        Node(string: String(repeating: "é", count: 60_000)),
        wideNode(4, String(repeating: "\u{FFFF}", count: 15_000)),
    ]
    for node in nodes {
        for stepByteCount in [1_000, 65_536] {
            for tag in [nil, 12] as [Int64?] {
                let whole = ServerMessage.put(target, node, tag: tag).encoded()
                let frames = try play(.put(target, node, tag: tag), stepByteCount)
                #expect(try frames == WireProtocolTests.frames(whole))
            }
            let reply = ServerMessage.reply(41, .value(node)).encoded()
            let frames = try play(.reply(41, node), stepByteCount)
            #expect(try frames == WireProtocolTests.frames(reply))
            #expect(try text(.reply(41, node)) == reply)
        }
    }
}

@Test("a message that is measured keeps no room for its text: many may wait for slow readers")
func measuredMessageIsSmall() throws {
    var message = StreamedMessage.put(try WriteTarget("/room"), wideNode(9_000, "text"), tag: nil)
    while try !message.measure(atLeast: 1 << 20) {}
    #expect(message.byteCount > 100_000)
    let pending = Mirror(reflecting: message).descendant("pending") as? [UInt8]
    #expect(try #require(pending).capacity == 0)
}

@Test("a streamed range merge has the frames of the same message made whole")
func rangeMergeFrames() throws {
    let nodes = [
        wideNode(900, "aé\u{FFFF}\u{1F600}"), .absent, Node(integer: 5),
        Node(string: String(repeating: "é", count: 60_000)), wideNode(3, "x"),
    ]
    for count in 1...nodes.count {
        let merges = try nodes.prefix(count).enumerated().map { index, node in
            let start = index == 0 ? nil : try WriteTarget("k\(index)/x")
            let interval = LeafInterval(after: start, through: try WriteTarget("k\(index + 1)"))
            return RangeMerge(interval: interval, node: node)
        }
        for stepByteCount in [1, 1_000, 65_536] {
            let whole = ServerMessage.rangeMerge(try path("room/a"), merges, tag: 3).encoded()
            let streamed = StreamedMessage.rangeMerge(try path("room/a"), merges, tag: 3)
            #expect(try play(streamed, stepByteCount) == WireProtocolTests.frames(whole))
        }
    }
}

@Test("the byte count is known when measuring is done")
func byteCount() throws {
    let node = wideNode(500, "text")
    var message = StreamedMessage.reply(1, node)
    while try !message.measure(atLeast: 512) {}
    #expect(message.byteCount == ServerMessage.reply(1, .value(node)).encoded().count)
    #expect(try message.measure(atLeast: 1))
}

@Test("a message around every length near a segment's end is cut alike")
func everyLength() throws {
    for length in 16_300...16_420 {
        let node = Node(string: String(repeating: "x", count: length))
        let whole = ServerMessage.reply(1, .value(node)).encoded()
        #expect(try play(.reply(1, node), 4_096) == WireProtocolTests.frames(whole))
    }
}

@Test("a message over the limit is given up while it is measured")
func tooBig() throws {
    let node = wideNode(2_000, String(repeating: "x", count: 100))
    let byteCount = ServerMessage.reply(1, .value(node)).encoded().count
    func measured(_ byteLimit: Int) throws(StreamedMessage.TooBig) -> Int {
        var message = StreamedMessage.reply(1, node, byteLimit: byteLimit)
        while try !message.measure(atLeast: 1_000) {}
        return message.byteCount
    }
    #expect(try measured(byteCount) == byteCount)
    #expect(try measured(.max) == byteCount)
    do throws(StreamedMessage.TooBig) {
        _ = try measured(20_000)
        Issue.record("20000 bytes are not enough")
    } catch {
        // Measuring stops at the step that passes the limit, not at the end.
        #expect(error.byteCount > 20_000)
        #expect(error.byteCount < 30_000)
    }
}
