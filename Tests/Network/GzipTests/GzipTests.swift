import Gzip
import Testing

@Suite("gzip")
struct GzipTests {
    private func inflated(
        _ stream: [UInt8],
        limit: Int = 1 << 20,
        partLength: Int = 7
    ) throws(GzipError) -> [UInt8] {
        let inflater = Inflater(byteLimit: limit)
        var out: [UInt8] = []
        for start in stride(from: 0, to: stream.count, by: partLength) {
            inflater.append(Array(stream[start..<min(start + partLength, stream.count)]))
            while let piece = try inflater.next() { out += piece }
        }
        try inflater.finish()
        return out
    }

    private static func noise(_ count: Int, seed: UInt64) -> [UInt8] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 40)
        }
    }

    @Test("what is deflated is inflated, however it is cut", arguments: [0, 1, 1_000, 300_000])
    func roundTrip(count: Int) throws {
        for bytes in [GzipTests.noise(count, seed: 1), [UInt8](repeating: 0x61, count: count)] {
            let whole = Deflater.compress(bytes)
            #expect(Array(whole.prefix(3)) == [0x1F, 0x8B, 8])
            let deflater = Deflater()
            var parts: [UInt8] = []
            for start in stride(from: 0, to: count, by: 999) {
                let part = Array(bytes[start..<min(start + 999, count)])
                parts += deflater.deflate(part, isLast: false)
            }
            parts += deflater.deflate([], isLast: true)
            for length in [1, 7, 100_000] {
                #expect(try inflated(whole, partLength: length) == bytes)
                #expect(try inflated(parts, partLength: length) == bytes)
            }
        }
    }

    @Test("a stream that another program made is inflated")
    func known() throws {
        // What Python's zlib makes of it.
        let stream: [UInt8] = [
            0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xab, 0x56, 0x4a, 0x54,
            0xb2, 0x32, 0xac, 0x05, 0x00, 0xaf, 0xac, 0x1b, 0x56, 0x07, 0x00, 0x00, 0x00,
        ]
        #expect(String(decoding: try inflated(stream), as: UTF8.self) == #"{"a":1}"#)
    }

    @Test("a stream cut anywhere is refused, and so is one with bytes behind it")
    func ends() {
        let stream = Deflater.compress(Array("some text, some text, some text".utf8))
        for count in 0..<stream.count {
            #expect(throws: GzipError.truncated) { try inflated(Array(stream[..<count])) }
        }
        for length in [1, 7, 1_000] {
            #expect(throws: GzipError.trailingBytes) {
                try inflated(stream + [0], partLength: length)
            }
            #expect(throws: GzipError.trailingBytes) {
                try inflated(stream + stream, partLength: length)
            }
        }
    }

    @Test("a wrong checksum, a wrong length and bytes that are no gzip are refused")
    func damage() {
        let stream = Deflater.compress(Array("some text, some text, some text".utf8))
        for place in [0, 1, 2, stream.count - 8, stream.count - 1] {
            var changed = stream
            changed[place] ^= 0x55
            #expect(throws: GzipError.damaged) { try inflated(changed) }
        }
        #expect(throws: GzipError.damaged) { try inflated(Array(#"{"a":1}"#.utf8)) }
    }

    @Test("a small stream of very much ends at the limit")
    func bomb() throws {
        let million = [UInt8](repeating: 0, count: 1_000_000)
        let deflater = Deflater()
        var stream: [UInt8] = []
        for _ in 0..<20 { stream += deflater.deflate(million, isLast: false) }
        stream += deflater.deflate([], isLast: true)
        #expect(stream.count < 200_000)
        let inflater = Inflater(byteLimit: 1_000_000)
        inflater.append(stream)
        var byteCount = 0
        let error = #expect(throws: GzipError.self) {
            while let piece = try inflater.next() { byteCount += piece.count }
        }
        #expect(error == .tooLarge(limit: 1_000_000))
        #expect(byteCount <= 1_000_000)
        let exact = Deflater.compress(million)
        #expect(try inflated(exact, limit: 1_000_000, partLength: 100) == million)
    }
}
