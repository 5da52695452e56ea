import TestSupport
import Testing

@testable import WireProtocol

private let samples: [[UInt8]] =
    (transcriptCases + readingCases).map { Array($0.json.utf8) }
    + malformedCases.filter { $0.body.utf8.count < 2_000 }.map {
        Array(#"{"t":"d","d":{"r":1,"a":"\#($0.action)","b":\#($0.body)}}"#.utf8)
    }

/// Parses, and names the outcome; only a crash or a hang can fail.
private func outcome(_ text: [UInt8]) -> String {
    do throws(MessageError) {
        return words(try ClientMessage.parse(text))
    } catch {
        return "\(error)"
    }
}

@Test("random bytes never crash the parser", arguments: TestSeed.seeds(20))
func randomBytes(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<300 {
        let count = Int(random.next() % 80)
        let text = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let first = outcome(text)
        #expect(first == outcome(text), "seed \(seed)")
        // Hardly any random bytes are a message.
        #expect(first.hasPrefix("not"), "seed \(seed): \(text)")
    }
}

@Test(
    "damaged messages never crash the parser and read the same twice",
    arguments: TestSeed.seeds(20)
)
func damagedMessages(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let alphabet = Array(#"{}[]":,\.09-etfnu /dprqam"#.utf8) + [0x00, 0x1F, 0x7F, 0x80, 0xC3, 0xFF]
    for _ in 0..<300 {
        var text = try #require(samples.randomElement(using: &random))
        for _ in 0...(random.next() % 4) {
            let index = Int(random.next() % UInt64(max(1, text.count)))
            let byte = try #require(alphabet.randomElement(using: &random))
            switch random.next() % 4 {
            case 0: text.insert(byte, at: index)
            case 1 where index < text.count: text.remove(at: index)
            case 2: text.removeSubrange(index...)
            default: if index < text.count { text[index] = byte }
            }
        }
        #expect(outcome(text) == outcome(text), "seed \(seed): \(text)")
    }
}

@Test("a message cut short anywhere closes the connection")
func truncated() {
    for sample in samples {
        // White space behind a message may be cut without harm.
        guard let end = sample.lastIndex(of: UInt8(ascii: "}")) else { continue }
        for length in 0..<end { #expect(outcome(Array(sample[..<length])).hasPrefix("not")) }
    }
}

@Test("random frames never crash the assembler", arguments: TestSeed.seeds(10))
func randomFrames(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var assembler = FrameAssembler(byteLimit: 64)
    let pieces = ["0", "1", "2", "3", "", "{}", "{", "}", "999999", "00", "-1", "x", "1234567"]
    for _ in 0..<2_000 {
        let frame = Array((pieces.randomElement(using: &random) ?? "").utf8)
        do throws(FrameError) {
            if case .message(let message) = try assembler.receive(frame) {
                #expect(message.count <= 64, "seed \(seed)")
            }
        } catch {
            #expect(assembler.heldByteCount == 0, "seed \(seed)")
        }
        #expect(assembler.heldByteCount <= 64, "seed \(seed)")
    }
}
