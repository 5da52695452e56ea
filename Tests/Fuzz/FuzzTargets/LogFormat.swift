/// The checksums of the log as its format describes them, bit by bit, so that inputs get past them.
enum LogFormat {
    /// CRC-32C of `bytes`, continued from `start`.
    static func checksum(_ start: UInt32, _ bytes: some Sequence<UInt8>) -> UInt32 {
        var value = ~start
        for byte in bytes {
            value ^= UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0x82F6_3B78 : value >> 1 }
        }
        return ~value
    }

    /// Where the checksums of a file begin.
    static func salt(folderID: UInt64, position: UInt64) -> UInt32 {
        checksum(0, bytes(folderID) + bytes(position))
    }

    static func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> Number($0 * 8)) }
    }

    static func number(_ bytes: [UInt8], at offset: Int, count: Int) -> UInt64 {
        bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The first bytes of a segment.
    static func segmentHeader(folderID: UInt64) -> [UInt8] {
        let fields =
            Array("HEARTHWL".utf8) + bytes(UInt32(1)) + bytes(UInt32(64)) + bytes(folderID)
            + bytes(UInt64(1)) + bytes(UInt64(0)) + [UInt8](repeating: 0, count: 20)
        return fields + bytes(checksum(0, fields))
    }

    /// A record in the bytes of a segment: where it is, and its size if it fits.
    static func recordByteCount(_ bytes: [UInt8], at offset: Int) -> Int? {
        guard offset + 48 <= bytes.count else { return nil }
        let payload = Int(number(bytes, at: offset + 40, count: 4))
        let whole = (48 + Int(bytes[offset + 45]) + payload + 7) & ~7
        return offset + whole <= bytes.count ? whole : nil
    }

    /// The two checksums that a record of this size there should have.
    static func checksums(
        _ bytes: [UInt8],
        at offset: Int,
        byteCount: Int,
        salt: UInt32
    ) -> (header: UInt32, body: UInt32) {
        let header = checksum(salt, bytes[offset + 8..<offset + 48])
        return (header, checksum(header, bytes[offset + 48..<offset + byteCount]))
    }
}

extension [UInt8] {
    /// Writes a number over the bytes there.
    mutating func store(_ number: some FixedWidthInteger, at offset: Int) {
        let bytes = LogFormat.bytes(number)
        replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }
}
