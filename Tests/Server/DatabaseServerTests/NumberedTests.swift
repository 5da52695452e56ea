import DatabaseCore
import Testing
import WireProtocol

@testable import DatabaseServer
@testable import Transport

@Suite("Numbered texts")
struct NumberedTests {
    /// One WebSocket frame as a client reads it.
    private struct Frame {
        let operation: UInt8
        let isFinal: Bool
        let payload: [UInt8]
    }

    private func frames(_ bytes: [UInt8]) -> [Frame] {
        var frames: [Frame] = []
        var rest = bytes[...]
        func take(_ count: Int) -> [UInt8] {
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        while !rest.isEmpty {
            let head = take(2)
            var count = Int(head[1])
            if count == 126 { count = take(2).reduce(0) { $0 << 8 | Int($1) } }
            if count == 127 { count = take(8).reduce(0) { $0 << 8 | Int($1) } }
            frames.append(
                Frame(
                    operation: head[0] & 15,
                    isFinal: head[0] & 0x80 != 0,
                    payload: take(count)
                )
            )
        }
        return frames
    }

    private func bytes(_ pair: NumberedFrames.Pair?) -> [UInt8] {
        (pair?.shared?.bytes ?? []) + (pair?.own.bytes ?? [])
    }

    /// A text of so many bytes in which many a byte lies within a scalar of four.
    private func text(_ byteCount: Int) -> [UInt8] {
        let scalars = Array(repeating: Array("🫖".utf8), count: byteCount / 4).joined()
        return Array(repeating: UInt8(ascii: "x"), count: byteCount % 4) + scalars
    }

    @Test(
        "end with the number in decimal",
        arguments: [
            (0, "0}"), (7, "7}"), (10, "10}"), (-120, "-120}"),
            (Int64.max, "9223372036854775807}"), (Int64.min, "-9223372036854775808}"),
        ] as [(Int64, String)]
    )
    func digits(number: Int64, end: String) {
        let text = NumberedText(text: [], ending: Array("}".utf8))
        #expect(String(decoding: NumberedFrames.end(of: text, number), as: UTF8.self) == end)
    }

    @Test("of up to 16 KiB are one frame, which receivers with equal numbers share")
    func small() {
        var frames = NumberedFrames(NumberedText(text: text(100), ending: Array("}".utf8)))
        for inSegments in [true, false] {
            let pair = frames.frames(for: 12, inSegments: inSegments)
            #expect(pair?.shared == nil)
            #expect(pair?.own.bytes == SharedFrame(text: text(100) + Array("12}".utf8)).bytes)
        }
        #expect(isSame(frames.frames(for: 12, inSegments: true)?.own, frames, 12))
    }

    private func isSame(_ frame: SharedFrame?, _ frames: NumberedFrames, _ number: Int64) -> Bool {
        var frames = frames
        let other = frames.frames(for: number, inSegments: true)?.own
        let place = frame?.bytes.withUnsafeBufferPointer { $0.baseAddress }
        return place == other?.bytes.withUnsafeBufferPointer { $0.baseAddress }
    }

    /// Around the places where the number of segments changes, and where a cut falls into the end.
    private static let lengths =
        Array(16_370...16_390) + Array(32_740...32_770) + [100_000, 300_003]

    @Test("over 16 KiB reach the wire protocol whole, in segments", arguments: lengths)
    func segments(byteCount: Int) throws {
        let text = text(byteCount)
        let ending = Array("}}}".utf8)
        var frames = NumberedFrames(NumberedText(text: text, ending: ending))
        for number: Int64 in [0, 5, 99, 12_345, 5, .max] {
            var assembler = FrameAssembler(byteLimit: 1 << 20)
            let sent = self.frames(bytes(frames.frames(for: number, inSegments: true)))
            var whole: [UInt8]?
            for frame in sent {
                #expect(frame.operation == 1 && frame.isFinal)
                #expect(frame.payload.count <= WireLimits.segmentByteCount)
                #expect(String(validating: frame.payload, as: UTF8.self) != nil)
                if case .message(let message) = try assembler.receive(frame.payload) {
                    whole = message
                }
            }
            #expect(whole == text + Array("\(number)".utf8) + ending)
        }
    }

    @Test("over 16 KiB are two fragments elsewhere, the first the same for all")
    func fragments() {
        let text = text(70_000)
        var frames = NumberedFrames(NumberedText(text: text, ending: Array("}".utf8)))
        let first = frames.frames(for: 1, inSegments: false)
        let second = frames.frames(for: 222, inSegments: false)
        let sent = self.frames(bytes(second))
        #expect(sent.map(\.operation) == [1, 0])
        #expect(sent.map(\.isFinal) == [false, true])
        #expect(sent.flatMap(\.payload) == text + Array("222}".utf8))
        let places = [first, second].map { pair in
            pair?.shared?.bytes.withUnsafeBufferPointer { $0.baseAddress }
        }
        #expect(places[0] != nil && places[0] == places[1])
        #expect(second?.shared?.frameCount == 0 && second?.own.frameCount == 1)
    }

    @Test("longer than clients take are refused in segments alone")
    func tooLong() {
        let long = NumberedText(
            text: [UInt8](repeating: 0x78, count: WireLimits.sentMessageByteCount),
            ending: Array("}".utf8)
        )
        var frames = NumberedFrames(long)
        #expect(frames.frames(for: 1, inSegments: true) == nil)
        #expect(frames.frames(for: 1, inSegments: false) != nil)
    }

    // MARK: Held

    private func receivers(_ numbers: [Int64]) -> [NumberedReceiver] {
        numbers.enumerated().map { index, number in
            NumberedReceiver(connection: ConnectionID(UInt64(index)), number: number)
        }
    }

    @Test("to the same receivers leave as one, each with its number")
    func held() {
        let receivers = receivers([1, 22, 1, 22, 3])
        let one = NumberedText(text: Array("one".utf8), ending: Array("!".utf8))
        let two = NumberedText(text: Array("two".utf8), ending: Array("?".utf8))
        var push = CoalescedNumberedPush(receivers: receivers, text: one)
        let isJoined = push.append(two, to: receivers)
        #expect(isJoined)
        #expect(push.frames.count == 3)
        let texts = push.indices.map { index in
            frames(push.frames[index].bytes).map { String(decoding: $0.payload, as: UTF8.self) }
        }
        #expect(texts[0] == ["one1!", "two1?"])
        #expect(texts[1] == ["one22!", "two22?"])
        #expect(texts[2] == texts[0] && texts[3] == texts[1])
        #expect(texts[4] == ["one3!", "two3?"])
        #expect(push.frames[0].frameCount == 2)
    }

    @Test("to others, or to the same with other numbers, are not joined")
    func others() {
        let text = NumberedText(text: Array("one".utf8), ending: [])
        var push = CoalescedNumberedPush(receivers: receivers([1, 2]), text: text)
        let isOtherJoined = push.append(text, to: receivers([1, 3]))
        let isFewerJoined = push.append(text, to: receivers([1]))
        #expect(!isOtherJoined && !isFewerJoined)
        #expect(push.frames.allSatisfy { $0.frameCount == 1 })
    }

    @Test("held for many numbers stay within 4 MiB together and one push more")
    func bounded() {
        let receivers = receivers(Array(0..<1_000))
        let text = NumberedText(text: [UInt8](repeating: 0x78, count: 1_000), ending: [])
        var push = CoalescedNumberedPush(receivers: receivers, text: text)
        while push.append(text, to: receivers) {}
        let total = push.frames.reduce(0) { $0 + $1.byteCount }
        #expect(total >= 4 << 20 && total < (4 << 20) + 1_100_000)
    }
}
