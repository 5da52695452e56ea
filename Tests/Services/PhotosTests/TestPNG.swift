/// PNGs made without a library: stored, not compressed, each row unfiltered.
struct TestPNG {
    /// Source: PNG specification, table of color types.
    enum Color: UInt8, CaseIterable {
        case gray = 0
        case rgb = 2
        case palette = 3
        case grayAlpha = 4
        case rgba = 6

        var channelCount: Int {
            switch self {
            case .gray, .palette: 1
            case .grayAlpha: 2
            case .rgb: 3
            case .rgba: 4
            }
        }
    }

    var width: Int
    var height: Int
    var bits = 8
    var color = Color.rgb
    var isInterlaced = false
    /// Chunks between the header and the points.
    var chunks: [(type: String, content: [UInt8])] = []
    /// Bytes behind the end.
    var tail: [UInt8] = []
    /// A channel's number at a point.
    var sample: (_ x: Int, _ y: Int, _ channel: Int) -> Int = { _, _, _ in 0 }

    var bytes: [UInt8] {
        var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let header =
            Self.four(width) + Self.four(height)
            + [UInt8(bits), color.rawValue, 0, 0, isInterlaced ? 1 : 0]
        bytes += Self.chunk("IHDR", header)
        for chunk in chunks { bytes += Self.chunk(chunk.type, chunk.content) }
        bytes += Self.chunk("IDAT", Self.stored(rows))
        return bytes + Self.chunk("IEND", []) + tail
    }

    /// The steps of Adam7: first column and row, and distances between those.
    private static let passes = [
        (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
        (0, 1, 1, 2),
    ]

    private var rows: [UInt8] {
        var rows: [UInt8] = []
        for (x0, y0, dx, dy) in isInterlaced ? Self.passes : [(0, 0, 1, 1)] {
            guard x0 < width else { continue }
            for y in stride(from: y0, to: height, by: dy) {
                rows.append(0)
                var (held, heldBits) = (0, 0)
                for x in stride(from: x0, to: width, by: dx) {
                    for channel in 0..<color.channelCount {
                        held = held << bits | sample(x, y, channel)
                        heldBits += bits
                        while heldBits >= 8 {
                            heldBits -= 8
                            rows.append(UInt8(truncatingIfNeeded: held >> heldBits))
                        }
                    }
                }
                if heldBits > 0 {
                    rows.append(UInt8(truncatingIfNeeded: held << (8 - heldBits)))
                }
            }
        }
        return rows
    }

    static func four(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        let summed = Array(type.utf8) + content
        return four(content.count) + summed + four(Int(sum(summed)))
    }

    /// CRC-32, bit by bit.
    static func sum(_ bytes: [UInt8]) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? 0xEDB8_8320 ^ (sum >> 1) : sum >> 1 }
        }
        return ~sum
    }

    /// A zlib stream of stored blocks.
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        var rest = bytes[...]
        repeat {
            let part = rest.prefix(65_535)
            rest = rest.dropFirst(part.count)
            let count = UInt16(part.count)
            stream.append(rest.isEmpty ? 1 : 0)
            stream += [UInt8(truncatingIfNeeded: count), UInt8(count >> 8)]
            stream += [UInt8(truncatingIfNeeded: ~count), UInt8(~count >> 8)]
            stream += part
        } while !rest.isEmpty
        var (low, high) = (1, 0)
        for byte in bytes {
            low = (low + Int(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return stream + four(high << 16 | low)
    }
}
