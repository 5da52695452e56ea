import TestSupport
import Testing

@testable import Transport

@Suite("Noise")
struct FuzzTests {
    /// Pieces of real traffic, so that noise gets past the first byte.
    private static let pieces: [[UInt8]] = [
        Array("GET / HTTP/1.1\r\n".utf8), Array("PUT /x HTTP/1.1\r\nHost: h\r\n".utf8),
        Array("Host: h\r\n".utf8), Array("Content-Length: 5\r\n".utf8), Array("\r\n".utf8),
        Array("Transfer-Encoding: chunked\r\n".utf8), Array("5\r\nhello\r\n".utf8),
        Array("0\r\n\r\n".utf8),
        Array("Expect: 100-continue\r\n".utf8), Array("Connection: close\r\n".utf8),
        Array(RawClient.handshake("/ws").utf8), Array(RawClient.handshake("/nowhere").utf8),
        RawClient.frame(1, Array("text".utf8)),
        RawClient.frame(1, Array("part".utf8), isFinal: false),
        RawClient.frame(0, Array("rest".utf8)), RawClient.frame(9, [1, 2, 3]),
        RawClient.frame(8, [3, 232]),
        RawClient.frame(1, [UInt8](repeating: 0x61, count: 66_000)), Array("close me".utf8),
        [0x81, 0xff, 0, 0, 0, 0], [0, 0, 0, 0], [0xff], [0x16, 0x03, 0x01],
    ]

    private static func noise(_ random: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            if Bool.random(using: &random) {
                bytes += pieces[Int.random(in: 0..<pieces.count, using: &random)]
            } else {
                let count = Int.random(in: 1...40, using: &random)
                bytes += (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            }
        }
        // One byte in some inputs is changed, so that known pieces come slightly wrong.
        if Bool.random(using: &random) {
            bytes[Int.random(in: 0..<bytes.count, using: &random)] ^=
                1 << UInt8.random(in: 0...7, using: &random)
        }
        return bytes
    }

    @Test("10,000 noisy connections leave a server that answers", arguments: TestSeed.seeds(1))
    func connections(seed: UInt64) throws {
        let server = try TestServer { $0.timeouts.goodbye = .milliseconds(200) }
        var random = SeededGenerator(seed: seed)
        for iteration in 0..<10_000 {
            let client = try RawClient(server.port)
            // The server may close while the noise is still being sent.
            _ = client.trySend(Self.noise(&random))
            if iteration % 4 == 0 { client.finishSending() }
            if iteration % 16 == 0 { _ = client.wait(for: 1, milliseconds: 1) }
            if iteration % 1000 == 0 {
                let probe = try RawClient(server.port)
                try #require(
                    try probe.get("/probe").status == 200,
                    "seed \(seed), iteration \(iteration)"
                )
            }
        }
        let probe = try RawClient.webSocket(server.port)
        try probe.sendText("alive")
        #expect(try probe.readFrame().text == "alive")
        #expect(server.counters.inboundByteCount >= 0)
    }

    @Test("frame noise gives the same events however it is cut", arguments: TestSeed.seeds(30))
    func frameCuts(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var bytes: [UInt8] = []
        for _ in 0..<6 { bytes += Self.pieces[Int.random(in: 12...17, using: &random)] }
        if Bool.random(using: &random) { bytes += Self.noise(&random) }
        let whole = Self.events(bytes, cuts: [bytes.count])
        var cuts: [Int] = []
        var left = bytes.count
        while left > 0 {
            let count = Int.random(in: 1...max(1, left / 3), using: &random)
            cuts.append(count)
            left -= count
        }
        #expect(Self.events(bytes, cuts: cuts) == whole, "seed \(seed)")
    }

    /// What a reader says to the bytes, in words, fed in pieces.
    private static func events(_ bytes: [UInt8], cuts: [Int]) -> [String] {
        var reader = FrameReader(messageByteLimit: 100_000)
        var events: [String] = []
        var start = 0
        for count in cuts {
            var piece = Array(bytes[start..<start + count])
            start += count
            while true {
                let result = piece.withUnsafeBufferPointer {
                    buffer -> Result<(FrameReader.Event, Int), FrameFault> in
                    do throws(FrameFault) {
                        let (event, consumed) = try reader.read(buffer)
                        return .success((event, consumed))
                    } catch {
                        return .failure(error)
                    }
                }
                switch result {
                case .failure(let fault): return events + ["\(fault)"]
                case .success((.needsMore, _)): piece = []
                case .success((let event, let consumed)):
                    events.append("\(event)")
                    piece.removeFirst(consumed)
                }
                if piece.isEmpty { break }
            }
        }
        return events
    }
}
