import TestSupport
import EventProtocol
import Testing

private let samples = (requestCases + refusalCases).map { Array($0.frame.utf8) }

@Test("random bytes are never a request", arguments: TestSeed.seeds(20))
func randomBytes(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<300 {
        let count = Int(random.next() % 80)
        let frame = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let first = words(frame)
        #expect(first == words(frame), "seed \(seed)")
        #expect(first.hasPrefix("closes") || first.hasPrefix(#"{"id":null"#), "seed \(seed)")
    }
}

@Test(
    "damaged frames are requests, refusals or no JSON, and the same twice",
    arguments: TestSeed.seeds(20)
)
func damagedFrames(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let alphabet = Array(#"{}[]":,\.09-etfnu /dopath"#.utf8) + [0x00, 0x1F, 0x7F, 0x80, 0xC3, 0xFF]
    for _ in 0..<300 {
        var frame = try #require(samples.randomElement(using: &random))
        for _ in 0...(random.next() % 4) {
            let index = Int(random.next() % UInt64(max(1, frame.count)))
            let byte = try #require(alphabet.randomElement(using: &random))
            switch random.next() % 4 {
            case 0: frame.insert(byte, at: index)
            case 1 where index < frame.count: frame.remove(at: index)
            case 2: frame.removeSubrange(index...)
            default: if index < frame.count { frame[index] = byte }
            }
        }
        #expect(words(frame) == words(frame), "seed \(seed): \(frame)")
    }
}

@Test("a frame cut short anywhere closes the connection")
func truncated() {
    for sample in samples where words(sample).first != "c" {
        // White space behind a message may be cut without harm, and so may digits of a number.
        guard let end = sample.lastIndex(of: UInt8(ascii: "}")) else { continue }
        for length in 0..<end {
            let outcome = words(Array(sample[..<length]))
            // Out of range or too deep is seen before the end is.
            let isEarly = outcome.contains("out of range") || outcome.contains("too deep")
            #expect(isEarly || outcome.hasPrefix("closes"), "\(outcome)")
        }
    }
}
