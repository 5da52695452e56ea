/// The parts of a PNG, each checked, before a decoder sees any of them.
///
///     89 'P' 'N' 'G' 0D 0A 1A 0A      then chunks, IHDR first and IEND last:
///     length (4, of the content) | type (4) | content | CRC-32 of type and content (4)
///
///     IHDR: width (4) | height (4) | bits (1) | color type (1) | 0 | 0 | interlacing (1)
///
/// All numbers are big-endian. Bytes after IEND are not part of the picture.
struct PNGChunks {
    let width: Int
    let height: Int
    /// The same picture with only the data that decides its points: no texts, locations, profiles or animation.
    let essence: [UInt8]

    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// The chunks needed for each point's color. A color profile is not needed: without one it is sRGB.
    private static let essential: Set<String> = [
        "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "sRGB", "cHRM",
    ]
    /// Bytes that one byte of deflated data can become. Source: zlib, "Maximum Compression Factor".
    private static let inflation = 1032

    init(_ bytes: [UInt8]) throws(PhotoError) {
        guard bytes.starts(with: Self.signature) else { throw .notPNG }
        var essence = Self.signature
        var size: (width: Int, height: Int)?
        var dataByteCount = 0
        var offset = Self.signature.count
        var isDone = false
        while !isDone {
            let chunk = try Chunk(in: bytes, at: offset)
            if size == nil {
                guard chunk.type == "IHDR" else {
                    throw .damaged("it does not begin with a header")
                }
                size = try Self.size(of: chunk, in: bytes)
            } else if chunk.type == "IHDR" {
                throw .damaged("it has two headers")
            }
            guard chunk.isWhole(in: bytes) else {
                throw .damaged("the part \(chunk.type) at byte \(offset) is not what was written")
            }
            if Self.essential.contains(chunk.type) { essence += bytes[chunk.range] }
            if chunk.type == "IDAT" { dataByteCount += chunk.content.count }
            offset = chunk.range.upperBound
            isDone = chunk.type == "IEND"
        }
        guard let size, dataByteCount > 0 else { throw .damaged("it has no points") }
        // At least a bit for each point; a picture with less is not worth the memory.
        guard size.width * size.height / 8 <= dataByteCount * Self.inflation else {
            throw .damaged("it has too few bytes for \(size.width) by \(size.height)")
        }
        (width, height) = size
        self.essence = essence
    }

    /// The size in the header, within the accepted limits.
    private static func size(
        of header: Chunk,
        in bytes: [UInt8],
    ) throws(PhotoError) -> (width: Int, height: Int) {
        guard header.content.count == 13 else { throw .damaged("its header has a wrong length") }
        let width = Chunk.number(in: bytes, at: header.content.lowerBound)
        let height = Chunk.number(in: bytes, at: header.content.lowerBound + 4)
        guard width > 0, height > 0 else { throw .damaged("it is \(width) by \(height)") }
        guard max(width, height) <= PhotoLimits.inputSide else {
            throw .tooLarge(width: width, height: height)
        }
        return (width, height)
    }
}

/// Where one part of a PNG is.
private struct Chunk {
    /// From its length to its CRC.
    let range: Range<Int>
    let type: String

    var content: Range<Int> { range.lowerBound + 8..<range.upperBound - 4 }

    init(in bytes: [UInt8], at offset: Int) throws(PhotoError) {
        guard bytes.count - offset >= 12 else { throw .damaged("its end is missing") }
        let count = Self.number(in: bytes, at: offset)
        let type = bytes[offset + 4..<offset + 8]
        let isLetter: (UInt8) -> Bool = { (65...90).contains($0) || (97...122).contains($0) }
        guard type.allSatisfy(isLetter) else {
            throw .damaged("what is at byte \(offset) is no part of a PNG")
        }
        guard count <= bytes.count - offset - 12 else { throw .damaged("its end is missing") }
        range = offset..<offset + 12 + count
        self.type = String(decoding: type, as: UTF8.self)
    }

    /// Whether the bytes match the checksum after them.
    func isWhole(in bytes: [UInt8]) -> Bool {
        let sum = CyclicSum.of(bytes, range.lowerBound + 4..<range.upperBound - 4)
        return Int(sum) == Self.number(in: bytes, at: range.upperBound - 4)
    }

    static func number(in bytes: [UInt8], at offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}

/// CRC-32 as PNG has it. Source: ISO 3309, and the PNG specification, annex D.
private enum CyclicSum {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { sum, _ in
            sum & 1 == 1 ? 0xEDB8_8320 ^ (sum >> 1) : sum >> 1
        }
    }

    static func of(_ bytes: [UInt8], _ range: Range<Int>) -> UInt32 {
        bytes.withUnsafeBufferPointer { bytes in
            table.withUnsafeBufferPointer { table in
                var sum = UInt32.max
                for byte in bytes[range] {
                    sum = table[Int((sum ^ UInt32(byte)) & 0xFF)] ^ (sum >> 8)
                }
                return ~sum
            }
        }
    }
}
